// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/registry.hpp"

#include "tuner/backend/application.hpp"
#include "tuner/backend/cpu/cpu_application.hpp"
#include "tuner/backend/cpu/cpu_backend.hpp"
#include "tuner/backend/cpu/cpu_device.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#ifdef TUNER_HAS_CUDA
#include "tuner/backend/cuda/cuda_application.hpp"
#include "tuner/backend/cuda/cuda_backend.hpp"
#include "tuner/backend/cuda/cuda_executor.hpp"
#include "tuner/backend/cuda/device_query.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#endif

#include <fmt/format.h>

#include <array>
#include <utility>

namespace tuner::backend {
namespace {

#ifdef TUNER_HAS_CUDA
bool has_gpu() {
  return find_cuda_devices().count > 0;
}

std::unique_ptr<const Compiler> make_cuda_compiler(const std::string& architecture,
                                                   const std::string& library = {}) {
  return std::make_unique<NvrtcCompiler>(architecture, library);
}
#else
constexpr const char* kHowToGetCuda =
    "build it with -DTUNER_CUDA=ON, which needs the CUDA Toolkit but no GPU";

bool has_gpu() {
  return false;
}

[[noreturn]] void fail_without_cuda(std::string_view instead = "") {
  throw Error(ErrorCode::no_device,
              fmt::format("this build has no CUDA backend: {}.{}", kHowToGetCuda, instead));
}

std::unique_ptr<Backend> open_cuda_backend(int) {
  fail_without_cuda(" `--backend cpu` tunes on the CPU.");
}

std::vector<space::DeviceInfo> list_cuda_devices() {
  fail_without_cuda(" `--backend cpu` tunes on the CPU.");
}

std::unique_ptr<Executor> open_cuda_executor(int) {
  fail_without_cuda();
}

std::unique_ptr<Application> open_cuda_application() {
  fail_without_cuda();
}

std::unique_ptr<const Compiler> make_cuda_compiler(const std::string&, const std::string& = {}) {
  fail_without_cuda();
}

std::vector<Finding> examine_cuda() {
  return {{.status = Finding::Status::missing,
           .what = "CUDA backend",
           .detail = "not in this build",
           .remedy = kHowToGetCuda}};
}
#endif

/// The cpu backend starts a compiler found on PATH, which another user may have set.
void require_own_rights() {
  if (!is_privileged()) return;
  throw Error(ErrorCode::no_device,
              "the cpu backend is not available in a program that is set-uid, set-gid or has file "
              "capabilities: it would run the compiler that its user names");
}

space::DeviceInfo cpu_device_at(int ordinal) {
  require_own_rights();
  const std::vector<space::DeviceInfo> devices = cpu_devices();
  if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices.size()) {
    return devices[static_cast<std::size_t>(ordinal)];
  }
  throw Error(
      ErrorCode::no_device,
      devices.size() == 1
          ? fmt::format("there is no CPU device {}: all cores together are device 0.", ordinal)
          : fmt::format("there is no CPU device {}: TUNER_CPU_DEVICES makes {}, counted "
                        "from 0.",
                        ordinal, devices.size()));
}

std::unique_ptr<Backend> open_cpu(int ordinal) {
  return open_cpu_backend(cpu_device_at(ordinal));
}

[[noreturn]] void fail_unknown(std::string_view kind) {
  const std::array<std::string, 3> kinds = {"auto", "cuda", "cpu"};
  throw Error(ErrorCode::usage,
              fmt::format("there is no backend '{}'{}", kind, did_you_mean(kind, kinds)));
}

}  // namespace

std::unique_ptr<Backend> open_backend(std::string_view kind, int ordinal) {
  if (kind == "cuda") return open_cuda_backend(ordinal);
  if (kind == "cpu") return open_cpu(ordinal);
  if (kind == "auto") return has_gpu() ? open_cuda_backend(ordinal) : open_cpu(ordinal);
  fail_unknown(kind);
}

std::vector<space::DeviceInfo> list_devices(std::string_view kind) {
  if (kind == "cuda" || (kind == "auto" && has_gpu())) return list_cuda_devices();
  if (kind != "cpu" && kind != "auto") fail_unknown(kind);
  require_own_rights();
  return cpu_devices();
}

std::unique_ptr<Executor> open_executor(std::string_view kind, int ordinal) {
  if (kind == "cuda" || (kind == "auto" && has_gpu())) return open_cuda_executor(ordinal);
  if (kind != "cpu" && kind != "auto") fail_unknown(kind);
  static_cast<void>(cpu_device_at(ordinal));
  return open_cpu_executor();
}

std::unique_ptr<Application> open_application(std::string_view kind) {
  if (kind == "cuda") return open_cuda_application();
  if (kind == "cpu") return std::make_unique<CpuApplication>();
  fail_unknown(kind);
}

std::unique_ptr<const Compiler> make_compiler(std::string_view kind,
                                              const std::string& architecture,
                                              std::chrono::seconds deadline,
                                              std::vector<std::string> confiner) {
  if (kind == "cuda") return make_cuda_compiler(architecture);
  if (kind == "cpu") {
    require_own_rights();
    return make_cpu_compiler(deadline, std::move(confiner));
  }
  fail_unknown(kind);
}

std::unique_ptr<const Compiler> make_helper_compiler(const std::vector<std::string>& arguments) {
  if (arguments.size() != 3 || arguments[0] != "cuda") {
    throw Error(ErrorCode::usage,
                "tuner-compile is started by applications; do not run it directly");
  }
  return make_cuda_compiler(arguments[1], arguments[2]);
}

std::vector<Finding> examine_machine() {
  std::vector<Finding> findings = examine_cuda();
  std::vector<Finding> of_cpu = examine_cpu();
  std::move(of_cpu.begin(), of_cpu.end(), std::back_inserter(findings));
  return findings;
}

}  // namespace tuner::backend
