// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/file.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/links.hpp"
#include "tuner/core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <linux/magic.h>
#include <span>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tuner {

namespace fs = std::filesystem;

namespace {

/// Limits are far above what files have, and memory is cleared before it is read into.
constexpr std::size_t kFirstPiece = std::size_t{1} << 16;

/// A descriptor that is closed with it; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { static_cast<void>(close()); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  /// Whether everything written has arrived, as far as closing tells.
  [[nodiscard]] bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

std::string last_error() {
  return std::error_code(errno, std::generic_category()).message();
}

/// Why this cannot be read, if it cannot. Only a regular file can be read to its end without
/// waiting for another process; an unnamed pipe was made for this program.
std::string unreadable(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return "cannot be read: " + last_error();
  struct statfs system {};
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
      return "";
    case S_IFDIR:
      return "is a directory, not a file";
    case S_IFIFO:
      if (::fstatfs(descriptor, &system) == 0 && system.f_type == PIPEFS_MAGIC) return "";
      return "is a named pipe, not a file";
    default:
      return "is a device, not a file";
  }
}

/// Of a file that is opened to be read. Throws as read_file.
Descriptor opened(const fs::path& path) {
  // Without O_NONBLOCK a named pipe would wait for a writer to come.
  Descriptor in(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  const std::string why = in.valid() ? unreadable(in.number()) : "cannot be read: " + last_error();
  if (!why.empty()) {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", printable_name(path.string()), why));
  }
  return in;
}

/// Reads into a place; 0 at the end of the file.
std::size_t read_some(int descriptor, std::span<char> place, const fs::path& path) {
  for (;;) {
    const ssize_t got = ::read(descriptor, place.data(), place.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR) continue;
    throw Error(ErrorCode::usage,
                fmt::format("{}: cannot be read: {}", printable_name(path.string()), last_error()));
  }
}

std::string read_all(int descriptor, std::size_t limit_bytes, const fs::path& path) {
  struct stat status {};
  static_cast<void>(::fstat(descriptor, &status));  // a pipe has no size
  const std::size_t first = static_cast<std::size_t>(status.st_size) + 1;
  std::string content;
  std::size_t read = 0;
  for (;;) {
    if (read == content.size()) {
      if (read > limit_bytes) {
        throw Error(ErrorCode::usage, fmt::format("{}: larger than the limit of {} bytes",
                                                  printable_name(path.string()), limit_bytes));
      }
      content.resize(std::min(limit_bytes + 1, std::max({kFirstPiece, first, 2 * read})));
    }
    const std::size_t got = read_some(descriptor, std::span(content).subspan(read), path);
    if (got == 0) break;
    read += got;
  }
  content.resize(read);
  return content;
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(descriptor, content.data(), content.size());
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) content.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// Where a path leads to.
struct Destination {
  fs::path path;            ///< with all links followed, one to a file that is not there included
  bool is_replaced = true;  ///< a regular file, or none yet; else it is written into
};

[[noreturn]] void fail_to_write(const fs::path& path, std::string_view why) {
  throw Error(ErrorCode::failure,
              fmt::format("{}: cannot be written: {}", printable_name(path.string()), why));
}

/// Of a path that is written to. Throws Error(failure) naming a link of another user.
FollowedPath destination_of(const fs::path& path) {
  FollowedPath to = follow_links(path);
  if (to.link_of_another_user) {
    const std::string link = printable_name(to.link_of_another_user->string());
    fail_to_write(path, fmt::format("{} is a link that belongs to another user: name the file "
                                    "that it leads to",
                                    link));
  }
  return to;
}

/// Opens a file to append to it. Without O_NONBLOCK a named pipe would wait for ever for a reader;
/// one that is just being started gets a second. -1: errno tells why not.
int open_appending(const FollowedPath& to, int flags) {
  constexpr mode_t kMode = 0666;  // less what the umask takes
  constexpr int kTries = 100;
  constexpr useconds_t kPause = 10'000;  // microseconds
  flags |= O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  // What /dev/stdout leads to is open already: a shell may append to it.
  const auto open = [&] {
    return to.is_open_file ? ::open(to.path.c_str(), flags, kMode)
                           : open_without_links(to.path, flags, kMode);
  };
  int file = open();
  for (int tries = 0; file < 0 && errno == ENXIO && tries < kTries; ++tries) {
    ::usleep(kPause);
    file = open();
  }
  if (file >= 0) static_cast<void>(::fcntl(file, F_SETFL, O_APPEND));
  return file;
}

/// Why open_appending failed.
std::string why_not_opened(const fs::path& path) {
  const std::string why = last_error();
  const bool has_no_reader = errno == ENXIO;
  std::error_code ignored;
  const bool waits = has_no_reader && fs::is_fifo(path, ignored);
  return waits ? "it is a pipe that no program reads: start that program first" : why;
}

/// Why the content could not be written; empty when it was.
std::string write_into(const FollowedPath& to, std::string_view content) {
  Descriptor out(open_appending(to, 0));
  if (!out.valid()) return why_not_opened(to.path);
  return write_all(out.number(), content) && out.close() ? "" : last_error();
}

/// Why a regular file could not be replaced; empty when it was. Its mode is kept, and its owner
/// where this user may give it away. In the folder that was opened: nobody can exchange it.
std::string replace(const fs::path& path, std::string_view content) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor folder(open_without_links(parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
  if (!folder.valid()) return last_error();
  const std::string name = path.filename().string();
  const std::string temporary = fmt::format("{}.{}.tmp", name, random_word());
  struct stat old {};
  const bool exists = ::fstatat(folder.number(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  const mode_t mode = exists ? S_IRUSR | S_IWUSR : 0666;  // less what the umask takes
  Descriptor out(::openat(folder.number(), temporary.c_str(),
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!out.valid()) return last_error();
  if (exists) static_cast<void>(!::fchown(out.number(), old.st_uid, old.st_gid));
  const bool done =
      write_all(out.number(), content) &&
      (!exists || ::fchmod(out.number(), old.st_mode & 0777) == 0) && out.close() &&
      ::renameat(folder.number(), temporary.c_str(), folder.number(), name.c_str()) == 0;
  if (done) return "";
  std::string why = last_error();
  static_cast<void>(::unlinkat(folder.number(), temporary.c_str(), 0));
  return why;
}

/// Whether a file at a path is replaced; else it is written into.
bool is_replaced(const FollowedPath& to) {
  std::error_code error;
  const fs::file_status status = fs::status(to.path, error);
  return !to.is_open_file && (!fs::exists(status) || fs::is_regular_file(status));
}

/// The system's folder for temporary files, as other programs find it.
fs::path folder_for_temporaries() {
  const std::string named = environment_variable("TMPDIR");
  return named.empty() ? "/tmp" : named;
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t limit_bytes) {
  return read_file(path, limit_bytes, [](const struct stat&) {});
}

std::string read_file(const fs::path& path, std::size_t limit_bytes,
                      const std::function<void(const struct stat&)>& check) {
  const Descriptor in = opened(path);
  struct stat status {};
  static_cast<void>(::fstat(in.number(), &status));
  check(status);
  static_cast<void>(::fcntl(in.number(), F_SETFL, 0));
  return read_all(in.number(), limit_bytes, path);
}

void read_pieces(const fs::path& path, const std::function<bool(std::string_view)>& take) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 24;
  const Descriptor in = opened(path);
  static_cast<void>(::fcntl(in.number(), F_SETFL, 0));
  std::string piece(kPieceBytes, '\0');
  while (const std::size_t got = read_some(in.number(), piece, path)) {
    if (!take(std::string_view(piece).substr(0, got))) return;
  }
}

bool lies_below(const fs::path& file, const fs::path& folder) {
  std::error_code unknown;
  const fs::path real = fs::canonical(file, unknown);
  if (unknown) return false;
  const fs::path from = fs::canonical(folder.empty() ? "." : folder, unknown);
  return !unknown && *real.lexically_relative(from).begin() != "..";
}

std::string random_word() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    throw Error(ErrorCode::failure, "the system has no random numbers: " + last_error());
  }
  return fmt::format("{:016x}", number);
}

void write_file(const fs::path& path, std::string_view content) {
  std::error_code error;
  const FollowedPath to = destination_of(path);
  if (to.path.has_parent_path()) fs::create_directories(to.path.parent_path(), error);
  const std::string why = error             ? error.message()
                          : is_replaced(to) ? replace(to.path, content)
                                            : write_into(to, content);
  if (!why.empty()) fail_to_write(path, why);
}

std::FILE* open_to_append(const fs::path& path) {
  const FollowedPath to = destination_of(path);
  const int file = open_appending(to, O_CREAT);
  if (file >= 0) {
    if (std::FILE* const opened = ::fdopen(file, "a")) return opened;
  }
  const std::string why = why_not_opened(to.path);
  if (file >= 0) ::close(file);
  throw Error(ErrorCode::failure,
              fmt::format("{}: cannot be opened: {}", printable_name(path.string()), why));
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
  const fs::path folder = folder_for_temporaries();
  std::string name = (folder / "tune-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(
        ErrorCode::failure,
        fmt::format(
            "{}: no folder for temporary files can be created in it: {}; set TMPDIR to another one",
            printable_name(folder.string()), last_error()));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (kept_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tuner
