// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cuda_kernel.hpp"

#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/launch_error.hpp"
#include "tuner/backend/match_arguments.hpp"
#include "tuner/core/elf_symbols.hpp"
#include "tuner/core/error.hpp"
#include "tuner/source/compiled_signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tuner::backend {
namespace {

constexpr auto kDynamicSharedLimit = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

/// The runtime has the driver's numbers, so that a failure reads the same whichever reports it.
Expected<void, Failure> attempt_driver(CUresult result) {
  return attempt(static_cast<cudaError_t>(result));
}

}  // namespace

Expected<CudaFunction, Failure> CudaFunction::find(CUlibrary library, const std::string& symbol) {
  const DriverApi& driver = driver_api();
  CudaFunction found;
  CUfunction function = nullptr;
  auto done = attempt_driver(driver.get_kernel(&found.kernel_, library, symbol.c_str()));
  // At once: lazy loading would load it at the first launch.
  if (done) done = attempt_driver(driver.get_function(&function, found.kernel_));
  if (done) done = attempt_driver(driver.load_function(function));
  if (done) done = attempt_driver(driver.current_device(&found.device_));
  if (done) done = found.read_resources();
  if (done) done = found.read_parameters();
  if (!done) return Unexpected(done.error());
  return found;
}

Expected<void, Failure> CudaFunction::read_resources() {
  int registers = 0, static_shared = 0, local = 0, dynamic_shared = 0;
  for (const auto& [value, attribute] : {std::pair(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS),
                                         {&static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
                                         {&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
                                         {&dynamic_shared, kDynamicSharedLimit}}) {
    auto read = attempt_driver(driver_api().get_attribute(value, attribute, kernel_, device_));
    if (!read) return read;
  }
  resources_ = {.registers = registers,
                .static_shared_bytes = static_cast<std::size_t>(static_shared),
                .local_bytes = static_cast<std::size_t>(local)};
  dynamic_shared_limit_ = static_cast<std::size_t>(dynamic_shared);
  return {};
}

Expected<void, Failure> CudaFunction::read_parameters() {
  for (;;) {
    std::size_t offset = 0;
    std::size_t size = 0;
    const CUresult result =
        driver_api().parameter_info(kernel_, parameter_bytes_.size(), &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) return {};  // the index is behind the last
    if (auto done = attempt_driver(result); !done) return done;
    parameter_bytes_.push_back(size);
  }
}

void CudaKernel::Unload::operator()(CUlibrary library) const noexcept {
  driver_api().unload_library(library);
}

Expected<CudaKernel, Failure> CudaKernel::load(const Binary& binary) {
  CudaKernel loaded;
  CUlibrary library = nullptr;
  auto done = attempt_driver(driver_api().load_library(&library, binary.image.data(), nullptr,
                                                       nullptr, 0, nullptr, nullptr, 0));
  if (!done) return Unexpected(done.error());
  loaded.library_.reset(library);
  for (const std::string& symbol : binary.symbols) {
    auto function = CudaFunction::find(library, symbol);
    if (!function) return Unexpected(std::move(function.error()));
    loaded.functions_.push_back(*std::move(function));
  }
  if (auto kept = loaded.keep_variables(binary.image); !kept) return Unexpected(kept.error());
  return loaded;
}

Expected<std::span<std::byte>, Failure> CudaKernel::find_variable(const std::string& name) const {
  const DriverApi& driver = driver_api();
  CUdeviceptr place = 0;
  std::size_t size_bytes = 0;
  auto found = attempt_driver(driver.get_global(&place, &size_bytes, library_.get(), name.c_str()));
  if (!found) {
    found = attempt_driver(driver.get_managed(&place, &size_bytes, library_.get(), name.c_str()));
  }
  if (!found) return Unexpected(found.error());
  return std::span(reinterpret_cast<std::byte*>(place), size_bytes);
}

Expected<void, Failure> CudaKernel::keep_variables(std::span<const std::byte> image) {
  std::size_t size_bytes = 0;
  for (const ElfSymbol& symbol : elf_symbols(image)) {
    if (symbol.kind != ElfSymbol::Kind::variable || !symbol.section.starts_with(".nv.global") ||
        source::is_signature(symbol.name)) {
      continue;
    }
    // What the driver does not find, such as a constant beside the variables, no kernel changes.
    const auto found = find_variable(std::string(symbol.name));
    if (!found || found->empty()) continue;
    variables_.push_back(
        {.place = found->data(), .size_bytes = found->size(), .kept_at = size_bytes});
    size_bytes += found->size();
  }
  if (variables_.empty()) return {};
  try {
    kept_ = make_device_memory(size_bytes);
  } catch (const Error& error) {
    return launch_error(
        fmt::format("the kernel's variables take {} bytes, and so does their first "
                    "content: {}",
                    size_bytes, error.what()));
  }
  for (const auto& [place, size, at] : variables_) {
    auto copied = attempt(cudaMemcpy(kept_.get() + at, place, size, cudaMemcpyDefault));
    if (!copied) return copied;
  }
  // The host does not wait for a copy within the device, nor does the stream of the launches.
  return finish(cudaStreamLegacy);
}

bool CudaKernel::has_changed_variables() const {
  const auto read = [](const std::byte* from, std::size_t size_bytes) {
    std::vector<std::byte> bytes(size_bytes);
    check(cudaMemcpy(bytes.data(), from, size_bytes, cudaMemcpyDefault), "read from the GPU");
    return bytes;
  };
  return std::ranges::any_of(variables_, [&](const Variable& variable) {
    return read(variable.place, variable.size_bytes) !=
           read(kept_.get() + variable.kept_at, variable.size_bytes);
  });
}

Expected<void, Failure> CudaKernel::restore_variables(cudaStream_t stream) const {
  for (const auto& [place, size, at] : variables_) {
    auto copied =
        attempt(cudaMemcpyAsync(place, kept_.get() + at, size, cudaMemcpyDefault, stream));
    if (!copied) return copied;
  }
  return {};
}

Expected<void, Failure> CudaFunction::allow_dynamic_shared(std::size_t size_bytes) {
  if (size_bytes <= dynamic_shared_limit_) return {};
  auto allowed = attempt_driver(driver_api().set_attribute(
      kDynamicSharedLimit, static_cast<int>(size_bytes), kernel_, device_));
  if (allowed) {
    dynamic_shared_limit_ = size_bytes;
  } else if (allowed.error().outcome == Outcome::launch_error) {
    return launch_error(fmt::format(
        "{} bytes of dynamic and {} of static shared memory are more than a block can have",
        size_bytes, resources_.static_shared_bytes));
  }
  return allowed;
}

Expected<void, Failure> CudaKernel::write(const SymbolValue& symbol, cudaStream_t stream) const {
  const auto variable = find_variable(symbol.image_name);
  if (!variable && variable.error().outcome == Outcome::launch_error) {
    return launch_error(fmt::format(
        "the source has no __constant__ or __device__ variable '{}'; a kernel without it "
        "lists the array in its \"arguments\" and takes it by value: {}",
        symbol.name, variable.error().message));
  }
  if (!variable) return Unexpected(variable.error());
  const std::vector<std::byte>& bytes = symbol.value.bytes;
  if (bytes.size() > variable->size()) {
    return launch_error(fmt::format("the variable '{}' has {} bytes, the space file gives it {}",
                                    symbol.name, variable->size(), bytes.size()));
  }
  auto copied = attempt(cudaMemcpyAsync(variable->data(), bytes.data(), bytes.size(),
                                        cudaMemcpyHostToDevice, stream));
  const auto kept = std::ranges::find(variables_, variable->data(), &Variable::place);
  if (copied && kept != variables_.end()) {
    copied = attempt(cudaMemcpyAsync(kept_.get() + kept->kept_at, bytes.data(), bytes.size(),
                                     cudaMemcpyHostToDevice, stream));
  }
  return copied ? finish(stream) : copied;
}

Expected<Enqueue, Failure> CudaFunction::launch(const family::Geometry& geometry,
                                                std::vector<KernelArgument> arguments,
                                                cudaStream_t stream) {
  std::vector<std::size_t> argument_bytes;
  argument_bytes.reserve(arguments.size());
  for (const KernelArgument& argument : arguments) argument_bytes.push_back(argument.size_bytes);
  if (auto done = match_arguments(argument_bytes, parameter_bytes_); !done) {
    return Unexpected(done.error());
  }
  if (auto done = allow_dynamic_shared(geometry.dynamic_shared_bytes); !done) {
    return Unexpected(done.error());
  }
  return Enqueue([=, kernel = kernel_, arguments = std::move(arguments)]() mutable {
    std::vector<void*> addresses;
    for (KernelArgument& argument : arguments) addresses.push_back(argument.address());
    return attempt_driver(
        backend::launch(driver_api(), kernel, geometry, addresses.data(), stream));
  });
}

}  // namespace tuner::backend
