// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/recorded_work.hpp"

#include <memory>
#include <type_traits>

namespace tuner::backend {
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
