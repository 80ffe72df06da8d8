// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::backend {

struct NvrtcApi;

/// How the names of virtual architectures begin: "compute_80".
inline constexpr std::string_view kVirtualArchitecture = "compute_";

/// Compiles CUDA C++ to a cubin of one architecture with NVRTC, or for a virtual one to PTX, which
/// the driver compiles for its card when it loads it. Needs neither a GPU nor a driver.
/// A job sees its own headers, those of nvrtc_headers() and of the toolkit that NVRTC belongs to,
/// never a file next to the source or in the working directory. Host functions of the source are
/// left out (device_code.hpp). C++17 unless the job's options name another standard.
class NvrtcCompiler : public Compiler {
 public:
  /// `architecture` as in "sm_90", whose specific features kernels may use where it has such
  /// ("sm_90a"). `library`: the file of NVRTC; empty: where it is installed. Throws
  /// Error(no_device) when NVRTC is not there.
  explicit NvrtcCompiler(std::string architecture, const std::filesystem::path& library = {});
  ~NvrtcCompiler() override;

  [[nodiscard]] Expected<Binary, Failure> compile(const family::CompileJob& job) const override;
  /// With the very library that this process has loaded, which may be of another version than
  /// another process would find.
  [[nodiscard]] std::vector<std::string> helper_arguments() const override;

  /// "NVRTC 13.0".
  [[nodiscard]] std::string version() const;

  /// Why this NVRTC compiles nothing for an architecture, with the remedy; empty when it does.
  [[nodiscard]] std::string why_not_for(std::string_view architecture) const;

 private:
  std::string architecture_;
  std::unique_ptr<const NvrtcApi> api_;
};

/// NVRTC for a program that can do without it, because it has compiled code.
struct OptionalNvrtc {
  /// Where NVRTC is not there, one that says so of every job.
  std::unique_ptr<const Compiler> compiler;
  std::string version;  ///< "NVRTC 13.0"; empty where it is not there
};

/// As the constructor of NvrtcCompiler.
[[nodiscard]] OptionalNvrtc optional_nvrtc(const std::string& architecture,
                                           const std::filesystem::path& library = {});

}  // namespace tuner::backend
