// SPDX-License-Identifier: Apache-2.0
// All mistakes of a file at once, each with its place.
#pragma once

#include "tuner/core/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// A mistake in a file from outside.
struct FileError {
  std::string message;               ///< the whole line for the user
  std::size_t line = 0, column = 0;  ///< from 1, the column in bytes; 0 where not known
};

/// The most mistakes of a file that are reported.
inline constexpr std::size_t kMostErrors = 20;

/// Several of them: what() has a line for each of the first twenty, and says that there are more.
class FileErrors : public Error {
 public:
  /// At least one; a bad file is ErrorCode::usage.
  explicit FileErrors(std::vector<FileError> errors);
  [[nodiscard]] const std::vector<FileError>& errors() const noexcept { return errors_; }

 private:
  std::vector<FileError> errors_;
};

/// Collects mistakes, so that a reader can go on with what does not depend on the wrong part.
class ErrorCollector {
 public:
  /// Calls `read`; a mistake that it throws is kept. Returns whether there was none. Errors that
  /// are not of a bad file (ErrorCode::usage) are thrown on.
  template <class Read>
  bool attempt(const Read& read) {
    try {
      read();
      return true;
    } catch (const FileErrors& several) {
      for (const FileError& each : several.errors()) keep(each);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::usage) throw;
      keep({.message = error.what()});
    }
    return false;
  }
  /// Whether no more is kept.
  [[nodiscard]] bool is_full() const { return errors_.size() > kMostErrors; }
  /// Throws what was kept: one mistake as an Error, several as FileErrors. Nothing without any.
  void throw_any() const;

 private:
  void keep(const FileError& error) {
    if (!is_full()) errors_.push_back(error);
  }

  std::vector<FileError> errors_;
};

/// Puts line and column into messages that begin with "<origin>: <path>: ", where the path, such as
/// "kernels.gemm.launch.grid[1]", is in `text`, a JSON document: "<origin>:12:7: <path>: ". Other
/// messages stay.
[[nodiscard]] FileErrors with_places(const Error& error, std::string_view text,
                                     std::string_view origin);

}  // namespace tuner
