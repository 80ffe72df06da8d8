// SPDX-License-Identifier: Apache-2.0
#include "tuner/preload/record_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tuner::preload {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr mode_t kOwnOnly = S_IRUSR | S_IWUSR;

void write_all(int& file, const char* bytes, std::size_t size) {
  while (size > 0 && file >= 0) {
    const ssize_t written = ::write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ::close(file);
      file = -1;
      return;
    }
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace

std::string in_json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (code < 0x20) {
      quoted += "\\u00";
      quoted += kDigits[code / 16];
      quoted += kDigits[code % 16];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string hex_in_json(const void* bytes, std::size_t size) {
  std::string quoted = "\"";
  for (std::size_t i = 0; i < size; ++i) {
    const unsigned char byte = static_cast<const unsigned char*>(bytes)[i];
    quoted += kDigits[byte / 16];
    quoted += kDigits[byte % 16];
  }
  return quoted + '"';
}

std::string record_path(std::string_view name) {
  const char* const folder = std::getenv("TUNER_CAPTURE_RECORD");
  if (folder == nullptr || *folder == '\0') return "";
  const std::string own = std::string(folder) + "/" + std::to_string(::getpid());
  ::mkdir(own.c_str(), S_IRWXU);
  return own + "/" + std::string(name);
}

RecordFile::RecordFile(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kOwnOnly)) {
}

RecordFile::~RecordFile() {
  if (file_ >= 0) ::close(file_);
}

void RecordFile::append(const void* bytes, std::size_t size) {
  write_all(file_, static_cast<const char*>(bytes), size);
}

void write_record(std::string_view name, std::string_view content) {
  const std::string path = record_path(name), part = path + ".part";
  bool is_good = false;
  {
    RecordFile file(part);
    file.append(content);
    is_good = file.is_good();
  }
  if (is_good) std::rename(part.c_str(), path.c_str());
}

void append_record(std::string_view name, std::string_view line) {
  int file = ::open(record_path(name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOwnOnly);
  const std::string text = std::string(line) + "\n";
  write_all(file, text.data(), text.size());
  if (file >= 0) ::close(file);
}

}  // namespace tuner::preload
