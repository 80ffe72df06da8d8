// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <memory>
#include <string>

namespace tuner::backend {

struct NvrtcApi;

/// Compiles CUDA C++ to a cubin of one architecture with NVRTC. Needs neither a GPU nor a driver.
/// A job sees its own headers, those of nvrtc_headers() and of the toolkit that NVRTC belongs to,
/// never a file next to the source or in the working directory. Host functions of the source are
/// left out (device_code.hpp). C++17 unless the job's options name another standard.
class NvrtcCompiler : public Compiler {
 public:
  /// `architecture` as in "sm_90", whose specific features kernels may use where it has such
  /// ("sm_90a"). Throws Error(no_device) when NVRTC is not installed.
  explicit NvrtcCompiler(std::string architecture);
  ~NvrtcCompiler() override;

  [[nodiscard]] Expected<Binary, Failure> compile(const family::CompileJob& job) const override;

  /// "NVRTC 13.0".
  [[nodiscard]] std::string version() const;

 private:
  std::string architecture_;
  std::unique_ptr<const NvrtcApi> api_;
};

}  // namespace tuner::backend
