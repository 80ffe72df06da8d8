// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/captured_work.hpp"
#include "tuner/backend/cuda/cublas_handles.hpp"
#include "tuner/backend/cuda/cublas_lt.hpp"
#include "tuner/backend/cuda/cuda_backend.hpp"
#include "tuner/backend/cuda/device_query.hpp"
#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/cuda/graph_memory.hpp"
#include "tuner/backend/cuda/kernel_argument.hpp"
#include "tuner/backend/cuda/launch_timer.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/backend/launch_error.hpp"
#include "tuner/backend/match_arguments.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tuner::backend {
namespace {

CUkernel kernel_of(FunctionId function) {
  return reinterpret_cast<CUkernel>(static_cast<std::uintptr_t>(function));
}

/// The number of a stream that is being captured cannot be queried (error 900). The stream exists
/// during the whole capture, so its handle identifies it. The default streams of all threads have
/// the same handle.
std::uint64_t id_in_capture(StreamHandle stream) {
  static thread_local const char own = 0;
  return reinterpret_cast<std::uintptr_t>(
      stream == CU_STREAM_PER_THREAD ? &own : static_cast<const void*>(stream));
}

/// A product of cublasLt with the algorithm that it chooses.
struct ChosenProduct {
  ChosenProduct(const CublasLt& library, const blas::Operation& operation, const void* bias)
      : product(library, operation, bias) {}

  LtProduct product;
  std::optional<LtAlgorithm> algorithm = {};  ///< none: it has none for this product
};

/// What tells a product from all others.
std::string key_of(const blas::Operation& operation, std::uint32_t alignment_bytes) {
  const auto& shape = std::get<blas::GemmShape>(operation.shape);
  std::string key =
      fmt::format("{} {} {} {} {} {} {}", family::name(operation.type),
                  family::name(operation.result_type()), operation.fast_sums, alignment_bytes,
                  shape.batch, shape.trans_a == Transpose::yes, shape.trans_b == Transpose::yes);
  key += fmt::format(" {} {}", static_cast<int>(operation.epilogue.bias),
                     static_cast<int>(operation.epilogue.activation));
  for (const blas::MatrixLayout& it : {shape.a, shape.b, shape.c}) {
    key += fmt::format(" {} {} {} {}", it.rows, it.columns, it.ld, it.stride);
  }
  return key;
}

class CudaExecutor final : public Executor {
 public:
  explicit CudaExecutor(int ordinal);
  ~CudaExecutor() override;

  const space::DeviceInfo& device() const override { return device_; }
  const space::EnvironmentInfo& environment() const override { return environment_; }
  const Compiler& compiler() const override { return *nvrtc_.compiler; }

  Expected<std::vector<FunctionId>, Failure> load(const Binary& binary) override;
  Expected<void, Failure> admit(FunctionId function, const family::Geometry& geometry,
                                std::span<const std::size_t> argument_bytes) override;
  Expected<void, Failure> launch(FunctionId function, const family::Geometry& geometry,
                                 void** arguments, StreamHandle stream) override;
  Expected<TensorMapValue, Failure> tensor_map(const family::TensorLayout& layout,
                                               void* buffer) const override;
  Expected<StreamState, Failure> state(StreamHandle stream) const override;
  Expected<std::shared_ptr<void>, Failure> memory(std::size_t size_bytes) override;
  Expected<void, Failure> read(const void* memory, std::span<std::byte> to,
                               StreamHandle stream) override;
  Expected<void, Failure> repeat(std::span<const std::byte> bytes, void* memory,
                                 std::size_t size_bytes) override;
  Expected<void, Failure> clear(void* memory, std::size_t size_bytes, StreamHandle stream) override;
  Expected<void*, Failure> graph_memory(std::size_t size_bytes, StreamHandle stream) override;
  Expected<std::vector<double>, Failure> time(std::span<const StreamWork> works) override;
  Expected<StreamWork, Failure> record(const StreamWork& work) override;
  Expected<void, Failure> prepare_library() override;
  [[nodiscard]] bool library_has(const Epilogue& epilogue) const override;
  Expected<void, Failure> run_library(const blas::Operation& operation,
                                      const blas::Addresses& operands,
                                      StreamHandle stream) override;
  std::vector<std::string> library_algorithms(const blas::Operation& operation,
                                              const blas::Addresses& operands) override;
  Expected<LibraryWork, Failure> library_work(const blas::Operation& operation,
                                              const std::string& algorithm) override;

 private:
  /// Calls cuBLAS with a handle for the stream.
  template <class Call>
  [[nodiscard]] Expected<void, Failure> with_library(StreamHandle stream, const Call& call);
  /// A product that cuBLAS itself does not have, by the algorithm that cublasLt chooses of those
  /// that need no workspace.
  [[nodiscard]] Expected<void, Failure> run_lt(const blas::Operation& operation,
                                               const blas::Addresses& operands,
                                               StreamHandle stream);
  [[nodiscard]] const CublasLt& lt();  // under mutex_
  /// Gives a thread that has no context the device's primary one, as the CUDA runtime does.
  void ensure_context() const;
  /// The sizes of a kernel's parameters, in bytes.
  [[nodiscard]] Expected<std::vector<std::size_t>, Failure> parameter_sizes(CUkernel kernel) const;

  DriverApi driver_;
  space::DeviceInfo device_;
  OptionalNvrtc nvrtc_;
  std::unique_ptr<GraphMemory> graph_memory_ = std::make_unique<GraphMemory>(driver_);
  CublasHandles cublas_;
  space::EnvironmentInfo environment_;
  CUdevice number_ = 0;
  CUcontext primary_ = nullptr;
  std::mutex mutex_;                    // of what follows
  std::unique_ptr<const CublasLt> lt_;  // once a product of it was asked for
  std::map<std::string, std::shared_ptr<const ChosenProduct>> lt_products_;
  std::vector<CUlibrary> libraries_;
  std::map<FunctionId, std::vector<std::size_t>> parameter_bytes_;
  std::mutex timing_;  // of those who time; of what follows
  std::map<CUcontext, LaunchTimer> timers_;
};

CudaExecutor::CudaExecutor(int ordinal)
    : device_(cuda_device_info(ordinal)),
      nvrtc_(optional_nvrtc(device_.architecture)),
      cublas_(driver_, *graph_memory_, device_.attributes.compute_capability),
      environment_{.driver = driver_identity(),
                   .compiler = nvrtc_.version,
                   .library = cublas_version(cublas_.api()),
                   .tool = TUNER_VERSION} {
  const auto require = [this](CUresult result) {
    if (auto done = attempt(driver_, result); !done) {
      throw Error(ErrorCode::no_device,
                  fmt::format("cannot use the GPU: {}", done.error().message));
    }
  };
  require(driver_.init(0));
  require(driver_.device_get(&number_, ordinal));
  require(driver_.retain(&primary_, number_));
}

CudaExecutor::~CudaExecutor() {
  ensure_context();
  timers_.clear();
  lt_.reset();
  graph_memory_.reset();
  for (CUlibrary library : libraries_) driver_.unload_library(library);
  driver_.release(number_);
}

void CudaExecutor::ensure_context() const {
  CUcontext current = nullptr;
  if (driver_.current_context(&current) == CUDA_SUCCESS && current != nullptr) return;
  driver_.set_current_context(primary_);
}

Expected<std::vector<FunctionId>, Failure> CudaExecutor::load(const Binary& binary) {
  ensure_context();
  const CaptureBystander bystander(driver_);
  CUlibrary library = nullptr;
  auto done = attempt(driver_, driver_.load_library(&library, binary.image.data(), nullptr, nullptr,
                                                    0, nullptr, nullptr, 0));
  if (!done) return Unexpected(done.error());
  std::map<FunctionId, std::vector<std::size_t>> parameters;
  std::vector<FunctionId> functions;
  for (const std::string& symbol : binary.symbols) {
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    if (done) done = attempt(driver_, driver_.get_kernel(&kernel, library, symbol.c_str()));
    // At once: loading at the first launch, which is lazy loading's way, could meet a capture.
    if (done) done = attempt(driver_, driver_.get_function(&function, kernel));
    if (done) done = attempt(driver_, driver_.load_function(function));
    if (!done) break;
    auto sizes = parameter_sizes(kernel);
    if (!sizes) {
      done = Unexpected(sizes.error());
      break;
    }
    functions.push_back(FunctionId{reinterpret_cast<std::uintptr_t>(kernel)});
    parameters.emplace(functions.back(), *std::move(sizes));
  }
  if (!done) {
    driver_.unload_library(library);
    return Unexpected(done.error());
  }
  const std::scoped_lock lock(mutex_);
  libraries_.push_back(library);
  parameter_bytes_.merge(parameters);
  return functions;
}

Expected<std::vector<std::size_t>, Failure> CudaExecutor::parameter_sizes(CUkernel kernel) const {
  std::vector<std::size_t> sizes;
  for (;;) {
    std::size_t offset = 0;
    std::size_t size = 0;
    const CUresult result = driver_.parameter_info(kernel, sizes.size(), &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) return sizes;  // the index is behind the last
    if (auto done = attempt(driver_, result); !done) return Unexpected(done.error());
    sizes.push_back(size);
  }
}

Expected<void, Failure> CudaExecutor::admit(FunctionId function, const family::Geometry& geometry,
                                            std::span<const std::size_t> argument_bytes) {
  ensure_context();  // the kernel may have been loaded by another thread
  CUkernel const kernel = kernel_of(function);
  const std::uint64_t threads =
      std::uint64_t{geometry.block[0]} * geometry.block[1] * geometry.block[2];
  int most_threads = 0;
  if (auto done = attempt(
          driver_, driver_.get_attribute(&most_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                         kernel, number_));
      !done) {
    return done;
  }
  if (threads > static_cast<std::uint64_t>(most_threads)) {
    return launch_error(
        fmt::format("a block of this kernel can have {} threads, not {}", most_threads, threads));
  }
  constexpr auto kLimit = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const auto wanted = static_cast<int>(geometry.dynamic_shared_bytes);
  const std::scoped_lock lock(mutex_);  // one size's larger share must not be taken back by another
  if (auto done = match_arguments(argument_bytes, parameter_bytes_.at(function)); !done) {
    return done;
  }
  int granted = 0;
  if (auto done = attempt(driver_, driver_.get_attribute(&granted, kLimit, kernel, number_));
      !done) {
    return done;
  }
  if (wanted <= granted) return {};
  if (driver_.set_attribute(kLimit, wanted, kernel, number_) == CUDA_SUCCESS) return {};
  return launch_error(fmt::format(
      "{} bytes of dynamic shared memory are more than a block of this kernel can have", wanted));
}

Expected<void, Failure> CudaExecutor::launch(FunctionId function, const family::Geometry& geometry,
                                             void** arguments, StreamHandle stream) {
  const auto enqueue = [&] {
    return backend::launch(driver_, kernel_of(function), geometry, arguments, stream);
  };
  CUresult result = enqueue();
  if (result == CUDA_ERROR_INVALID_CONTEXT) {
    ensure_context();
    result = enqueue();
  }
  return attempt(driver_, result);
}

Expected<TensorMapValue, Failure> CudaExecutor::tensor_map(const family::TensorLayout& layout,
                                                           void* buffer) const {
  const auto argument = packed(layout, static_cast<std::byte*>(buffer));
  if (!argument) return Unexpected(argument.error());
  return TensorMapValue{argument->bytes};
}

Expected<StreamState, Failure> CudaExecutor::state(StreamHandle stream) const {
  ensure_context();
  cuuint64_t capture = 0;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  auto done =
      attempt(driver_, driver_.capture_info(stream, &status, &capture, nullptr, nullptr, nullptr));
  if (!done) return Unexpected(done.error());
  if (status != CU_STREAM_CAPTURE_STATUS_NONE) {
    return StreamState{.id = id_in_capture(stream), .capture = capture};
  }
  unsigned long long id = 0;
  done = attempt(driver_, driver_.stream_id(stream, &id));
  if (!done) return Unexpected(done.error());
  return StreamState{.id = id};
}

Expected<std::shared_ptr<void>, Failure> CudaExecutor::memory(std::size_t size_bytes) {
  ensure_context();
  const CaptureBystander bystander(driver_);
  CUdeviceptr address = 0;
  if (auto done = attempt(driver_, driver_.allocate(&address, size_bytes)); !done) {
    Failure failure = done.error();
    failure.message = fmt::format("{} bytes of memory: {}", size_bytes, failure.message);
    return Unexpected(std::move(failure));
  }
  std::shared_ptr<void> memory(reinterpret_cast<void*>(address), [this, address](void*) {
    ensure_context();
    const CaptureBystander no_part_of_captures(driver_);
    driver_.free(address);
  });
  if (auto done = clear_memory(driver_, address, size_bytes); !done) {
    return Unexpected(done.error());
  }
  return memory;
}

Expected<void, Failure> CudaExecutor::repeat(std::span<const std::byte> bytes, void* memory,
                                             std::size_t size_bytes) {
  ensure_context();
  const CaptureBystander bystander(driver_);
  CUstream stream = nullptr;
  auto done = attempt(driver_, driver_.create_stream(&stream, CU_STREAM_NON_BLOCKING));
  if (!done) return done;
  const auto begin = reinterpret_cast<CUdeviceptr>(memory);
  std::size_t copied = std::min(bytes.size(), size_bytes);
  done = attempt(driver_,
                 driver_.copy(begin, reinterpret_cast<CUdeviceptr>(bytes.data()), copied, stream));
  for (; done && copied < size_bytes; copied *= 2) {
    done = attempt(driver_, driver_.copy(begin + copied, begin,
                                         std::min(copied, size_bytes - copied), stream));
  }
  if (done) done = attempt(driver_, driver_.synchronize(stream));
  driver_.destroy_stream(stream);
  return done;
}

Expected<void, Failure> CudaExecutor::read(const void* memory, std::span<std::byte> to,
                                           StreamHandle stream) {
  ensure_context();
  auto done =
      attempt(driver_, driver_.copy(reinterpret_cast<CUdeviceptr>(to.data()),
                                    reinterpret_cast<CUdeviceptr>(memory), to.size(), stream));
  return done ? attempt(driver_, driver_.synchronize(stream)) : done;
}

Expected<void, Failure> CudaExecutor::clear(void* memory, std::size_t size_bytes,
                                            StreamHandle stream) {
  ensure_context();
  return attempt(driver_,
                 driver_.memset(reinterpret_cast<CUdeviceptr>(memory), 0, size_bytes, stream));
}

Expected<void*, Failure> CudaExecutor::graph_memory(std::size_t size_bytes, StreamHandle stream) {
  ensure_context();
  return graph_memory_->lend(size_bytes, stream);
}

Expected<std::vector<double>, Failure> CudaExecutor::time(std::span<const StreamWork> works) {
  ensure_context();
  const CaptureBystander bystander(driver_);
  const std::scoped_lock lock(timing_);
  CUcontext context = nullptr;
  driver_.current_context(&context);
  auto timer = timers_.find(context);
  if (timer == timers_.end()) {
    auto filler = memory(LaunchTimer::kFillerBytes);
    if (!filler) return Unexpected(filler.error());
    auto made = LaunchTimer::make(driver_, *std::move(filler));
    if (!made) return Unexpected(made.error());
    timer = timers_.emplace(context, *std::move(made)).first;
  }
  return timer->second.time(works);
}

Expected<StreamWork, Failure> CudaExecutor::record(const StreamWork& work) {
  ensure_context();
  const CaptureBystander bystander(driver_);
  return record_work(driver_, work);
}

Expected<void, Failure> CudaExecutor::prepare_library() {
  ensure_context();
  return cublas_.prepare();
}

template <class Call>
Expected<void, Failure> CudaExecutor::with_library(StreamHandle stream, const Call& call) {
  const auto where = state(stream);
  if (!where) return Unexpected(where.error());
  if (where->capture) return cublas_.capture(*where, stream, std::cref(call));
  const auto handle = cublas_.on(*where, stream);
  if (!handle) return Unexpected(handle.error());
  return call(*handle);
}

bool CudaExecutor::library_has(const Epilogue& epilogue) const {
  return LtProduct::has(epilogue) && !epilogue.residual;
}

Expected<void, Failure> CudaExecutor::run_library(const blas::Operation& operation,
                                                  const blas::Addresses& operands,
                                                  StreamHandle stream) {
  if (blas::only_lt_has(operation)) return run_lt(operation, operands, stream);
  return with_library(stream, [&](cublasHandle_t handle) {
    return run_cublas(cublas_.api(), handle, operation, operands);
  });
}

const CublasLt& CudaExecutor::lt() {
  if (lt_ == nullptr) lt_ = std::make_unique<const CublasLt>();
  return *lt_;
}

Expected<void, Failure> CudaExecutor::run_lt(const blas::Operation& operation,
                                             const blas::Addresses& operands, StreamHandle stream) {
  constexpr std::size_t kMostProducts = 1024;
  constexpr int kMostProposed = 8;
  const std::uint32_t alignment = alignment_bytes(operands);
  std::shared_ptr<const ChosenProduct> chosen;
  {
    ensure_context();
    const CaptureBystander bystander(driver_);
    const std::scoped_lock lock(mutex_);
    if (lt_products_.size() >= kMostProducts) lt_products_.clear();
    auto& kept = lt_products_[key_of(operation, alignment)];
    if (kept == nullptr) {
      auto made = std::make_shared<ChosenProduct>(lt(), operation, operands[blas::kBias]);
      for (const LtAlgorithm& it : made->product.proposed(kMostProposed, alignment)) {
        const bool fits = it.workspace_bytes <= cublas_.workspace_bytes();
        if (fits && !made->algorithm) made->algorithm = it;
      }
      kept = std::move(made);
    }
    chosen = kept;
  }
  if (!chosen->algorithm) {
    return Unexpected(
        Failure{Outcome::launch_error,
                fmt::format("cublasLt multiplies no matrices of {} in this layout and size",
                            family::name(operation.type))});
  }
  const auto multiply = [&](void* workspace) {
    return chosen->product.multiply(operands, *chosen->algorithm, workspace, stream);
  };
  if (chosen->algorithm->workspace_bytes == 0) return multiply(nullptr);
  const auto where = state(stream);
  return where ? cublas_.with_workspace(*where, stream, multiply) : Unexpected(where.error());
}

std::vector<std::string> CudaExecutor::library_algorithms(const blas::Operation& operation,
                                                          const blas::Addresses& operands) {
  if (!has_lt_algorithms(operation)) return {};
  ensure_context();
  const CaptureBystander bystander(driver_);
  const std::scoped_lock lock(mutex_);
  return lt_algorithms(lt(), operation, operands);
}

Expected<LibraryWork, Failure> CudaExecutor::library_work(const blas::Operation& operation,
                                                          const std::string& algorithm) {
  ensure_context();
  const CaptureBystander bystander(driver_);
  const std::scoped_lock lock(mutex_);
  auto choice = lt_choice(lt(), operation, algorithm);
  if (!choice) return Unexpected(std::move(choice.error()));
  std::string name = choice->product->describe(choice->algorithm);
  const std::size_t workspace_bytes = choice->algorithm.workspace_bytes;
  return LibraryWork{.name = std::move(name),
                     .workspace_bytes = workspace_bytes,
                     .enqueue = [this, operation, its = *std::move(choice)](
                                    const blas::Addresses& operands, void* workspace,
                                    StreamHandle stream) -> Expected<void, Failure> {
                       if (alignment_bytes(operands) < its.algorithm.alignment_bytes) {
                         return run_library(operation, operands, stream);
                       }
                       return its.product->multiply(operands, its.algorithm, workspace, stream);
                     }};
}

}  // namespace

std::unique_ptr<Executor> open_cuda_executor(int ordinal) {
  const CudaDevices devices = find_cuda_devices();
  if (ordinal >= 0 && ordinal < devices.count) return std::make_unique<CudaExecutor>(ordinal);
  throw Error(ErrorCode::no_device,
              devices.count == 0
                  ? fmt::format("{}: {}", devices.problem, devices.remedy)
                  : fmt::format("there is no GPU {}: the driver shows {}, counted from 0", ordinal,
                                devices.count));
}

}  // namespace tuner::backend
