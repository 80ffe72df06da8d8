// SPDX-License-Identifier: Apache-2.0
// How long it takes to make a Space of each published space and how fast it answers, beside a plain
// brute force. Every count is checked; a wrong one ends the program.
//   space_benchmark --benchmark_repetitions=9 --benchmark_out=results.json
#include "tests/space/published.hpp"
#include "tuner/core/file.hpp"
#include "tuner/space/space.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tuner {
namespace {

/// The brute force takes a minute for this many.
constexpr std::uint64_t kMostByBruteForce = 1'000'000'000;

/// The eight spaces that published solvers are compared on.
constexpr std::array kStandard = {"dedispersion", "expdist",     "hotspot",     "gemm",
                                  "microhh",      "atf_prl_2x2", "atf_prl_4x4", "atf_prl_8x8"};

using DefinitionPtr = std::shared_ptr<const space::SpaceDefinition>;

space::DeviceAttributes device() {
  return space::device_profile("h200")->attributes;
}

Json kernel_of(const space::PublishedSpace& published) {
  const std::string path = fmt::format("{}/spaces/{}.json", TUNER_TEST_DATA, published.name);
  return parse_json(read_file(path, 1 << 20), path)["kernels"][published.name];
}

space::SpaceDefinition parse(const Json& kernel) {
  return space::parse_space_definition(kernel, {"N"}, "benchmark");
}

DefinitionPtr definition_of(const space::PublishedSpace& published) {
  return std::make_shared<const space::SpaceDefinition>(parse(kernel_of(published)));
}

void check(const space::PublishedSpace& published, std::uint64_t count) {
  if (count == published.valid) return;
  fmt::print(stderr, "{}: counted {} valid configurations, not {}\n", published.name, count,
             published.valid);
  std::exit(1);
}

void parsing(benchmark::State& state, const space::PublishedSpace& published) {
  const Json kernel = kernel_of(published);
  for (auto _ : state) benchmark::DoNotOptimize(parse(kernel));
}

/// From a parsed definition to a space that counts, samples and indexes.
void construction(benchmark::State& state, const space::PublishedSpace& published) {
  const DefinitionPtr definition = definition_of(published);
  for (auto _ : state) check(published, space::Space(definition, device(), {}).size());
  state.counters["valid"] = static_cast<double>(published.valid);
}

void construction_of_standard(benchmark::State& state) {
  std::vector<std::pair<space::PublishedSpace, DefinitionPtr>> spaces;
  for (const space::PublishedSpace& published : space::kPublishedSpaces) {
    if (std::ranges::find(kStandard, std::string_view(published.name)) == kStandard.end()) continue;
    spaces.emplace_back(published, definition_of(published));
  }
  for (auto _ : state) {
    for (const auto& [published, definition] : spaces) {
      check(published, space::Space(definition, device(), {}).size());
    }
  }
}

/// Counts by going through the Cartesian product, each constraint compiled.
class BruteForce {
 public:
  explicit BruteForce(const space::SpaceDefinition& definition)
      : definition_(definition), slots_(definition.scope.size()) {
    std::size_t slot = 0;
    for (const space::AttributeField& field : space::attribute_fields())
      slots_[slot++] = device().*field.member;
  }

  std::uint64_t count(std::size_t parameter = 0) {
    if (parameter == definition_.parameters.size()) return is_valid() ? 1 : 0;
    std::uint64_t total = 0;
    for (const space::ParameterValue& value : definition_.parameters[parameter].values) {
      slots_[definition_.parameters[parameter].slot] = value.number;
      total += count(parameter + 1);
    }
    return total;
  }

 private:
  bool is_valid() const {
    return std::ranges::all_of(definition_.constraints, [&](const space::Constraint& constraint) {
      const auto value = constraint.expression.evaluate(slots_);
      return value && *value != 0;
    });
  }

  const space::SpaceDefinition& definition_;
  space::ExpressionValues slots_;
};

void brute_force(benchmark::State& state, const space::PublishedSpace& published) {
  const DefinitionPtr definition = definition_of(published);
  for (auto _ : state) check(published, BruteForce(*definition).count());
  state.counters["combinations"] = static_cast<double>(published.cartesian);
}

/// A space and configurations of it, drawn beforehand.
struct Sampled {
  explicit Sampled(const space::PublishedSpace& published)
      : space(definition_of(published), device(), {}) {
    for (int i = 0; i < 1024; ++i) configs.push_back(space.sample(random));
  }

  const space::Config& next() { return configs[at++ % configs.size()]; }

  space::Space space;
  std::mt19937_64 random{1};
  std::vector<space::Config> configs{};
  std::size_t at = 0;
};

void sampling(benchmark::State& state, const space::PublishedSpace& published) {
  Sampled sampled(published);
  for (auto _ : state) benchmark::DoNotOptimize(sampled.space.sample(sampled.random));
  state.SetItemsProcessed(state.iterations());
}

void position(benchmark::State& state, const space::PublishedSpace& published) {
  Sampled sampled(published);
  for (auto _ : state) benchmark::DoNotOptimize(sampled.space.position(sampled.next()));
  state.SetItemsProcessed(state.iterations());
}

void neighbours(benchmark::State& state, const space::PublishedSpace& published,
                space::Neighbourhood kind) {
  Sampled sampled(published);
  std::int64_t found = 0;
  for (auto _ : state) {
    found += static_cast<std::int64_t>(sampled.space.neighbours(sampled.next(), kind).size());
  }
  state.SetItemsProcessed(found);
}

void random_neighbour(benchmark::State& state, const space::PublishedSpace& published,
                      space::Neighbourhood kind) {
  Sampled sampled(published);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sampled.space.random_neighbour(sampled.next(), kind, sampled.random));
  }
  state.SetItemsProcessed(state.iterations());
}

void register_of(const space::PublishedSpace& published) {
  const auto add = [&](const char* what, auto function, auto... arguments) {
    const std::string name = fmt::format("{}/{}", what, published.name);
    return benchmark::RegisterBenchmark(name.c_str(), function, published, arguments...)
        ->Unit(benchmark::kMicrosecond);
  };
  add("parse", parsing);
  add("construct", construction);
  if (published.cartesian <= kMostByBruteForce) {
    add("brute_force", brute_force);
  } else {
    fmt::print(stderr, "brute_force/{}: left out, {} combinations\n", published.name,
               published.cartesian);
  }
  add("sample", sampling);
  add("position", position);
  add("neighbours_hamming", neighbours, space::Neighbourhood::hamming);
  add("neighbours_adjacent", neighbours, space::Neighbourhood::adjacent);
  add("random_hamming", random_neighbour, space::Neighbourhood::hamming);
  add("random_hamming2", random_neighbour, space::Neighbourhood::hamming2);
}

}  // namespace
}  // namespace tuner

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RegisterBenchmark("construct_standard_eight", tuner::construction_of_standard)
      ->Unit(benchmark::kMillisecond);
  for (const tuner::space::PublishedSpace& published : tuner::space::kPublishedSpaces) {
    tuner::register_of(published);
  }
  return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}
