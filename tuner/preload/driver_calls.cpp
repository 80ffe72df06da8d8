// SPDX-License-Identifier: Apache-2.0
// Functions of the driver and of NVRTC as programs call them.
#include "tuner/preload/dlsym.hpp"
#include "tuner/preload/launch_recorder.hpp"
#include "tuner/preload/record_files.hpp"

#include <cudaTypedefs.h>
#include <nvrtc.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace tuner::preload {
namespace {

/// The driver's own function of a name, in place of which this library has one.
template <class Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(driver_function(name));
}

/// CUDA_ERROR_NOT_FOUND where the driver has no such function.
template <class Function, class... Arguments>
CUresult call(const char* name, Arguments... arguments) {
  const auto function = original<Function>(name);
  return function == nullptr ? CUDA_ERROR_NOT_FOUND : function(arguments...);
}

enum class DefaultStream { legacy, of_thread };

CUresult launch_kernel(DefaultStream which, CUfunction function, std::array<unsigned, 3> grid,
                       std::array<unsigned, 3> block, unsigned shared, CUstream stream,
                       void** parameters, void** extra) {
  const bool of_thread = which == DefaultStream::of_thread;
  const auto launch = [&] {
    return call<PFN_cuLaunchKernel_v4000>(of_thread ? "cuLaunchKernel_ptsz" : "cuLaunchKernel",
                                          function, grid[0], grid[1], grid[2], block[0], block[1],
                                          block[2], shared, stream, parameters, extra);
  };
  return record_launch({.function = function,
                        .grid = grid,
                        .block = block,
                        .shared_bytes = shared,
                        .stream = stream,
                        .has_stream_of_thread = of_thread,
                        .parameters = parameters,
                        .extra = extra},
                       launch);
}

bool has_clusters(const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config.attrs[i];
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& cluster = attribute.value.clusterDim;
    if (cluster.x * cluster.y * cluster.z > 1) return true;
  }
  return false;
}

CUresult launch_kernel(DefaultStream which, const CUlaunchConfig* config, CUfunction function,
                       void** parameters, void** extra) {
  const bool of_thread = which == DefaultStream::of_thread;
  const auto launch = [&] {
    return call<PFN_cuLaunchKernelEx_v11060>(
        of_thread ? "cuLaunchKernelEx_ptsz" : "cuLaunchKernelEx", config, function, parameters,
        extra);
  };
  if (config == nullptr) return launch();
  return record_launch({.function = function,
                        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                        .shared_bytes = config->sharedMemBytes,
                        .stream = config->hStream,
                        .has_stream_of_thread = of_thread,
                        .is_cluster = has_clusters(*config),
                        .parameters = parameters,
                        .extra = extra},
                       launch);
}

/// What programs gave to NVRTC and have not compiled yet, as JSON without options.
struct Programs {
  std::mutex mutex;
  std::map<nvrtcProgram, std::string> sources;
  unsigned compiled = 0;
};

Programs& programs() {
  static auto* const known = new Programs;
  return *known;
}

using CreateProgram = nvrtcResult (*)(nvrtcProgram*, const char*, const char*, int,
                                      const char* const*, const char* const*);
using CompileProgram = nvrtcResult (*)(nvrtcProgram, int, const char* const*);

nvrtcResult create_program(CreateProgram create, nvrtcProgram* program, const char* source,
                           const char* name, int count, const char* const* headers,
                           const char* const* names) {
  if (create == nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  const nvrtcResult result = create(program, source, name, count, headers, names);
  if (result != NVRTC_SUCCESS || source == nullptr) return result;
  std::string text = "{\"source\":" + in_json(source) + ",\"headers\":{";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + in_json(names[i]) + ":" + in_json(headers[i]);
  }
  Programs& known = programs();
  const std::scoped_lock lock(known.mutex);
  known.sources[*program] = text + "}";
  return result;
}

nvrtcResult compile_program(CompileProgram compile, nvrtcProgram program, int count,
                            const char* const* options) {
  if (compile == nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  {
    Programs& known = programs();
    const std::scoped_lock lock(known.mutex);
    const auto found = known.sources.find(program);
    if (found != known.sources.end() && !record_path("").empty()) {
      std::string text = found->second + ",\"options\":[";
      for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + in_json(options[i]);
      std::array<char, 32> name{};  // names in the order of compilations
      std::snprintf(name.data(), name.size(), "%010u.program", known.compiled++);
      write_record(name.data(), text + "]}");
      known.sources.erase(found);
    }
  }
  return compile(program, count, options);
}

/// Each NVRTC that a process has gets functions of its own, since programs of one are none of
/// another.
constexpr std::size_t kMostNvrtcs = 4;
constinit std::array<std::atomic<CreateProgram>, kMostNvrtcs> creators{};
constinit std::array<std::atomic<CompileProgram>, kMostNvrtcs> compilers{};

template <std::size_t Slot>
nvrtcResult create_by(nvrtcProgram* program, const char* source, const char* name, int count,
                      const char* const* headers, const char* const* names) {
  return create_program(creators[Slot], program, source, name, count, headers, names);
}
template <std::size_t Slot>
nvrtcResult compile_by(nvrtcProgram program, int count, const char* const* options) {
  return compile_program(compilers[Slot], program, count, options);
}

template <class Function>
void* in_slot(std::array<std::atomic<Function>, kMostNvrtcs>& slots, void* theirs,
              const std::array<Function, kMostNvrtcs>& ours) {
  const auto function = reinterpret_cast<Function>(theirs);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Function expected = nullptr;
    if (slots[i].compare_exchange_strong(expected, function) || expected == function) {
      return reinterpret_cast<void*>(ours[i]);
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace tuner::preload

#undef cuGetProcAddress
#undef cuGetProcAddress_v2

using tuner::preload::DefaultStream;

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream,
                        void** parameters, void** extra) {
  return tuner::preload::launch_kernel(DefaultStream::legacy, f, {gx, gy, gz}, {bx, by, bz}, shared,
                                       stream, parameters, extra);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, CUstream stream,
                             void** parameters, void** extra) {
  return tuner::preload::launch_kernel(DefaultStream::of_thread, f, {gx, gy, gz}, {bx, by, bz},
                                       shared, stream, parameters, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters,
                          void** extra) {
  return tuner::preload::launch_kernel(DefaultStream::legacy, config, f, parameters, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f, void** parameters,
                               void** extra) {
  return tuner::preload::launch_kernel(DefaultStream::of_thread, config, f, parameters, extra);
}

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags);
CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status);

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name,
                               int count, const char* const* headers, const char* const* names) {
  void* const theirs = tuner::preload::system_dlsym(RTLD_NEXT, "nvrtcCreateProgram");
  return tuner::preload::create_program(reinterpret_cast<tuner::preload::CreateProgram>(theirs),
                                        program, source, name, count, headers, names);
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  void* const theirs = tuner::preload::system_dlsym(RTLD_NEXT, "nvrtcCompileProgram");
  return tuner::preload::compile_program(reinterpret_cast<tuner::preload::CompileProgram>(theirs),
                                         program, count, options);
}
}

namespace tuner::preload {
namespace {

struct Substitute {
  std::string_view name;
  void* ours;
};

/// What this library has in place of a function of the driver; null: nothing.
void* substitute_of(std::string_view name) {
  static const std::array<Substitute, 6> kAll = {{
      {"cuLaunchKernel", reinterpret_cast<void*>(&cuLaunchKernel)},
      {"cuLaunchKernel_ptsz", reinterpret_cast<void*>(&cuLaunchKernel_ptsz)},
      {"cuLaunchKernelEx", reinterpret_cast<void*>(&cuLaunchKernelEx)},
      {"cuLaunchKernelEx_ptsz", reinterpret_cast<void*>(&cuLaunchKernelEx_ptsz)},
      {"cuGetProcAddress", reinterpret_cast<void*>(&cuGetProcAddress)},
      {"cuGetProcAddress_v2", reinterpret_cast<void*>(&cuGetProcAddress_v2)},
  }};
  for (const Substitute& each : kAll) {
    if (each.name == name) return each.ours;
  }
  return nullptr;
}

/// In place of what cuGetProcAddress() found.
void substitute(const char* name, void** function, int version, cuuint64_t flags, CUresult result) {
  if (result != CUDA_SUCCESS || name == nullptr || function == nullptr || *function == nullptr) {
    return;
  }
  constexpr int kFirstWithStatus = 12000;
  std::string wanted = name;
  const bool is_launch = wanted == "cuLaunchKernel" || wanted == "cuLaunchKernelEx";
  if (is_launch && (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) wanted += "_ptsz";
  if (wanted == "cuGetProcAddress" && version >= kFirstWithStatus) wanted += "_v2";
  if (void* const ours = substitute_of(wanted)) *function = ours;
}

}  // namespace
}  // namespace tuner::preload

extern "C" {

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  const CUresult result = tuner::preload::call<PFN_cuGetProcAddress_v11030>(
      "cuGetProcAddress", name, function, version, flags);
  tuner::preload::substitute(name, function, version, flags, result);
  return result;
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  const CUresult result = tuner::preload::call<PFN_cuGetProcAddress_v12000>(
      "cuGetProcAddress_v2", name, function, version, flags, status);
  tuner::preload::substitute(name, function, version, flags, result);
  return result;
}

__attribute__((visibility("hidden"), used)) void* tuner_preload_substitute(void* handle,
                                                                           const char* name) {
  using namespace tuner::preload;
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || name == nullptr) return nullptr;
  const std::string_view wanted = name;
  const bool is_create = wanted == "nvrtcCreateProgram",
             is_compile = wanted == "nvrtcCompileProgram";
  void* const ours = substitute_of(wanted);
  if (ours == nullptr && !is_create && !is_compile) return nullptr;
  void* const theirs = system_dlsym(handle, name);
  if (theirs == nullptr || theirs == ours) return nullptr;
  if (is_create) {
    return in_slot<CreateProgram>(creators, theirs,
                                  {create_by<0>, create_by<1>, create_by<2>, create_by<3>});
  }
  if (is_compile) {
    return in_slot<CompileProgram>(compilers, theirs,
                                   {compile_by<0>, compile_by<1>, compile_by<2>, compile_by<3>});
  }
  return ours;
}
}
