// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/counters.hpp"
#include "tuner/backend/cuda/cublas.hpp"
#include "tuner/backend/cuda/cuda_backend.hpp"
#include "tuner/backend/cuda/device_query.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cupti_result.h>
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

/// The content of a file of the kernel's; empty when there is none.
std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What `tune explain` needs, beside a GPU.
Finding examine_counters() {
  Finding finding =
      examine_library("hardware counters", [] { return cupti_version(*open_cupti()); });
  if (finding.status == Finding::Status::good &&
      counters_are_restricted(text_of("/proc/driver/nvidia/params"),
                              text_of("/proc/self/status"))) {
    finding.status = Finding::Status::note;
    finding.detail += ", not permitted";
    finding.remedy = why_not_counted(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "", "");
  }
  return finding;
}

}  // namespace

std::vector<Finding> examine_cuda() {
  const CudaDevices devices = find_cuda_devices();
  std::vector<Finding> findings = {examine_driver(devices)};
  for (int ordinal = 0; ordinal < devices.count; ++ordinal) {
    findings.push_back(examine_gpu(ordinal));
  }
  findings.push_back(examine_library("CUDA compiler", [] { return NvrtcCompiler("").version(); }));
  findings.push_back(examine_library("CUDA BLAS", [] { return Cublas(nullptr).version(); }));
  findings.push_back(examine_counters());
  return findings;
}

}  // namespace tuner::backend
