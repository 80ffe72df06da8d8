// SPDX-License-Identifier: Apache-2.0
// What a program leaves for `tune capture`: files in $TUNER_CAPTURE_RECORD/PID, of the user alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::preload {

/// A text as JSON has it, in quotes.
[[nodiscard]] std::string in_json(std::string_view text);
/// Bytes as hexadecimal digits in quotes.
[[nodiscard]] std::string hex_in_json(const void* bytes, std::size_t size);

/// The path of a file of this process; its folder is made. Empty where nothing is recorded.
[[nodiscard]] std::string record_path(std::string_view name);

/// A new file that grows. Without one, as on a full disk, every call does nothing and is_good() is
/// false.
class RecordFile {
 public:
  explicit RecordFile(const std::string& path);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  void append(const void* bytes, std::size_t size);
  void append(std::string_view text) { append(text.data(), text.size()); }
  /// Whether all of it was written.
  [[nodiscard]] bool is_good() const { return file_ >= 0; }

 private:
  int file_;
};

/// Writes a whole file, which appears when it is complete.
void write_record(std::string_view name, std::string_view content);
/// Adds a line to a file.
void append_record(std::string_view name, std::string_view line);

}  // namespace tuner::preload
