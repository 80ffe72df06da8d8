// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/hot_timer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>

namespace tuner::backend {
namespace {

constexpr double kSeries_ns = 200e3;
constexpr double kShort_ns = 20e3;
constexpr int kFewestRuns = 3;
constexpr int kMostRuns = 500;  // behind the gate, one by one

Enqueue one_by_one(const Enqueue& work, int runs) {
  return [=]() -> Expected<void, Failure> {
    for (int i = 0; i < runs; ++i) {
      if (auto done = work(); !done) return done;
    }
    return {};
  };
}

}  // namespace

Expected<double, Failure> HotTimer::time(const Enqueue& work) {
  // What a first run has to load must not be loaded behind the closed gate.
  if (auto loaded = work(); !loaded) return Unexpected(loaded.error());
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  const auto repeated = series(work);
  if (!repeated) return Unexpected(repeated.error());
  std::array<double, 5> times_ns{};
  for (double& time_ns : times_ns) {
    auto timed = time_of_one(*repeated);
    if (!timed) return timed;
    time_ns = *timed;
  }
  std::ranges::sort(times_ns);
  return times_ns[times_ns.size() / 2];
}

Expected<std::optional<RegimeTimes>, Failure> HotTimer::time_regimes(const Enqueue& work) {
  // The power that the limit refers to is averaged over more than 50 ms (measured on an H200).
  constexpr auto kPause = std::chrono::milliseconds(300);
  constexpr double kLoad_ns = 150e6, kTimed_ns = 50e6;
  if (auto loaded = work(); !loaded) return Unexpected(loaded.error());
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  const auto repeated = series(work);
  if (!repeated) return Unexpected(repeated.error());
  const auto series_ns = time_of_one(*repeated);
  if (!series_ns) return Unexpected(series_ns.error());
  const double all_ns = std::max(*series_ns * repeated->runs, 1.0);
  if (all_ns > kLoad_ns + kTimed_ns) return std::optional<RegimeTimes>();
  std::this_thread::sleep_for(kPause);
  const auto rested_ns = time_of_one(*repeated);
  if (!rested_ns) return Unexpected(rested_ns.error());
  const auto sustained_ns =
      time_under_load(*repeated, static_cast<int>(std::ceil(kLoad_ns / all_ns)),
                      static_cast<int>(std::ceil(kTimed_ns / all_ns)));
  if (!sustained_ns) return Unexpected(sustained_ns.error());
  return std::optional(RegimeTimes{.rested_ns = *rested_ns, .sustained_ns = *sustained_ns});
}

Expected<HotTimer::Load, Failure> HotTimer::load(const Enqueue& work) {
  constexpr double kLoad_ns = 10e6;
  if (auto loaded = work(); !loaded) return Unexpected(loaded.error());
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  const auto repeated = series(work);
  if (!repeated) return Unexpected(repeated.error());
  const auto run_ns = time_of_one(*repeated);
  if (!run_ns) return Unexpected(run_ns.error());
  const double all_ns = std::max(*run_ns * repeated->runs, 1.0);
  const int times = static_cast<int>(std::ceil(kLoad_ns / all_ns));
  return Load{.enqueue = one_by_one(repeated->enqueue, times),
              .runs = times * repeated->runs,
              .run_ns = *run_ns};
}

Expected<double, Failure> HotTimer::time_under_load(const Series& series, int load, int timed) {
  Expected<void, Failure> enqueued;
  for (int i = 0; enqueued && i < load; ++i) enqueued = series.enqueue();
  if (enqueued) enqueued = attempt(cudaEventRecord(begin_.get(), stream_));
  for (int i = 0; enqueued && i < timed; ++i) enqueued = series.enqueue();
  if (enqueued) enqueued = attempt(cudaEventRecord(end_.get(), stream_));
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  if (!enqueued) return Unexpected(enqueued.error());
  return elapsed_ns(begin_, end_) / (static_cast<double>(timed) * series.runs);
}

Expected<HotTimer::Series, Failure> HotTimer::series(const Enqueue& work) {
  const Series single{.enqueue = work, .runs = 1};
  const Series few{.enqueue = one_by_one(work, kFewestRuns), .runs = kFewestRuns};
  const auto filling_ns = time_of_one(single);  // the cache
  if (!filling_ns) return Unexpected(filling_ns.error());
  if (*filling_ns >= kSeries_ns) return single;
  const auto estimate_ns = time_of_one(few);
  if (!estimate_ns) return Unexpected(estimate_ns.error());
  const double wanted = std::ceil(kSeries_ns / std::max(*estimate_ns, 1.0));
  const int runs = static_cast<int>(std::clamp<double>(wanted, kFewestRuns, kMostRuns));
  if (*estimate_ns < kShort_ns) {
    if (Enqueue graph = capture(work, runs)) return Series{std::move(graph), runs};
  }
  return Series{one_by_one(work, runs), runs};
}

Enqueue HotTimer::capture(const Enqueue& work, int runs) {
  if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return {};
  const auto enqueued = one_by_one(work, runs)();
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream_, &captured);
  const Graph graph(captured);
  cudaGraphExec_t ready = nullptr;
  if (!enqueued || ended != cudaSuccess ||
      cudaGraphInstantiate(&ready, captured, 0) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  const std::shared_ptr<GraphExec> owner = std::make_shared<GraphExec>(ready);
  static_cast<void>(attempt(cudaGraphUpload(ready, stream_)));
  return [owner, stream = stream_] { return attempt(cudaGraphLaunch(owner->get(), stream)); };
}

Expected<double, Failure> HotTimer::time_of_one(const Series& series) {
  if (auto closed = gate_.close(); !closed) return Unexpected(closed.error());
  auto enqueued = attempt(cudaEventRecord(begin_.get(), stream_));
  if (enqueued) enqueued = series.enqueue();
  if (enqueued) enqueued = attempt(cudaEventRecord(end_.get(), stream_));
  gate_.open();
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  if (!enqueued) return Unexpected(enqueued.error());
  return elapsed_ns(begin_, end_) / series.runs;
}

}  // namespace tuner::backend
