// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/counters.hpp"
#include "tuner/backend/cuda/cublas.hpp"
#include "tuner/backend/cuda/cuda_backend.hpp"
#include "tuner/backend/cuda/device_query.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/backend/cuda/versions.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace tuner::backend {
namespace {

Finding good(std::string what, std::string detail) {
  return {Finding::Status::good, std::move(what), std::move(detail), {}};
}

Finding missing(std::string what, std::string detail, std::string remedy) {
  return {Finding::Status::missing, std::move(what), std::move(detail), std::move(remedy)};
}

/// What this build needs; nothing of it can be missing.
Finding examine_build() {
  const std::string own = version_text(CUDART_VERSION);
  const bool takes_older = CUDART_VERSION / 1000 > kOldestToolkit / 1000;
  return good("CUDA",
              fmt::format("built with {}; needs a driver that supports CUDA {}, and NVRTC "
                          "and cuBLAS of CUDA {}{}",
                          own, version_text(driver_needed(CUDART_VERSION)), CUDART_VERSION / 1000,
                          takes_older ? fmt::format(" or {}", kOldestToolkit / 1000) : ""));
}

Finding examine_driver(const CudaDevices& devices) {
  const std::string what = "NVIDIA driver";
  if (devices.count == 0) return missing(what, devices.problem, devices.remedy);
  return good(what, fmt::format("{}, supports CUDA {}", driver_identity(), cuda_driver_version()));
}

Finding examine_gpu(int ordinal) {
  const std::string what = fmt::format("GPU {}", ordinal);
  try {
    const space::DeviceInfo device = cuda_device_info(ordinal);
    constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
    Finding finding =
        good(what, fmt::format("{} ({}, {} SMs, {:.1f} GiB)", device.name, device.architecture,
                               device.attributes.sm_count,
                               static_cast<double>(device.attributes.memory_bytes) / kGibibyte));
    if (is_shared_by_mps(ordinal)) {
      finding.status = Finding::Status::note;
      finding.detail += ", shared by MPS";
      finding.remedy =
          "end the MPS daemon before a run: a candidate that fails ends other programs";
    }
    return finding;
  } catch (const Error& error) {
    return missing(what, error.what(),
                   "check whether `nvidia-smi` works, and the kernel log (NVRM)");
  }
}

/// `version` says what was found, or throws Error when the library is not there.
template <class Version>
Finding examine_library(const std::string& what, Version version) {
  try {
    return good(what, version());
  } catch (const Error& error) {
    return missing(what, "not found", error.what());
  }
}

/// NVRTC, and whether it compiles for the GPUs.
Finding examine_compiler(const CudaDevices& devices) {
  const std::string what = "CUDA compiler";
  try {
    const NvrtcCompiler compiler("");
    Finding finding = good(what, compiler.version());
    for (int ordinal = 0; ordinal < devices.count; ++ordinal) {
      const std::string architecture = cuda_device_info(ordinal).architecture;
      if (std::string why = compiler.why_not_for(architecture); !why.empty()) {
        return missing(what, fmt::format("{}, not for GPU {}", finding.detail, ordinal),
                       std::move(why));
      }
    }
    return finding;
  } catch (const Error& error) {
    return missing(what, "not found", error.what());
  }
}

/// The content of a file of the kernel's; empty when there is none.
std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What `tune explain` needs, beside a GPU.
Finding examine_counters() {
  if (std::string why = why_built_without_counters(); !why.empty()) {
    return {Finding::Status::note, "hardware counters", "not in this build", std::move(why)};
  }
  Finding finding =
      examine_library("hardware counters", [] { return cupti_version(*open_cupti()); });
  if (finding.status == Finding::Status::good &&
      counters_are_restricted(text_of("/proc/driver/nvidia/params"),
                              text_of("/proc/self/status"))) {
    finding.status = Finding::Status::note;
    finding.detail += ", not permitted";
    finding.remedy = std::string(kCountersRestricted);
  }
  return finding;
}

}  // namespace

std::vector<Finding> examine_cuda() {
  const CudaDevices devices = find_cuda_devices();
  std::vector<Finding> findings = {examine_build(), examine_driver(devices)};
  for (int ordinal = 0; ordinal < devices.count; ++ordinal) {
    findings.push_back(examine_gpu(ordinal));
  }
  findings.push_back(examine_compiler(devices));
  findings.push_back(examine_library("CUDA BLAS", [] { return Cublas(nullptr).version(); }));
  findings.push_back(examine_counters());
  return findings;
}

}  // namespace tuner::backend
