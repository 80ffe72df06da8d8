// SPDX-License-Identifier: Apache-2.0
// How fast what `tune` found is beside the libraries: our stored best, its kernel's default
// configuration, cuBLAS, what cublasLt's heuristic proposes first and the best of its algorithms,
// interleaved in one process, from operands that are not in the cache.
//
//   gemm_benchmark --db tune.sqlite --suite spaces/suites/fp32.json --json figures.json
//   gemm_benchmark --cublas-only --size 4096,4096,4096,TYPE=bf16 --algorithms 200
//
// Exits with 0 when all was measured, 1 when a result is wrong or a shape could not be measured, 3
// (nothing printed but why) when there is no GPU.
#include "benchmarks/gemm/benchmark.hpp"
#include "benchmarks/gemm/result_json.hpp"
#include "benchmarks/gemm/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace {

using namespace tuner;
using namespace tuner::gemm_benchmark;

bool is_good(const ShapeResult& result) {
  return !result.contenders.empty() && (!result.worst_difference || *result.worst_difference <= 1);
}

int run(const Options& options) {
  Benchmark benchmark(options);
  BenchmarkResult result{.run = benchmark.run_info(), .shapes = {}};
  for (const SuiteShape& shape : options.shapes) {
    fmt::print(stderr, "{} of {}: {}\n", result.shapes.size() + 1, options.shapes.size(),
               display(shape.shape));
    result.shapes.push_back(benchmark.measure(shape));
    // After every shape, so that a run which is cut short leaves what it has.
    if (options.json) write_file(*options.json, result_json(result));
  }
  fmt::print("{}", table(result));
  return std::ranges::all_of(result.shapes, is_good) ? 0 : static_cast<int>(ErrorCode::failure);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto options = parse_options(count, arguments);
    return options ? run(*options) : 0;
  } catch (const Error& error) {
    fmt::print(stderr, "gemm_benchmark: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm_benchmark: {}\n", error.what());
    return static_cast<int>(ErrorCode::failure);
  }
}
