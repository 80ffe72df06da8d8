// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/graph.hpp"

#include "benchmarks/gemm/kernel_name.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cudaTypedefs.h>

namespace tuner::gemm_benchmark {
namespace {

/// A function of the driver, reached through the runtime; null where it has none of that version.
template <class Function>
Function driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
  if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
  return result == cudaSuccess && found == cudaDriverEntryPointSuccess
             ? reinterpret_cast<Function>(function)
             : nullptr;
}

/// The runtime would answer only for kernels that this program registered with it, which the
/// library's are not.
std::string kernel_name(cudaGraphNode_t node) {
  static const auto parameters_of =
      driver_function<PFN_cuGraphKernelNodeGetParams_v12000>("cuGraphKernelNodeGetParams", 12000);
  static const auto function_name =
      driver_function<PFN_cuFuncGetName_v12030>("cuFuncGetName", 12030);
  static const auto name_of_kernel =
      driver_function<PFN_cuKernelGetName_v12030>("cuKernelGetName", 12030);
  if (parameters_of == nullptr || function_name == nullptr || name_of_kernel == nullptr) return {};
  CUDA_KERNEL_NODE_PARAMS parameters{};
  if (parameters_of(node, &parameters) != CUDA_SUCCESS) return {};
  const char* name = nullptr;
  const CUresult named = parameters.func != nullptr ? function_name(&name, parameters.func)
                                                    : name_of_kernel(&name, parameters.kern);
  return named == CUDA_SUCCESS && name != nullptr ? short_kernel_name(name) : std::string();
}

}  // namespace

backend::Graph capture(const LaunchOn& launch, const std::vector<std::size_t>& sets,
                       cudaStream_t stream) {
  backend::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin a graph");
  Expected<void, Failure> enqueued;
  for (const std::size_t set : sets) {
    enqueued = launch(set);
    if (!enqueued) break;
  }
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &captured);
  backend::Graph graph(captured);
  if (!enqueued) {
    static_cast<void>(cudaGetLastError());
    throw Error(ErrorCode::failure,
                fmt::format("a launch cannot be captured: {}", enqueued.error().message));
  }
  backend::check(ended, "capture launches");
  return graph;
}

backend::GraphExec instantiate(const backend::Graph& graph, cudaStream_t stream) {
  cudaGraphExec_t ready = nullptr;
  backend::check(cudaGraphInstantiate(&ready, graph.get(), 0), "make a graph ready");
  backend::GraphExec owner(ready);
  backend::check(cudaGraphUpload(ready, stream), "upload a graph");
  return owner;
}

std::string kernel_names(const backend::Graph& graph) {
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph.get(), nullptr, &count) != cudaSuccess) return {};
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph.get(), nodes.data(), &count) != cudaSuccess) return {};
  std::vector<std::string> names;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess || type != cudaGraphNodeTypeKernel) {
      continue;
    }
    if (std::string name = kernel_name(node); !name.empty()) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, " + "));
}

}  // namespace tuner::gemm_benchmark
