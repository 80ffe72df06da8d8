// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/hot_timer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace tuner::backend {
namespace {

constexpr double kSeries_ns = 200e3;
constexpr double kLongestSeries_ns = 2e6;  // that needs only to go through all copies of the data
constexpr double kShort_ns = 20e3;
constexpr int kFewestRuns = 3;
constexpr int kMostRuns = 500;  // behind the gate, one by one
// The power that the limit refers to is averaged over more than 50 ms (measured on an H200).
constexpr double kLoad_ns = 150e6, kTimed_ns = 50e6;
constexpr double kLoadInTurn_ns = 100e6;  // where other work of this kind was before

/// So many runs, of each piece of work in turn. The series owns them.
Enqueue one_by_one(std::span<const Enqueue> works, int runs) {
  return [all = std::vector(works.begin(), works.end()), runs]() -> Expected<void, Failure> {
    for (int i = 0; i < runs; ++i) {
      if (auto done = all[static_cast<std::size_t>(i) % all.size()](); !done) return done;
    }
    return {};
  };
}

Enqueue one_by_one(const Enqueue& work, int runs) {
  return one_by_one(std::span(&work, 1), runs);
}

}  // namespace

Expected<double, Failure> HotTimer::time(const Enqueue& work) {
  const std::span works(&work, 1);
  if (auto loaded = load_first(works); !loaded) return Unexpected(loaded.error());
  const auto repeated = series(works);
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

Expected<SeriesTime, Failure> HotTimer::time_series(std::span<const Enqueue> works, Lead lead) {
  if (auto loaded = load_first(works); !loaded) return Unexpected(loaded.error());
  const auto repeated = series(works);
  if (!repeated) return Unexpected(repeated.error());
  auto time_ns = time_of_one(*repeated);
  if (time_ns && lead == Lead::load) {
    time_ns = time_under_load(*repeated, *time_ns * repeated->runs, kLoadInTurn_ns);
  }
  if (!time_ns) return Unexpected(time_ns.error());
  return SeriesTime{.time_ns = *time_ns, .runs = repeated->runs};
}

Expected<std::optional<RegimeTimes>, Failure> HotTimer::time_regimes(
    std::span<const Enqueue> works) {
  constexpr auto kPause = std::chrono::milliseconds(300);
  if (auto loaded = load_first(works); !loaded) return Unexpected(loaded.error());
  const auto repeated = series(works);
  if (!repeated) return Unexpected(repeated.error());
  const auto time_ns = time_of_one(*repeated);
  if (!time_ns) return Unexpected(time_ns.error());
  const double series_ns = *time_ns * repeated->runs;
  if (series_ns > kLoad_ns + kTimed_ns) return std::optional<RegimeTimes>();
  std::this_thread::sleep_for(kPause);
  const auto rested_ns = time_of_one(*repeated);
  if (!rested_ns) return Unexpected(rested_ns.error());
  const auto sustained_ns = time_under_load(*repeated, series_ns, kLoad_ns);
  if (!sustained_ns) return Unexpected(sustained_ns.error());
  return std::optional(RegimeTimes{.rested_ns = *rested_ns, .sustained_ns = *sustained_ns});
}

Expected<HotTimer::Load, Failure> HotTimer::load(const Enqueue& work) {
  constexpr double kChunk_ns = 10e6;
  const std::span works(&work, 1);
  if (auto loaded = load_first(works); !loaded) return Unexpected(loaded.error());
  const auto repeated = series(works);
  if (!repeated) return Unexpected(repeated.error());
  const auto run_ns = time_of_one(*repeated);
  if (!run_ns) return Unexpected(run_ns.error());
  const double all_ns = std::max(*run_ns * repeated->runs, 1.0);
  const int times = static_cast<int>(std::ceil(kChunk_ns / all_ns));
  return Load{.enqueue = one_by_one(repeated->enqueue, times),
              .runs = times * repeated->runs,
              .run_ns = *run_ns};
}

Expected<double, Failure> HotTimer::time_under_load(const Series& series, double series_ns,
                                                    double load_ns) {
  const auto fill = [&](double time_ns) {
    return static_cast<int>(std::ceil(time_ns / std::max(series_ns, 1.0)));
  };
  const int load = fill(load_ns), timed = fill(kTimed_ns);
  Expected<void, Failure> enqueued;
  for (int i = 0; enqueued && i < load; ++i) enqueued = series.enqueue();
  if (enqueued) enqueued = attempt(cudaEventRecord(begin_.get(), stream_));
  for (int i = 0; enqueued && i < timed; ++i) enqueued = series.enqueue();
  if (enqueued) enqueued = attempt(cudaEventRecord(end_.get(), stream_));
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  if (!enqueued) return Unexpected(enqueued.error());
  return elapsed_ns(begin_, end_) / (static_cast<double>(timed) * series.runs);
}

Expected<void, Failure> HotTimer::load_first(std::span<const Enqueue> works) {
  for (const Enqueue& work : works) {
    if (auto loaded = work(); !loaded) return loaded;
  }
  return finish(stream_);
}

Expected<HotTimer::Series, Failure> HotTimer::series(std::span<const Enqueue> works) {
  const auto first = [&](int runs) { return Series{one_by_one(works, runs), runs}; };
  const auto filling_ns = time_of_one(first(1));  // the cache
  if (!filling_ns) return Unexpected(filling_ns.error());
  const int copies = static_cast<int>(works.size());
  const int in_time = static_cast<int>(kLongestSeries_ns / std::max(*filling_ns, 1.0));
  if (*filling_ns >= kSeries_ns) return first(std::clamp(in_time, 1, copies));
  const auto estimate_ns = time_of_one(first(kFewestRuns));
  if (!estimate_ns) return Unexpected(estimate_ns.error());
  const int wanted = static_cast<int>(std::ceil(kSeries_ns / std::max(*estimate_ns, 1.0)));
  // Of each copy as many.
  const int runs = std::clamp((std::max(wanted, kFewestRuns) + copies - 1) / copies * copies,
                              copies, std::max(kMostRuns / copies, 1) * copies);
  const Series all = first(runs);
  if (*estimate_ns >= kShort_ns) return all;
  Enqueue graph = capture(all.enqueue);
  return graph ? Series{std::move(graph), runs} : all;
}

Enqueue HotTimer::capture(const Enqueue& series) {
  if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return {};
  const auto enqueued = series();
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
