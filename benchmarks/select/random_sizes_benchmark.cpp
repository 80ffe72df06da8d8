// SPDX-License-Identifier: Apache-2.0
// How well does the dispatcher choose for sizes that were never tuned? Random matrix products, each
// dispatched call beside cublasSgemm, interleaved in one process, from operands that are not in the
// cache.
//
//   random_sizes_benchmark --db tune.sqlite --json figures.json
//
// with the best kernel where the library was chosen (--kernels-too), or with choices by measurement
// (--measured), and what choosing costs beside
// tuning the very size, at the first 20 of them:
//
//   random_sizes_benchmark --write-sizes random.json
//   tune --space spaces/gemm.json --sizes random.json:regret --db tuned.sqlite
//   random_sizes_benchmark --db tune.sqlite --tuned tuned.sqlite --json figures.json
//
// Exits with 0 when all was measured, 1 when a result is wrong or a size could not be measured, 3
// (nothing printed but why) when there is no GPU.
#include "benchmarks/gemm/contender.hpp"
#include "benchmarks/gemm/gpu.hpp"
#include "benchmarks/gemm/library_contenders.hpp"
#include "benchmarks/gemm/rounds.hpp"
#include "benchmarks/select/choice.hpp"
#include "benchmarks/select/dispatched_contender.hpp"
#include "benchmarks/select/kernels_alone.hpp"
#include "benchmarks/select/random_options.hpp"
#include "benchmarks/select/random_sizes.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace {

using namespace tuner;
using namespace tuner::gemm_benchmark;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A dispatcher and how it is prepared for the sizes, as far as it is asked for them.
class Prepared {
 public:
  Prepared(const Table& table, int device, std::span<const Shape> shapes,
           ChooseBy choose_by = ChooseBy::expectation)
      : dispatcher_(table, {.device = device}) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Size> sizes;
    for (const Shape& shape : shapes) sizes.push_back({shape.m, shape.n, shape.k});
    preparations_ = dispatcher_.prepare(dispatcher_.family("gemm"), sizes, choose_by);
    fmt::print(stderr, "{} sizes prepared in {:.1f} s\n", sizes.size(), seconds_since(begin));
  }

  [[nodiscard]] Dispatcher& dispatcher() { return dispatcher_; }
  [[nodiscard]] std::size_t count() const { return preparations_.size(); }
  [[nodiscard]] const Preparation& at(std::size_t index) const { return preparations_[index]; }

 private:
  Dispatcher dispatcher_;
  std::vector<Preparation> preparations_;
};

class Benchmark {
 public:
  Benchmark(const RandomOptions& options, std::span<const Shape> shapes)
      : options_(options),
        gpu_(options.device),
        clock_(gpu_.device().uuid),
        cublas_(gpu_.stream()),
        dispatched_(*options.table, options.device, shapes, options.choose_by) {
    if (options.kernels_too) {
      kernels_.emplace(kernels_alone(*options.database, gpu_.device().name), options.device,
                       shapes);
    }
    if (options.tuned) {
      retuned_.emplace(*options.tuned, options.device,
                       shapes.first(std::min(kRegretSizes, shapes.size())));
    }
  }

  [[nodiscard]] RunInfo run_info() { return gemm_benchmark::run_info(gpu_, cublas_.version()); }

  [[nodiscard]] Choice measure(const Shape& shape, std::size_t index) {
    Choice choice{.shape = shape, .answer = dispatched_.at(index).answer};
    try {
      measure_into(choice, index);
    } catch (const Error& error) {
      choice.notes.push_back(fmt::format("not measured: {}", error.what()));
    }
    return choice;
  }

 private:
  void measure_into(Choice& choice, std::size_t index) {
    if (!choice.answer) {
      choice.notes.push_back(dispatched_.at(index).error);
      return;
    }
    const std::size_t sets = operand_sets(choice.shape, gpu_.device().attributes.l2_bytes);
    Operands operands(gpu_, choice.shape, sets);
    const std::vector<Contender> contenders = add_contenders(choice, index, operands);
    double fastest_ns = std::numeric_limits<double>::infinity();
    for (const Contender& contender : contenders) {
      require(contender.launch(0), fmt::format("launch {}", name(contender.role)));
      fastest_ns = std::min(fastest_ns, probe(contender, sets, gpu_).value_or(fastest_ns));
    }
    choice.worst_difference = operands.worst_difference(contenders[0].launch, contenders[1].launch);
    require_kernel_in_graphs(contenders.front(), *choice.answer);
    warm_up(contenders, sets, gpu_);
    const RoundTimes times = Rounds(contenders, plan_series(fastest_ns, sets), sets, gpu_, clock_)
                                 .run(options_.time_per_size_s);
    add_times(choice, contenders, times);
  }

  /// The dispatched call first, then cublasSgemm, then who else there is.
  [[nodiscard]] std::vector<Contender> add_contenders(Choice& choice, std::size_t index,
                                                      const Operands& operands) {
    const auto by = [&](Role role, Prepared& prepared) {
      return dispatched_contender(role, prepared.dispatcher(), choice.shape, operands,
                                  gpu_.stream());
    };
    std::vector<Contender> all{by(Role::dispatched, dispatched_),
                               cublas_.contender(choice.shape, operands)};
    if (kernels_ && choice.answer->rung == Rung::library && has_kernel(kernels_->at(index))) {
      all.push_back(by(Role::kernel, *kernels_));
    }
    if (!retuned_ || index >= retuned_->count()) return all;
    const auto& answer = retuned_->at(index).answer;
    if (answer && (answer->rung == Rung::exact || answer->rung == Rung::library)) {
      all.push_back(by(Role::retuned, *retuned_));
    } else {
      choice.notes.emplace_back("no regret: not tuned in the database of --tuned");
    }
    return all;
  }

  /// While a stream is captured a dispatcher may fall back on the library without a word.
  void require_kernel_in_graphs(const Contender& dispatched, const Answer& answer) {
    dispatched.before_capture();
    const std::string launched = kernel_names(capture(dispatched.launch, {0}, gpu_.stream()));
    if (launched.empty() || launched.find(answer.kernel) != std::string::npos) return;
    throw Error(ErrorCode::failure,
                fmt::format("{} was chosen, but {} runs in a graph", answer.kernel, launched));
  }

  [[nodiscard]] static bool has_kernel(const Preparation& preparation) {
    return preparation.answer && preparation.answer->rung != Rung::library;
  }

  static void add_times(Choice& choice, const std::vector<Contender>& contenders,
                        const RoundTimes& times) {
    const std::vector<double>& dispatched = times.times_ns[0];
    const std::vector<double>& cublas = times.times_ns[1];
    choice.dispatched_ns = tuner::measure::summarise(dispatched);
    choice.cublas_ns = tuner::measure::summarise(cublas);
    choice.to_cublas = measure::median_interval(measure::paired_ratios(dispatched, cublas));
    for (std::size_t i = 2; i < contenders.size(); ++i) {
      const std::vector<double>& other = times.times_ns[i];
      if (contenders[i].role == Role::kernel) {
        choice.kernel_to_cublas = measure::median_interval(measure::paired_ratios(other, cublas));
      } else {
        choice.retuned_ns = tuner::measure::summarise(other);
        choice.regret = measure::median_interval(measure::paired_ratios(dispatched, other));
      }
    }
  }

  RandomOptions options_;
  Gpu gpu_;
  SmClock clock_;
  CublasContenders cublas_;
  Prepared dispatched_;
  std::optional<Prepared> kernels_;  // without the library
  std::optional<Prepared> retuned_;
};

int measure(const RandomOptions& options, std::span<const Shape> shapes) {
  Benchmark benchmark(options, shapes);
  RandomSizesResult result{.run = benchmark.run_info(), .seed = options.seed, .choices = {}};
  const auto begin = std::chrono::steady_clock::now();
  for (const Shape& shape : shapes) {
    const std::size_t index = result.choices.size();
    if (index % 20 == 0) {
      fmt::print(stderr, "{} of {} sizes, {:.0f} s\n", index, shapes.size(), seconds_since(begin));
      // Now and then, so that a run which is cut short leaves what it has.
      if (options.json) write_file(*options.json, choices_json(result));
    }
    result.choices.push_back(benchmark.measure(shape, index));
  }
  if (options.json) write_file(*options.json, choices_json(result));
  fmt::print("{}", table(result));
  return std::ranges::all_of(result.choices, is_good) ? 0 : static_cast<int>(ErrorCode::failure);
}

int run(const RandomOptions& options) {
  const std::vector<Shape> shapes = random_shapes(options.count, options.seed);
  if (!options.write_sizes) return measure(options, shapes);
  write_file(*options.write_sizes, random_suite(shapes, options.seed));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto options = parse_random_options(count, arguments);
    return options ? run(*options) : 0;
  } catch (const Error& error) {
    fmt::print(stderr, "random_sizes_benchmark: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_sizes_benchmark: {}\n", error.what());
    return static_cast<int>(ErrorCode::failure);
  }
}
