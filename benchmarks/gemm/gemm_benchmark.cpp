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
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/suggest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tuner;
using namespace tuner::gemm_benchmark;

struct Typed {
  std::vector<std::string> suites, sizes;
  std::string database, space = "spaces/gemm.json", json;
  double time_per_shape_s = 1.5;
  int device = 0;
  bool cublas_only = false;
  std::string type;
  std::size_t algorithms = 0;
  bool sustained = false;
};

void declare(CLI::App& app, Typed& typed) {
  app.add_option("--db", typed.database, "Database that holds what `tune` found");
  app.add_option("--space", typed.space, "Space file of the family")->capture_default_str();
  app.add_option("--suite", typed.suites,
                 "Suite of shapes, or one group of it (spaces/suites/fp32.json:skinny)")
      ->type_name("FILE[:GROUP]");
  app.add_option("--size", typed.sizes, "A shape: 1024,1024,1024 or 64,64,64,BATCH=8,TRANS_B=1")
      ->allow_extra_args(false);
  app.add_option("--time-per-shape", typed.time_per_shape_s, "Seconds of timing for each shape")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  app.add_option("--json", typed.json, "Where the figures go");
  app.add_option("--device", typed.device, "GPU, counted from 0")->check(CLI::NonNegativeNumber);
  app.add_flag("--cublas-only", typed.cublas_only,
               "cuBLAS beside cublasLt alone: needs no database");
  app.add_option("--type", typed.type, "TYPE of the shapes that name none: f32, bf16, s8, …");
  app.add_option("--algorithms", typed.algorithms,
                 "Try so many of all algorithms that cublasLt has, beside those that its heuristic "
                 "proposes")
      ->check(CLI::Range(0, 100000));
  app.add_flag("--sustained", typed.sustained,
               "Each under a load of its own, for 50 ms after 100 ms, at least 6 times");
}

std::vector<SuiteShape> shapes(const Typed& typed) {
  std::vector<SuiteShape> all;
  for (const std::string& suite : typed.suites) {
    for (SuiteShape& shape : read_suite(suite)) all.push_back(std::move(shape));
  }
  for (const std::string& size : typed.sizes) {
    all.push_back({.group = "command line", .shape = parse_shape(size)});
  }
  for (SuiteShape& each : all) {
    Shape& shape = each.shape;
    if (typed.type.empty() || type_name(shape) != "f32" || set_type(shape, typed.type)) continue;
    throw Error(ErrorCode::usage, fmt::format("--type: there is no '{}'{}", typed.type,
                                              did_you_mean(typed.type, type_names())));
  }
  if (!all.empty()) return all;
  throw Error(ErrorCode::usage,
              "nothing to measure: name shapes with --suite FILE[:GROUP] or --size M,N,K");
}

/// None when it only asks for help, which is then printed. Throws Error(usage).
std::optional<Options> parse_options(int count, char** arguments) {
  CLI::App app(
      "Times the best configuration that a database has for each shape beside cuBLAS, "
      "cublasLt's first choice and the best of its algorithms, interleaved in one process.",
      "gemm_benchmark");
  Typed typed;
  declare(app, typed);
  try {
    app.parse(count, arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage, fmt::format("{}; see gemm_benchmark --help", error.what()));
  }
  if (typed.database.empty() != typed.cublas_only) {
    throw Error(ErrorCode::usage,
                "either --db FILE, which holds what `tune` found, or --cublas-only, which compares "
                "the libraries with each other");
  }
  Options options{.shapes = shapes(typed),
                  .database = {},
                  .space = typed.space,
                  .json = {},
                  .time_per_shape_s = typed.time_per_shape_s,
                  .device = typed.device,
                  .algorithms = typed.algorithms,
                  .regime = typed.sustained ? Regime::sustained : Regime::alternating};
  if (!typed.database.empty()) options.database = typed.database;
  if (!typed.json.empty()) options.json = typed.json;
  return options;
}

bool is_good(const ShapeResult& result) {
  return !result.contenders.empty() && (!result.worst_difference || *result.worst_difference <= 1);
}

int run(const Options& options) {
  Benchmark benchmark(options);
  BenchmarkResult result{
      .run = benchmark.run_info(), .shapes = {}, .sustained = options.regime == Regime::sustained};
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
