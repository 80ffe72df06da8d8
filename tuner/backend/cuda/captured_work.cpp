// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/captured_work.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <type_traits>

namespace tuner::backend {
namespace {

bool holds_address(const std::byte* value, std::size_t size_bytes, CUdeviceptr begin,
                   std::size_t memory_bytes) {
  for (std::size_t i = 0; i + sizeof(CUdeviceptr) <= size_bytes; i += sizeof(std::uint32_t)) {
    CUdeviceptr word = 0;
    std::memcpy(&word, value + i, sizeof word);
    if (word - begin < memory_bytes) return true;
  }
  return false;
}

}  // namespace

CapturedWork::CapturedWork(const DriverApi& driver, CUstream stream)
    : driver_(driver), stream_(stream), before_(latest()) {}

std::optional<CapturedWork::Nodes> CapturedWork::latest() const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  if (driver_.captured_last(stream_, &status, nullptr, nullptr, &nodes, &edges, &count) !=
      CUDA_SUCCESS) {
    return std::nullopt;
  }
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return Nodes();
  return Nodes(nodes, nodes + count);
}

std::optional<CapturedWork::Nodes> CapturedWork::dependencies(CUgraphNode node) const {
  std::size_t count = 0;
  auto read = driver_.node_dependencies(node, nullptr, nullptr, &count);
  Nodes nodes(count);
  std::vector<CUgraphEdgeData> edges(count);  // programmatic ones are only told with their data
  if (read == CUDA_SUCCESS && count != 0) {
    read = driver_.node_dependencies(node, nodes.data(), edges.data(), &count);
  }
  if (read != CUDA_SUCCESS) return std::nullopt;
  return nodes;
}

bool CapturedWork::node_may_use(CUgraphNode node, CUdeviceptr begin, std::size_t size_bytes) const {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  if (driver_.node_type(node, &type) != CUDA_SUCCESS) return true;
  if (type == CU_GRAPH_NODE_TYPE_EMPTY) return false;
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  if (type != CU_GRAPH_NODE_TYPE_KERNEL || driver_.kernel_node(node, &kernel) != CUDA_SUCCESS ||
      kernel.extra != nullptr) {
    return true;
  }
  for (std::size_t i = 0;; ++i) {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    const CUresult read = kernel.func != nullptr
                              ? driver_.function_parameter(kernel.func, i, &offset, &bytes)
                              : driver_.parameter_info(kernel.kern, i, &offset, &bytes);
    if (read == CUDA_ERROR_INVALID_VALUE && i != 0) return false;  // behind the last one
    if (read != CUDA_SUCCESS || kernel.kernelParams == nullptr) return true;
    const auto* const value = static_cast<const std::byte*>(kernel.kernelParams[i]);
    if (holds_address(value, bytes, begin, size_bytes)) return true;
  }
}

bool CapturedWork::may_use(CUdeviceptr begin, std::size_t size_bytes) const {
  auto open = latest();
  if (!before_ || !open) return true;
  std::set<CUgraphNode> seen(before_->begin(), before_->end());
  while (!open->empty()) {
    CUgraphNode const node = open->back();
    open->pop_back();
    if (!seen.insert(node).second) continue;
    if (node_may_use(node, begin, size_bytes)) return true;
    const auto earlier = dependencies(node);
    if (!earlier) return true;
    open->insert(open->end(), earlier->begin(), earlier->end());
  }
  return false;
}

namespace {

using CaptureStream = std::unique_ptr<std::remove_pointer_t<CUstream>, PFN_cuStreamDestroy_v4000>;
using CapturedGraph = std::unique_ptr<std::remove_pointer_t<CUgraph>, PFN_cuGraphDestroy_v10000>;

Expected<CapturedGraph, Failure> capture(const DriverApi& driver, CUstream stream,
                                         const StreamWork& work) {
  const auto begun = attempt(driver, driver.begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  if (!begun) return Unexpected(begun.error());
  const auto done = work(stream);
  CUgraph graph = nullptr;
  const auto ended = attempt(driver, driver.end_capture(stream, &graph));
  CapturedGraph captured(graph, driver.destroy_graph);
  if (!done) return Unexpected(done.error());
  if (!ended) return Unexpected(ended.error());
  return captured;
}

}  // namespace

Expected<StreamWork, Failure> record_work(const DriverApi& driver, const StreamWork& work) {
  CUstream made = nullptr;
  auto done = attempt(driver, driver.create_stream(&made, CU_STREAM_NON_BLOCKING));
  if (!done) return Unexpected(done.error());
  const CaptureStream stream(made, driver.destroy_stream);
  const auto graph = capture(driver, stream.get(), work);
  if (!graph) return Unexpected(graph.error());
  CUgraphExec instance = nullptr;
  done = attempt(driver, driver.instantiate_graph(&instance, graph->get(), 0));
  if (!done) return Unexpected(done.error());
  const std::shared_ptr<std::remove_pointer_t<CUgraphExec>> recorded(instance,
                                                                     driver.destroy_instance);
  return StreamWork([&driver, recorded](StreamHandle where) {
    return attempt(driver, driver.launch_graph(recorded.get(), where));
  });
}

}  // namespace tuner::backend
