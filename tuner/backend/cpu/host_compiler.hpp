// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/process.hpp"

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tuner::backend {

/// A host compiler that works.
struct HostCompilerInfo {
  std::string program;  ///< as it is started: "g++", or a path
  std::string version;  ///< "12.2.0"
};

/// $TUNER_HOST_CXX if that is set, else g++, else c++; none when it cannot be started, and in a
/// privileged program, which would run what its user has put on PATH.
[[nodiscard]] std::optional<HostCompilerInfo> find_host_compiler();

/// Content hash of the options and headers that HostCompiler adds to every job.
[[nodiscard]] std::string host_compiler_recipe();

/// Compiles CUDA C++ for the processor it runs on, without the source's host functions
/// (device_code.hpp). The image is a shared object that exports a
/// KernelImage (kernel_abi.hpp).
class HostCompiler : public Compiler {
 public:
  /// A compilation that takes longer than the deadline is a compile_timeout. `confiner` begins the
  /// command of each compilation: a program that lets a folder of headers be read and becomes the
  /// program, both named after it; empty: none.
  explicit HostCompiler(HostCompilerInfo info,
                        std::chrono::seconds deadline = std::chrono::seconds(60),
                        std::vector<std::string> confiner = {});
  [[nodiscard]] Expected<Binary, Failure> compile(const family::CompileJob& whole) const override;

 private:
  /// The folder of kernel_headers.hpp, written when it is first asked for: a run of cached kernels
  /// compiles nothing.
  [[nodiscard]] const std::filesystem::path& headers() const;
  enum class Variant { as_is, interleaved };  // interleaved_image.hpp
  /// What compiles the unit in a directory to the image there.
  [[nodiscard]] std::vector<std::string> command(const family::CompileJob& job, bool of_processors,
                                                 const std::filesystem::path& directory,
                                                 Variant variant) const;
  /// Why the command failed. `unavailable` are headers that the source includes and that are empty.
  [[nodiscard]] Failure refusal(const ProcessResult& result, const std::filesystem::path& directory,
                                const std::vector<std::string>& unavailable) const;

  HostCompilerInfo info_;
  std::chrono::seconds deadline_;
  std::vector<std::string> confiner_;
  TemporaryDirectory headers_;
  mutable std::once_flag headers_written_;
};

}  // namespace tuner::backend
