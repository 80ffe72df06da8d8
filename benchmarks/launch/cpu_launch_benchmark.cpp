// SPDX-License-Identifier: Apache-2.0
// What the cpu backend adds to a kernel that does nothing, as `tune` times it: from a cold cache,
// with arguments like those of a GEMM. A row for blocks of one thread, which are called directly,
// as many as there are cores, and blocks of 256 threads.
//   cpu_launch_benchmark [SAMPLES] [MOST_NS]
// With MOST_NS the exit code is 1 when the median of one block of one thread is longer.
#include "tuner/backend/cpu/cpu_backend.hpp"
#include "tuner/measure/statistics.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace tuner {
namespace {

backend::KernelId load_empty(backend::Backend& backend) {
  family::CompileJob job;
  job.source = {.name = "empty.cu",
                .text =
                    "__global__ void empty(int m, int n, int k, float alpha, const float* a, "
                    "const float* b, float* c) {}",
                .headers = {}};
  job.entries = {"empty"};
  const auto binary = backend.compiler().compile(job);
  if (!binary) throw std::runtime_error(binary.error().message);
  const auto kernel = backend.load(*binary);
  if (!kernel) throw std::runtime_error(kernel.error().message);
  return *kernel;
}

/// Lower quartile, median and upper quartile of the cold times.
TimeSummary cold_ns(backend::Backend& backend, const backend::Launch& launch, int samples) {
  const auto timed = backend.time(launch, {.warm_up = 10, .samples = samples});
  if (!timed) throw std::runtime_error(timed.error().message);
  std::vector<double> times_ns;
  for (const backend::Sample& sample : *timed) times_ns.push_back(sample.time_ns);
  return *measure::summarise(times_ns);
}

int run(int samples, double most_ns) {
  const auto backend = backend::open_cpu_backend();
  const backend::KernelId kernel = load_empty(*backend);
  const backend::BufferId buffer = backend->allocate(4096);
  const auto cores = static_cast<std::uint32_t>(backend->device().attributes.sm_count);
  fmt::print("{}, {} cores: an empty kernel, ns\n", backend->device().name, cores);
  fmt::print("{:>8} {:>8} {:>12} {:>12} {:>12}\n", "blocks", "threads", "quartile", "median",
             "quartile");
  double direct_ns = 0;
  for (const auto& [blocks, threads] : {std::pair{1U, 1U}, {cores, 1U}, {1U, 256U}, {64U, 256U}}) {
    const backend::Launch launch{
        .kernel = kernel,
        .steps = {{.geometry = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}},
                   .arguments = {family::Scalar(std::int32_t{1}), family::Scalar(std::int32_t{1}),
                                 family::Scalar(std::int32_t{1}), family::Scalar(1.0F), buffer,
                                 buffer, buffer}}}};
    const TimeSummary time = cold_ns(*backend, launch, samples);
    if (direct_ns == 0) direct_ns = time.median_ns;
    fmt::print("{:>8} {:>8} {:>12.0f} {:>12.0f} {:>12.0f}\n", blocks, threads, time.q1_ns,
               time.median_ns, time.q3_ns);
  }
  if (most_ns <= 0 || direct_ns <= most_ns) return 0;
  fmt::print("one block of one thread takes longer than {} ns\n", most_ns);
  return 1;
}

}  // namespace
}  // namespace tuner

int main(int argc, char** argv) {
  try {
    return tuner::run(argc > 1 ? std::atoi(argv[1]) : 1000, argc > 2 ? std::atof(argv[2]) : 0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
