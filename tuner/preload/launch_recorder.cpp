// SPDX-License-Identifier: Apache-2.0
#include "tuner/preload/launch_recorder.hpp"

#include "tuner/preload/dlsym.hpp"
#include "tuner/preload/record_files.hpp"

#include <cudaTypedefs.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::preload {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{16} << 20;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr const char* kOldDriver =
    "the driver does not say what parameters a kernel has: that needs CUDA 12.4 or newer";

template <class Function>
struct DriverCall {
  explicit DriverCall(const char* name) : call(reinterpret_cast<Function>(driver_function(name))) {}
  template <class... Arguments>
  CUresult operator()(Arguments... arguments) const {
    return call == nullptr ? CUDA_ERROR_NOT_FOUND : call(arguments...);
  }
  Function call;
};

struct Driver {
  DriverCall<PFN_cuFuncGetName_v12030> function_name{"cuFuncGetName"};
  DriverCall<PFN_cuKernelGetName_v12030> kernel_name{"cuKernelGetName"};
  DriverCall<PFN_cuFuncGetParamInfo_v12040> function_parameter{"cuFuncGetParamInfo"};
  DriverCall<PFN_cuKernelGetParamInfo_v12040> kernel_parameter{"cuKernelGetParamInfo"};
  DriverCall<PFN_cuMemGetAddressRange_v3020> address_range{"cuMemGetAddressRange_v2"};
  DriverCall<PFN_cuMemcpyDtoH_v3020> copy_to_host{"cuMemcpyDtoH_v2"};
  DriverCall<PFN_cuCtxSynchronize_v2000> synchronize{"cuCtxSynchronize"};
  DriverCall<PFN_cuStreamIsCapturing_v10000> is_capturing{"cuStreamIsCapturing"};
  DriverCall<PFN_cuStreamIsCapturing_v10000> is_capturing_of_thread{"cuStreamIsCapturing_ptsz"};
};

const Driver& driver() {
  static const Driver known;
  return known;
}

/// A parameter, and the memory that it points to, if it does.
struct Parameter {
  std::vector<unsigned char> value;
  CUdeviceptr pointer = 0;  // 0: to no memory of the device
  std::uint64_t bytes = 0;  // to the end of its allocation, or to where another parameter points
  bool is_changed = false;
};

std::string text_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// "spmv" of "void detail::spmv<256>(int, float*)".
std::string plain_name(const std::string& name) {
  int status = 0;
  char* const demangled = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && demangled != nullptr ? demangled : name;
  std::free(demangled);
  text.resize(std::min(text.find('('), text.size()));
  if (const std::size_t open = text.find('<'); open != std::string::npos) text.resize(open);
  const std::size_t begin = text.find_last_of(": ");
  return begin == std::string::npos ? text : text.substr(begin + 1);
}

std::string name_of(CUfunction function) {
  const char* name = nullptr;
  if (driver().function_name(&name, function) == CUDA_SUCCESS && name != nullptr) return name;
  const auto kernel = reinterpret_cast<CUkernel>(function);
  if (driver().kernel_name(&name, kernel) == CUDA_SUCCESS && name != nullptr) return name;
  return "";
}

/// The launch that is waited for.
class Wanted {
 public:
  /// Whether it is this one. Every name is noted once.
  bool is_this(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    if (seen_.insert(name).second) append_record("kernels.txt", name);
    if (is_taken_ || plain_name(name) != kernel_) return false;
    is_taken_ = ++count_ >= launch_;
    return is_taken_;
  }
  [[nodiscard]] bool is_awaited() const { return !kernel_.empty() && !is_taken_; }

 private:
  const std::string kernel_ = text_of("TUNER_CAPTURE_KERNEL");
  const unsigned long launch_ = std::strtoul(text_of("TUNER_CAPTURE_LAUNCH").c_str(), nullptr, 10);
  std::mutex mutex_;
  std::set<std::string> seen_;
  unsigned long count_ = 0;
  std::atomic<bool> is_taken_ = false;
};

Wanted& wanted() {
  static auto* const known = new Wanted;  // never destroyed: a program may launch until its end
  return *known;
}

bool is_captured_into_graph(const LaunchCall& call) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const auto& ask =
      call.has_stream_of_thread ? driver().is_capturing_of_thread : driver().is_capturing;
  return ask(call.stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// Records one launch.
class Recording {
 public:
  Recording(const LaunchCall& call, std::string name) : call_(call), name_(std::move(name)) {}

  CUresult run(const std::function<CUresult()>& launch) {
    problem_ = read_parameters();
    if (problem_.empty()) find_buffers();
    if (problem_.empty()) driver().synchronize();
    for (std::size_t i = 0; i < parameters_.size() && problem_.empty(); ++i) save_before(i);
    const CUresult result = launch();
    const CUresult ended =
        result == CUDA_SUCCESS && problem_.empty() ? driver().synchronize() : result;
    if (problem_.empty() && ended != CUDA_SUCCESS) problem_ = "the launch failed";
    for (std::size_t i = 0; i < parameters_.size() && problem_.empty(); ++i) save_after(i);
    write();
    return result;
  }

 private:
  /// Why it cannot; empty: it did.
  std::string read_parameters() {
    if (call_.is_cluster)
      return "it is launched in clusters of blocks, which a space file does not have";
    for (std::size_t i = 0;; ++i) {
      std::size_t offset = 0, size = 0;
      const auto kernel = reinterpret_cast<CUkernel>(call_.function);
      CUresult found = driver().function_parameter(call_.function, i, &offset, &size);
      if (found != CUDA_SUCCESS && i == 0) by_kernel_ = true;
      if (by_kernel_) found = driver().kernel_parameter(kernel, i, &offset, &size);
      if (found == CUDA_ERROR_NOT_FOUND) return kOldDriver;
      if (found != CUDA_SUCCESS) break;
      const unsigned char* const value = address_of(i, offset);
      if (value == nullptr) return "its arguments were not given";
      parameters_.push_back({.value = {value, value + size}});
    }
    return parameters_.empty() ? "it has no parameters" : "";
  }

  [[nodiscard]] const unsigned char* address_of(std::size_t i, std::size_t offset) const {
    if (call_.parameters != nullptr) return static_cast<unsigned char*>(call_.parameters[i]);
    for (void** word = call_.extra; word != nullptr && *word != CU_LAUNCH_PARAM_END; word += 2) {
      if (*word == CU_LAUNCH_PARAM_BUFFER_POINTER) {
        return static_cast<unsigned char*>(word[1]) + offset;
      }
    }
    return nullptr;
  }

  void find_buffers() {
    std::vector<CUdeviceptr> ends;
    std::uint64_t all = 0;
    for (Parameter& parameter : parameters_) {
      CUdeviceptr pointer = 0, begin = 0;
      std::size_t size = 0;
      if (parameter.value.size() == sizeof pointer) {
        std::memcpy(&pointer, parameter.value.data(), sizeof pointer);
      }
      const bool is_memory =
          pointer != 0 && driver().address_range(&begin, &size, pointer) == CUDA_SUCCESS;
      parameter.pointer = is_memory ? pointer : 0;
      ends.push_back(begin + size);
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Parameter& parameter = parameters_[i];
      if (parameter.pointer == 0) continue;
      CUdeviceptr end = ends[i];
      for (const Parameter& other : parameters_) {
        if (other.pointer > parameter.pointer) end = std::min(end, other.pointer);
      }
      parameter.bytes = end - parameter.pointer;
      all += parameter.bytes;
    }
    const std::uint64_t limit = std::strtoull(text_of("TUNER_CAPTURE_LIMIT").c_str(), nullptr, 10);
    if (limit == 0 || all <= limit * kMiB) return;
    problem_ = "its buffers have " + std::to_string(all / kMiB + 1) + " MiB, captured are " +
               std::to_string(limit) + " MiB at most: allow more with --limit";
  }

  [[nodiscard]] static std::string file_of(std::size_t i, const char* when) {
    return record_path(std::to_string(i) + when);
  }

  void save_before(std::size_t i) {
    if (parameters_[i].pointer == 0) return;
    RecordFile file(file_of(i, ".before"));
    copy(i, [&](const std::vector<char>& chunk, std::size_t) {
      file.append(chunk.data(), chunk.size());
    });
    if (!file.is_good()) problem_ = "its buffers could not be written into the temporary folder";
  }

  void save_after(std::size_t i) {
    Parameter& parameter = parameters_[i];
    if (parameter.pointer == 0) return;
    std::FILE* const before = std::fopen(file_of(i, ".before").c_str(), "rb");
    RecordFile file(file_of(i, ".after"));
    std::vector<char> old;
    copy(i, [&](const std::vector<char>& chunk, std::size_t) {
      old.resize(chunk.size());
      const std::size_t read =
          before == nullptr ? 0 : std::fread(old.data(), 1, old.size(), before);
      parameter.is_changed = parameter.is_changed || read != chunk.size() || old != chunk;
      file.append(chunk.data(), chunk.size());
    });
    if (before != nullptr) std::fclose(before);
    if (!file.is_good()) problem_ = "its buffers could not be written into the temporary folder";
    if (!parameter.is_changed) std::remove(file_of(i, ".after").c_str());
  }

  void copy(std::size_t i, const std::function<void(const std::vector<char>&, std::size_t)>& take) {
    const Parameter& parameter = parameters_[i];
    for (std::uint64_t at = 0; at < parameter.bytes && problem_.empty(); at += kChunkBytes) {
      std::vector<char> chunk(std::min<std::uint64_t>(kChunkBytes, parameter.bytes - at));
      if (driver().copy_to_host(chunk.data(), parameter.pointer + at, chunk.size()) !=
          CUDA_SUCCESS) {
        problem_ = "its buffers could not be copied to the host";
        return;
      }
      take(chunk, at);
    }
  }

  void write() const {
    const auto numbers = [](const std::array<unsigned, 3>& all) {
      return "[" + std::to_string(all[0]) + "," + std::to_string(all[1]) + "," +
             std::to_string(all[2]) + "]";
    };
    std::string text = "{\"kernel\":" + in_json(name_) + ",\"problem\":" + in_json(problem_) +
                       ",\"grid\":" + numbers(call_.grid) + ",\"block\":" + numbers(call_.block) +
                       ",\"shared_bytes\":" + std::to_string(call_.shared_bytes) +
                       ",\"parameters\":[";
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& it = parameters_[i];
      text += i == 0 ? "{" : ",{";
      text += "\"value\":" + hex_in_json(it.value.data(), it.value.size());
      if (it.pointer != 0) {
        text += ",\"buffer\":\"" + std::to_string(i) + "\",\"bytes\":" + std::to_string(it.bytes) +
                ",\"changed\":" + (it.is_changed ? "true" : "false");
      }
      text += "}";
    }
    write_record("launch.json", text + "]}");
  }

  const LaunchCall& call_;
  std::string name_;
  std::string problem_;
  bool by_kernel_ = false;  // the handle is a CUkernel
  std::vector<Parameter> parameters_;
};

}  // namespace

void* driver_function(const char* name) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string_view, void*>;
  const std::scoped_lock lock(mutex);
  if (const auto found = known->find(name); found != known->end()) return found->second;
  // Not closed: what is found stays.
  void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* const function = library == nullptr ? nullptr : system_dlsym(library, name);
  if (function != nullptr) known->emplace(name, function);
  return function;
}

CUresult record_launch(const LaunchCall& call, const std::function<CUresult()>& launch) {
  if (!wanted().is_awaited() || is_captured_into_graph(call)) return launch();
  const std::string name = name_of(call.function);
  return wanted().is_this(name) ? Recording(call, name).run(launch) : launch();
}

}  // namespace tuner::preload
