// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/store_recording.hpp"

#include "tuner/core/error.hpp"
#include "tuner/family/stored_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tuner::interop {
namespace {

bool matches(const std::optional<std::string>& wanted, const std::string& is) {
  return !wanted || *wanted == is;
}

std::shared_ptr<const space::SpaceDefinition> stored_definition(const store::Store& store,
                                                                const store::RunRecord& run) {
  const store::ResultFilter filter{.family = run.family, .kernel = run.kernel};
  const std::vector<store::KernelRecord> kernels = store.kernels(filter);
  const auto kernel = std::ranges::find(kernels, run.kernel_hash, &store::KernelRecord::hash);
  return family::read_stored_file(kernel == kernels.end() ? std::string() : kernel->space_text,
                                  fmt::format("the stored space file of {}", run.kernel),
                                  run.kernel)
      .family.kernels.front()
      .space;
}

/// The configuration of a stored trial; none when the space has lost a parameter or a value of it.
std::optional<space::Config> stored_config(const space::SpaceDefinition& definition,
                                           const store::TrialRecord& trial) {
  try {
    return space::config_from_json(definition, trial.config_json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

RecordedTrial recorded(space::Config config, const store::TrialRecord& trial) {
  constexpr double kNanosecondsInMillisecond = 1e6;
  RecordedTrial result;
  result.config = std::move(config);
  result.outcome = trial.outcome;
  if (trial.time) result.time_ms = trial.time->median_ns / kNanosecondsInMillisecond;
  result.cost_s = (trial.compile_ms + trial.verify_ms + trial.measure_ms) / 1000;
  return result;
}

/// The recordings in the making, newest run first.
class Collection {
 public:
  explicit Collection(const store::Store& store) : store_(store) {}

  void add(const store::RunRecord& run, const std::optional<std::string>& problem) {
    const auto kernel = std::tuple(run.device, run.backend, run.family, run.kernel);
    const auto newest = newest_.try_emplace(kernel, run).first;
    if (newest->second.kernel_hash != run.kernel_hash) return;
    if (!definitions_.contains(kernel)) {
      definitions_[kernel] = stored_definition(store_, run);
    }
    const std::vector<store::StoredTrial> trials = store::standing_trials(store_.trials(run.id));
    for (const store::StoredTrial& stored : trials) {
      if (!matches(problem, stored.trial.problem)) continue;
      auto& part = part_of(std::tuple_cat(kernel, std::tuple(stored.trial.problem)),
                           definitions_[kernel], run);
      if (!part.seen.insert(stored.trial.config_json).second) continue;
      if (auto config = stored_config(*definitions_[kernel], stored.trial)) {
        part.recording.trials.push_back(recorded(*std::move(config), stored.trial));
      }
    }
  }

  std::vector<Recording> take() {
    std::vector<Recording> recordings;
    for (Part& part : parts_) {
      if (!part.recording.trials.empty()) recordings.push_back(std::move(part.recording));
    }
    return recordings;
  }

 private:
  using KernelKey = std::tuple<std::string, std::string, std::string, std::string>;
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  struct Part {
    Recording recording;
    std::set<std::string> seen;  // configurations, of newer runs first
  };

  Part& part_of(const Key& key, const std::shared_ptr<const space::SpaceDefinition>& definition,
                const store::RunRecord& run) {
    const auto [found, is_new] = index_.try_emplace(key, parts_.size());
    if (is_new) {
      parts_.push_back({.recording = {.kernel = run.kernel,
                                      .device = run.device,
                                      .problem = std::get<4>(key),
                                      .definition = definition,
                                      .trials = {}},
                        .seen = {}});
    }
    return parts_[found->second];
  }

  const store::Store& store_;
  std::map<KernelKey, store::RunRecord> newest_;
  std::map<KernelKey, std::shared_ptr<const space::SpaceDefinition>> definitions_;
  std::map<Key, std::size_t> index_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<Recording> read_recordings(const store::Store& store,
                                       const store::ResultFilter& filter) {
  Collection collection(store);
  for (const store::RunRecord& run : store.runs()) {
    if (!matches(filter.device, run.device) || !matches(filter.family, run.family) ||
        !matches(filter.kernel, run.kernel)) {
      continue;
    }
    collection.add(run, filter.problem);
  }
  return collection.take();
}

}  // namespace tuner::interop
