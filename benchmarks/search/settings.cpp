// SPDX-License-Identifier: Apache-2.0
// The settings of `auto` and their neighbours on recorded spaces, and what choosing among them
// promises on spaces that had no say: for each kernel, and for each device, the settings that are
// best on all the others are scored on its own.
//
//   search_settings SEEDS JOBS RECORDING…
#include "tuner/interop/recording_file.hpp"
#include "tuner/lab/replay.hpp"
#include "tuner/search/bayesian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tuner;

struct Variant {
  std::string name;
  search::BayesianSettings settings;
};

std::vector<Variant> variants() {
  std::vector<Variant> all{{"as shipped", {}}};
  const auto add = [&](std::string name,
                       const std::function<void(search::BayesianSettings&)>& change) {
    all.push_back({std::move(name), {}});
    change(all.back().settings);
  };
  add("initial 10", [](auto& s) { s.initial = 10; });
  add("slow side 0.1", [](auto& s) { s.slow_side = 0.1; });
  add("slow side 0.5", [](auto& s) { s.slow_side = 0.5; });
  add("slow side 1", [](auto& s) { s.slow_side = 1; });
  add("length 0.6", [](auto& s) { s.prior.length = 0.6; });
  add("length 3, spread 2", [](auto& s) {
    s.prior.length = 3;
    s.prior.length_spread = 2;
  });
  add("product only", [](auto& s) { s.prior.most_additive = 0; });
  add("Matern 5/2", [](auto& s) { s.prior.correlation = search::Correlation::matern52; });
  return all;
}

struct RecordedSpace {
  explicit RecordedSpace(const char* path)
      : recording(interop::read_recording(path)), replayer(recording) {}

  interop::Recording recording;
  lab::Replayer replayer;
  lab::Scale scale{recording};
};

using Scores = std::vector<double>;  // by field

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// What the variants score on each field: [variant][field].
std::vector<Scores> scores(const std::vector<Variant>& all, const std::deque<RecordedSpace>& fields,
                           std::size_t seeds, std::size_t jobs) {
  std::vector<std::vector<lab::Trace>> traces(all.size() * fields.size(),
                                              std::vector<lab::Trace>(seeds));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < traces.size() * seeds; i = next++) {
      const std::size_t seed = i % seeds;
      const RecordedSpace& field = fields[i / seeds % fields.size()];
      search::Bayesian search(field.replayer.space(), seed,
                              all[i / seeds / fields.size()].settings);
      constexpr double kMargin = 1.1;  // runs go this far beyond the instants that are scored
      traces[i / seeds][seed] =
          field.replayer.run(search, {.most_s = kMargin * field.scale.budget_s()}).trace;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < jobs; ++i) threads.emplace_back(work);
  }
  std::vector<Scores> result(all.size());
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::vector<double> standing = fields[i % fields.size()].scale.standing(traces[i]);
    result[i / fields.size()].push_back(lab::score({&standing, 1}).mean);
  }
  return result;
}

/// What the variant that is best on all the other groups scores on each field.
Scores left_out(const std::vector<Scores>& found, const std::vector<std::string>& groups) {
  Scores result;
  for (const std::string& group : groups) {
    const auto elsewhere = [&](const Scores& of_variant) {
      double sum = 0;
      for (std::size_t f = 0; f < groups.size(); ++f) {
        if (groups[f] != group) sum += of_variant[f];
      }
      return sum;
    };
    const auto chosen = std::ranges::max_element(found, {}, elsewhere);
    result.push_back((*chosen)[result.size()]);
  }
  return result;
}

void print(const std::string& name, const Scores& of_fields) {
  fmt::print("{:28}", name);
  for (const double each : of_fields) fmt::print(" {:7.3f}", each);
  fmt::print(" {:7.3f}\n", mean(of_fields));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    fmt::print(stderr, "usage: search_settings SEEDS JOBS RECORDING...\n");
    return 2;
  }
  const std::vector<Variant> all = variants();
  std::deque<RecordedSpace> fields;
  std::vector<std::string> kernels;
  std::vector<std::string> devices;
  for (const char* path : std::span(arguments, static_cast<std::size_t>(count)).subspan(3)) {
    fields.emplace_back(path);
    kernels.push_back(fields.back().recording.kernel);
    devices.push_back(fields.back().recording.device);
  }
  const std::vector<Scores> found = scores(all, fields, std::strtoul(arguments[1], nullptr, 10),
                                           std::strtoul(arguments[2], nullptr, 10));
  for (std::size_t i = 0; i < all.size(); ++i) print(all[i].name, found[i]);
  print("chosen without the kernel", left_out(found, kernels));
  print("chosen without the device", left_out(found, devices));
  return 0;
}
