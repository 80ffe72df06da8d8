// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/binary_cache.hpp"

#include "tuner/backend/cache_entry.hpp"
#include "tuner/backend/cpu/host_compiler.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/links.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tuner::backend {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntryLimitBytes = std::size_t{256} << 20;
constexpr std::string_view kEntrySuffix = ".bin";
constexpr std::string_view kTemporarySuffix = ".tmp";

/// A descriptor that is closed with its owner.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string cannot_use(const fs::path& directory, std::string_view why, std::string_view remedy) {
  return fmt::format("{}: compiled kernels are not cached: {}: {}", directory.string(), why,
                     remedy);
}

/// Why an open directory must not be used; empty when it may be.
std::string objection(const fs::path& path, int directory) {
  struct stat status {};
  if (::fstat(directory, &status) != 0) {
    return cannot_use(path, std::strerror(errno), "set XDG_CACHE_HOME to another folder");
  }
  const auto found = distrust(status, "the directory");
  return found ? cannot_use(path, found->why,
                            "remove that permission with `chmod go-w`, or set XDG_CACHE_HOME to a "
                            "folder of your own")
               : "";
}

std::string entry_name(std::string_view key) {
  return fmt::format("{}{}", key, kEntrySuffix);
}

std::optional<std::string> content(int file, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file, bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

struct KeptFile {
  std::string name;
  std::uint64_t bytes = 0;
  timespec last_used{};
};

/// The files of the cache, those unused for longest first: entries, and what a process that was
/// killed while writing left behind.
std::vector<KeptFile> kept_files(int directory) {
  std::vector<KeptFile> result;
  // A descriptor of its own: closedir closes it, and its position is not shared.
  const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return result;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(own), &::closedir);
  if (!list) {
    ::close(own);
    return result;
  }
  while (const dirent* const entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    struct stat status {};
    if (!name.ends_with(kEntrySuffix) && !name.ends_with(kTemporarySuffix)) continue;
    if (::fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    result.push_back(
        {std::string(name), static_cast<std::uint64_t>(status.st_size), status.st_mtim});
  }
  std::ranges::sort(result, {}, [](const KeptFile& file) {
    return std::pair(file.last_used.tv_sec, file.last_used.tv_nsec);
  });
  return result;
}

}  // namespace

fs::path default_binary_cache() {
  fs::path base = environment_variable("XDG_CACHE_HOME");
  if (!base.is_absolute()) {  // as the XDG specification asks, a relative one is ignored
    const fs::path home = environment_variable("HOME");
    if (!home.is_absolute()) return {};
    base = home / ".cache";
  }
  return base / "tune" / "binaries";
}

BinaryCache::BinaryCache(const fs::path& directory, std::uint64_t limit_bytes)
    : limit_bytes_(limit_bytes) {
  if (directory.empty()) {
    problem_ = "compiled kernels are not cached: HOME is not set: set it or XDG_CACHE_HOME";
    return;
  }
  if (const auto link = follow_links(directory).link_of_another_user) {
    problem_ = cannot_use(
        directory, printable_name(link->string()) + " is a link that belongs to another user",
        "set XDG_CACHE_HOME to another folder");
    return;
  }
  if (const auto error = make_private_directories(directory)) {
    problem_ = cannot_use(directory, error.message(),
                          "set XDG_CACHE_HOME to a folder that can be written");
    return;
  }
  directory_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory_ < 0) {
    problem_ = cannot_use(directory, std::strerror(errno), "set XDG_CACHE_HOME to another folder");
    return;
  }
  problem_ = objection(directory, directory_);
}

BinaryCache::~BinaryCache() {
  if (directory_ >= 0) ::close(directory_);
}

std::optional<Binary> BinaryCache::find(std::string_view key) const {
  if (!problem_.empty()) return std::nullopt;
  const std::string name = entry_name(key);
  // O_NONBLOCK: a pipe under this name must not stop us.
  const File file(
      ::openat(directory_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  if (file.get() >= 0 && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      !distrust(status, name) && static_cast<std::uint64_t>(status.st_size) <= kEntryLimitBytes) {
    const auto bytes = content(file.get(), static_cast<std::size_t>(status.st_size));
    if (auto binary = bytes ? decode_cache_entry(key, *bytes) : std::nullopt) {
      ::futimens(file.get(), nullptr);  // the time of its last use, for eviction
      return binary;
    }
  }
  ::unlinkat(directory_, name.c_str(), 0);
  return std::nullopt;
}

void BinaryCache::keep(std::string_view key, const Binary& binary) {
  if (!problem_.empty()) return;
  const std::string bytes = encode_cache_entry(key, binary);
  if (bytes.size() > std::min<std::uint64_t>(limit_bytes_, kEntryLimitBytes)) return;
  if (write(entry_name(key), bytes)) account(bytes.size());
}

/// Without fsync: after a power failure an entry may be cut or empty, which its checksum tells.
bool BinaryCache::write(const std::string& name, std::string_view bytes) const {
  const std::string temporary = fmt::format("{}.{}{}", name, random_word(), kTemporarySuffix);
  const File file(::openat(directory_, temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           S_IRUSR | S_IWUSR));
  if (file.get() < 0) return false;
  failpoint("backend.cache_opened");
  const bool written = write_all(file.get(), bytes);
  failpoint("backend.cache_written");
  if (written && ::renameat(directory_, temporary.c_str(), directory_, name.c_str()) == 0) {
    failpoint("backend.cache_renamed");
    return true;
  }
  ::unlinkat(directory_, temporary.c_str(), 0);
  return false;
}

void BinaryCache::account(std::uint64_t added_bytes) {
  const std::scoped_lock lock(mutex_);
  if (total_bytes_) *total_bytes_ += added_bytes;
  if (total_bytes_ && *total_bytes_ <= limit_bytes_) return;
  const std::vector<KeptFile> files = kept_files(directory_);
  std::uint64_t total = 0;
  for (const KeptFile& file : files) total += file.bytes;
  // Room for a while, so that a full cache is not counted again for every kernel.
  const std::uint64_t goal = total > limit_bytes_ ? limit_bytes_ - limit_bytes_ / 10 : total;
  for (const KeptFile& file : files) {
    if (total <= goal) break;
    ::unlinkat(directory_, file.name.c_str(), 0);
    failpoint("backend.cache_evicted");
    total -= file.bytes;
  }
  total_bytes_ = total;
}

std::string compile_recipe(std::string_view backend) {
  constexpr std::string_view kCudaRecipe = "toolkit headers 2";
  return backend == "cpu" ? host_compiler_recipe() : std::string(kCudaRecipe);
}

std::string compiler_identity(const space::DeviceInfo& device,
                              const space::EnvironmentInfo& environment) {
  return content_hash({device.backend, device.architecture,
                       device.backend == "cpu" ? device.name : "", environment.compiler,
                       environment.tool, compile_recipe(device.backend)});
}

CachedCompiler::CachedCompiler(const Compiler& compiler, BinaryCache& cache, std::string identity)
    : compiler_(compiler), cache_(cache), identity_(std::move(identity)) {}

Expected<Binary, Failure> CachedCompiler::compile(const family::CompileJob& job) const {
  const std::string key = content_hash({identity_, job.key});
  if (auto known = cache_.find(key)) return *std::move(known);
  auto compiled = compiler_.compile(job);
  if (compiled) cache_.keep(key, *compiled);
  return compiled;
}

}  // namespace tuner::backend
