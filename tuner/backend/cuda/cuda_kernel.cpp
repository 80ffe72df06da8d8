// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cuda_kernel.hpp"

#include "tuner/backend/launch_error.hpp"
#include "tuner/backend/match_arguments.hpp"
#include "tuner/core/elf_symbols.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tuner::backend {
namespace {

Expected<std::vector<std::size_t>, Failure> parameter_sizes(const void* function) {
  std::vector<std::size_t> sizes;
  for (;;) {
    std::size_t offset = 0;
    std::size_t size = 0;
    const cudaError_t result = cudaFuncGetParamInfo(function, sizes.size(), &offset, &size);
    const bool is_behind_the_last = result == cudaErrorInvalidValue;
    if (auto done = attempt(result); !done && !is_behind_the_last) return Unexpected(done.error());
    if (is_behind_the_last) return sizes;
    sizes.push_back(size);
  }
}

}  // namespace

Expected<CudaFunction, Failure> CudaFunction::find(cudaLibrary_t library,
                                                   const std::string& symbol) {
  CudaFunction found;
  if (auto done = attempt(cudaLibraryGetKernel(&found.kernel_, library, symbol.c_str())); !done) {
    return Unexpected(done.error());
  }
  cudaFuncAttributes attributes{};
  if (auto done = attempt(cudaFuncGetAttributes(&attributes, found.function())); !done) {
    return Unexpected(done.error());
  }
  found.resources_ = {.registers = attributes.numRegs,
                      .static_shared_bytes = attributes.sharedSizeBytes,
                      .local_bytes = attributes.localSizeBytes};
  found.dynamic_shared_limit_ = static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes);
  auto parameters = parameter_sizes(found.function());
  if (!parameters) return Unexpected(parameters.error());
  found.parameter_bytes_ = *std::move(parameters);
  return found;
}

Expected<CudaKernel, Failure> CudaKernel::load(const Binary& binary) {
  CudaKernel loaded;
  cudaLibrary_t library = nullptr;
  if (auto done = attempt(cudaLibraryLoadData(&library, binary.image.data(), nullptr, nullptr, 0,
                                              nullptr, nullptr, 0));
      !done) {
    return Unexpected(done.error());
  }
  loaded.library_.reset(library);
  for (const std::string& symbol : binary.symbols) {
    auto function = CudaFunction::find(library, symbol);
    if (!function) return Unexpected(std::move(function.error()));
    loaded.functions_.push_back(*std::move(function));
  }
  if (auto kept = loaded.keep_variables(binary.image); !kept) return Unexpected(kept.error());
  return loaded;
}

Expected<void, Failure> CudaKernel::keep_variables(std::span<const std::byte> image) {
  std::size_t size_bytes = 0;
  for (const ElfSymbol& symbol : elf_symbols(image)) {
    if (symbol.kind != ElfSymbol::Kind::variable || !symbol.section.starts_with(".nv.global")) {
      continue;
    }
    void* place = nullptr;
    std::size_t size = 0;
    const std::string name(symbol.name);
    auto found = attempt(cudaLibraryGetGlobal(&place, &size, library_.get(), name.c_str()));
    if (!found) found = attempt(cudaLibraryGetManaged(&place, &size, library_.get(), name.c_str()));
    // What the runtime does not find, such as a constant beside the variables, no kernel changes.
    if (!found || size == 0) continue;
    variables_.push_back(
        {.place = static_cast<std::byte*>(place), .size_bytes = size, .kept_at = size_bytes});
    size_bytes += size;
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
  auto allowed = attempt(cudaFuncSetAttribute(
      function(), cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(size_bytes)));
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
  void* variable = nullptr;
  std::size_t size_bytes = 0;
  auto found = attempt(
      cudaLibraryGetGlobal(&variable, &size_bytes, library_.get(), symbol.image_name.c_str()));
  if (!found && found.error().outcome == Outcome::launch_error) {
    return launch_error(fmt::format(
        "the source has no __constant__ or __device__ variable '{}'; a kernel without it "
        "lists the array in its \"arguments\" and takes it by value: {}",
        symbol.name, found.error().message));
  }
  if (!found) return found;
  const std::vector<std::byte>& bytes = symbol.value.bytes;
  if (bytes.size() > size_bytes) {
    return launch_error(fmt::format("the variable '{}' has {} bytes, the space file gives it {}",
                                    symbol.name, size_bytes, bytes.size()));
  }
  auto copied = attempt(
      cudaMemcpyAsync(variable, bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream));
  const auto kept = std::ranges::find(variables_, variable, &Variable::place);
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
  const dim3 grid(geometry.grid[0], geometry.grid[1], geometry.grid[2]);
  const dim3 block(geometry.block[0], geometry.block[1], geometry.block[2]);
  return Enqueue([=, function = function(), arguments = std::move(arguments)]() mutable {
    std::vector<void*> addresses;
    for (KernelArgument& argument : arguments) addresses.push_back(argument.address());
    cudaLaunchAttribute serialization{};
    serialization.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serialization.val.programmaticStreamSerializationAllowed = 1;
    const cudaLaunchConfig_t configuration{.gridDim = grid,
                                           .blockDim = block,
                                           .dynamicSmemBytes = geometry.dynamic_shared_bytes,
                                           .stream = stream,
                                           .attrs = &serialization,
                                           .numAttrs = geometry.programmatic ? 1U : 0U};
    return attempt(cudaLaunchKernelExC(&configuration, function, addresses.data()));
  });
}

}  // namespace tuner::backend
