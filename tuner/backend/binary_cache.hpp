// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace tuner::backend {

/// $XDG_CACHE_HOME/tune/binaries, else ~/.cache/tune/binaries; empty when neither variable names
/// an absolute path.
[[nodiscard]] std::filesystem::path default_binary_cache();

/// A cache of compiled kernels on disk, one file each. If a file cannot be used (damaged, another
/// user's, disk full), the kernel is compiled again. Images are loaded into this process, so only a
/// directory and files are used that belong to the user and that no other user may write. Any
/// number of threads and processes may use it.
class BinaryCache {
 public:
  static constexpr std::uint64_t kDefaultLimitBytes = std::uint64_t{1} << 30;

  /// Makes missing directories for the user alone (0700). Never throws for a directory that cannot
  /// be used: see problem().
  explicit BinaryCache(const std::filesystem::path& directory,
                       std::uint64_t limit_bytes = kDefaultLimitBytes);
  ~BinaryCache();
  BinaryCache(const BinaryCache&) = delete;
  BinaryCache& operator=(const BinaryCache&) = delete;

  /// Why nothing is kept, and how to fix it, for the user; empty when the directory is usable.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// The kernel kept under a key of content_hash's form. A file that is not a whole entry is
  /// removed.
  [[nodiscard]] std::optional<Binary> find(std::string_view key) const;

  /// Keeps a kernel (mode 0600), and removes those unused for longest when all together exceed the
  /// limit. Does nothing when it cannot be kept. Processes that keep at the same time may exceed
  /// the limit by what they added until one of them counts again.
  void keep(std::string_view key, const Binary& binary);

 private:
  bool write(const std::string& name, std::string_view bytes) const;
  void account(std::uint64_t added_bytes);

  std::string problem_;
  int directory_ = -1;  // opened once: what is checked is what is used
  std::uint64_t limit_bytes_;
  std::mutex mutex_;
  std::optional<std::uint64_t> total_bytes_;  // none before the first count
};

/// What the compiler of a backend's devices is given besides the job, as a text that changes with
/// it: options, headers, and what is left out of a source.
[[nodiscard]] std::string compile_recipe(std::string_view backend);

/// Content hash of all that an image of a device's compiler depends on besides the job: the
/// compiler and what this program adds to its options and headers, the architecture, and on a CPU
/// the very model, because kernels are compiled for the processor at hand.
[[nodiscard]] std::string compiler_identity(const space::DeviceInfo& device,
                                            const space::EnvironmentInfo& environment);

/// A compiler that looks into a cache first and keeps there what it compiles. Failures are not
/// kept: a compiler may fail for want of memory or time.
class CachedCompiler : public Compiler {
 public:
  /// `identity` as of compiler_identity. The compiler and the cache must outlive this.
  CachedCompiler(const Compiler& compiler, BinaryCache& cache, std::string identity);

  [[nodiscard]] Expected<Binary, Failure> compile(const family::CompileJob& job) const override;

 private:
  const Compiler& compiler_;
  BinaryCache& cache_;
  std::string identity_;
};

}  // namespace tuner::backend
