// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/file.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tuner {

namespace fs = std::filesystem;

namespace {

/// Limits are far above what files have, and memory is cleared before it is read into.
constexpr std::size_t kFirstPiece = std::size_t{1} << 16;

}  // namespace

std::string read_file(const fs::path& path, std::size_t limit_bytes) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(ErrorCode::usage, fmt::format("{}: is a directory, not a file", path.string()));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  }
  const std::uintmax_t bytes = fs::file_size(path, ignored);  // as far as it has one
  const std::size_t first = ignored ? 0 : static_cast<std::size_t>(bytes) + 1;
  std::string content;
  for (std::size_t read = 0; in && read <= limit_bytes; content.resize(read)) {
    content.resize(std::min(limit_bytes + 1, std::max({kFirstPiece, first, 2 * read})));
    in.read(content.data() + read, static_cast<std::streamsize>(content.size() - read));
    read += static_cast<std::size_t>(in.gcount());
  }
  if (content.size() > limit_bytes) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: larger than the limit of {} bytes", path.string(), limit_bytes));
  }
  return content;
}

void write_file(const fs::path& path, std::string_view content) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::failure, fmt::format("{}: cannot be written: {}", path.string(), why));
  };
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) fail(error.message());
  const fs::path temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) fail(std::strerror(errno));
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    const std::string why = std::strerror(errno);
    fs::remove(temporary, error);
    fail(why);
  }
  fs::rename(temporary, path, error);
  if (error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail(error.message());
  }
}

std::error_code make_private_directories(const fs::path& path) {
  std::error_code error;
  if (path.empty() || fs::is_directory(path, error)) return {};
  if (const auto above = make_private_directories(path.parent_path())) return above;
  if (::mkdir(path.c_str(), S_IRWXU) == 0) return {};
  const std::error_code why(errno, std::generic_category());
  // Another process may have made it at the same moment.
  return fs::is_directory(path, error) ? std::error_code() : why;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "tune-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(ErrorCode::failure, fmt::format("{}: cannot make a temporary directory: {}", name,
                                                std::strerror(errno)));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tuner
