// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/registry.hpp"

#include "tuner/backend/application.hpp"
#include "tuner/backend/cpu/cpu_backend.hpp"
#include "tuner/backend/cpu/cpu_device.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#ifdef TUNER_HAS_CUDA
#include "tuner/backend/cuda/cuda_backend.hpp"
#include "tuner/backend/cuda/device_query.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

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

std::string cuda_compiler_version() {
  return NvrtcCompiler("").version();
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

std::string cuda_compiler_version() {
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

std::vector<space::DeviceInfo> list_cpu_devices() {
  require_own_rights();
  return cpu_devices();
}

/// One backend: the functions behind those of this header and of executor.hpp and application.hpp.
struct NamedBackend {
  space::BackendTraits traits;
  bool (*is_present)();  ///< for `auto`
  std::vector<space::DeviceInfo> (*devices)();
  std::unique_ptr<Backend> (*open)(int ordinal);
  std::unique_ptr<Executor> (*open_executor)(int ordinal);
  std::unique_ptr<Application> (*open_application)();
  std::unique_ptr<const Compiler> (*make_compiler)(const std::string& architecture,
                                                   std::chrono::seconds deadline,
                                                   const std::vector<std::string>& confiner);
  std::string (*portable_compiler)();
  std::vector<Finding> (*examine)();
};

constexpr space::BackendTraits traits_of(std::string_view name) {
  return *std::ranges::find(space::kBackends, name, &space::BackendTraits::name);
}

constexpr std::string_view name_of(const NamedBackend& each) {
  return each.traits.name;
}

constexpr std::array kBackends = {
    NamedBackend{
        .traits = traits_of("cuda"),
        .is_present = has_gpu,
        .devices = list_cuda_devices,
        .open = open_cuda_backend,
        .open_executor = open_cuda_executor,
        .open_application = open_cuda_application,
        .make_compiler =
            [](const std::string& architecture, std::chrono::seconds,
               const std::vector<std::string>&) { return make_cuda_compiler(architecture); },
        .portable_compiler = cuda_compiler_version,
        .examine = examine_cuda},
    NamedBackend{.traits = traits_of("cpu"),
                 .is_present = [] { return true; },
                 .devices = list_cpu_devices,
                 .open = [](int ordinal) { return open_cpu_backend(cpu_device_at(ordinal)); },
                 .open_executor =
                     [](int ordinal) {
                       static_cast<void>(cpu_device_at(ordinal));
                       return open_cpu_executor();
                     },
                 .open_application = []() -> std::unique_ptr<Application> {
                   return std::make_unique<CpuApplication>();
                 },
                 .make_compiler =
                     [](const std::string&, std::chrono::seconds deadline,
                        const std::vector<std::string>& confiner) {
                       require_own_rights();
                       return make_cpu_compiler(deadline, confiner);
                     },
                 .portable_compiler = [] { return std::string(); },
                 .examine = examine_cpu},
};
static_assert(std::ranges::equal(kBackends, space::kBackends, {}, name_of,
                                 &space::BackendTraits::name));

const NamedBackend& backend_named(std::string_view name) {
  const auto* const found = std::ranges::find(kBackends, name, name_of);
  if (found != kBackends.end()) return *found;
  std::vector<std::string> known = {"auto"};
  for (const space::BackendTraits& each : space::kBackends) known.emplace_back(each.name);
  throw Error(ErrorCode::usage,
              fmt::format("there is no backend '{}'{}", name, did_you_mean(name, known)));
}

/// As backend_named; "auto" is the first one with a device here.
const NamedBackend& chosen_backend(std::string_view name) {
  if (name != "auto") return backend_named(name);
  return *std::ranges::find_if(kBackends,
                               [](const NamedBackend& each) { return each.is_present(); });
}

}  // namespace

space::BackendTraits backend_traits(std::string_view name) {
  return chosen_backend(name).traits;
}

std::unique_ptr<Backend> open_backend(std::string_view kind, int ordinal) {
  return chosen_backend(kind).open(ordinal);
}

std::vector<space::DeviceInfo> list_devices(std::string_view kind) {
  return chosen_backend(kind).devices();
}

std::unique_ptr<Executor> open_executor(std::string_view kind, int ordinal) {
  return chosen_backend(kind).open_executor(ordinal);
}

std::unique_ptr<Application> open_application(std::string_view kind) {
  return backend_named(kind).open_application();
}

std::unique_ptr<const Compiler> make_compiler(std::string_view kind,
                                              const std::string& architecture,
                                              std::chrono::seconds deadline,
                                              const std::vector<std::string>& confiner) {
  return backend_named(kind).make_compiler(architecture, deadline, confiner);
}

std::string portable_compiler(std::string_view kind) {
  return backend_named(kind).portable_compiler();
}

std::unique_ptr<const Compiler> make_helper_compiler(const std::vector<std::string>& arguments) {
  if (arguments.size() != 3 || arguments[0] != "cuda") {
    throw Error(ErrorCode::usage,
                "tuner-compile is started by applications; do not run it directly");
  }
  return make_cuda_compiler(arguments[1], arguments[2]);
}

std::vector<Finding> examine_machine() {
  std::vector<Finding> findings;
  for (const NamedBackend& each : kBackends) {
    std::ranges::move(each.examine(), std::back_inserter(findings));
  }
  return findings;
}

}  // namespace tuner::backend
