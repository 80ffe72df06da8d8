// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/history.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tuner::report {
namespace {

using KernelKey = std::pair<std::string, std::string>;  // family, kernel

/// `names` and, after them, what configurations hold besides.
std::vector<std::string> with_stored_parameters(std::vector<std::string> names,
                                                const std::set<std::string>& stored) {
  std::erase_if(names, [&](const std::string& name) { return !stored.contains(name); });
  for (const std::string& name : stored) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::set<std::string> parameter_names(const std::vector<store::StoredTrial>& trials,
                                      const std::vector<store::StoredBest>& bests) {
  std::set<std::string> names;
  const auto add = [&names](const std::string& config_json) {
    const Json config = tolerant_object(config_json);
    for (const auto& [name, value] : config.items()) names.insert(name);
  };
  std::unordered_set<std::string_view> seen;  // sizes share configurations
  for (const store::StoredTrial& trial : trials) {
    if (seen.insert(trial.trial.config_json).second) add(trial.trial.config_json);
  }
  for (const store::StoredBest& stored : bests) add(stored.best.config_json);
  return names;
}

/// The hash that was worked on last; `runs` are newest first.
std::string latest_hash(const std::vector<store::RunRecord>& runs,
                        const std::vector<store::StoredBest>& bests) {
  std::string when, hash;
  if (!runs.empty()) {
    when = runs.front().started_at;
    hash = runs.front().kernel_hash;
  }
  for (const store::StoredBest& stored : bests) {
    if (stored.best.recorded_at <= when) continue;
    when = stored.best.recorded_at;
    hash = stored.subject->kernel.hash;
  }
  return hash;
}

/// Values by canonical configuration: sizes share configurations.
using ValuesByConfig = std::unordered_map<std::string, SharedValues>;

const SharedValues& values_of(ValuesByConfig& known, const std::vector<std::string>& parameters,
                              const std::string& config_json) {
  const auto found = known.find(config_json);
  if (found != known.end()) return found->second;
  return known.emplace(config_json, config_values(parameters, config_json)).first->second;
}

/// Adds the trials of one run, which is the next of each of its sizes' searches.
void append_run(std::map<std::string, SizeHistory>& sizes,
                std::map<std::string, std::size_t>& earlier_runs,
                std::vector<store::StoredTrial>& trials, const std::vector<std::string>& parameters,
                ValuesByConfig& known) {
  std::map<std::string, std::map<std::string, std::uint64_t>> numbers;  // by problem, configuration
  for (store::StoredTrial& stored : trials) {
    SizeHistory& size = sizes[stored.trial.problem];
    auto& of_size = numbers[stored.trial.problem];
    const std::size_t run = earlier_runs[stored.trial.problem];
    const auto number = of_size.try_emplace(stored.trial.config_json, of_size.size() + 1).first;
    size.evaluations.push_back({.run = run,
                                .number = number->second,
                                .elapsed_s = stored.elapsed_s - size.searches[run].began_s,
                                .values = values_of(known, parameters, stored.trial.config_json),
                                .trial = std::move(stored.trial)});
  }
  for (const auto& [problem, of_size] : numbers) ++earlier_runs[problem];
}

/// Keeps the latest evaluation of every configuration.
void drop_repeated(std::vector<ReportedTrial>& evaluations) {
  std::set<std::string> seen;
  std::vector<ReportedTrial> kept;
  for (auto it = evaluations.rbegin(); it != evaluations.rend(); ++it) {
    if (seen.insert(it->trial.config_json).second) kept.push_back(std::move(*it));
  }
  std::reverse(kept.begin(), kept.end());
  evaluations = std::move(kept);
}

/// The card that a size was won on, and its host where there were several; empty where the run had
/// one card alone.
std::string card_among_several(const store::Store& store, std::int64_t run,
                               const std::string& problem) {
  const std::map<std::string, store::CardRecord> cards = store::last_cards(store.cards(run));
  const auto card = cards.find(problem);
  if (card == cards.end()) return "";
  const store::CardRecord& its = card->second;
  const auto any_differs = [&](auto member) {
    return std::ranges::any_of(
        cards, [&](const auto& other) { return other.second.*member != its.*member; });
  };
  if (any_differs(&store::CardRecord::host)) return its.uuid + " of " + its.host;
  return any_differs(&store::CardRecord::uuid) ? its.uuid : "";
}

void attach_bests(std::map<std::string, SizeHistory>& sizes, const store::Store& store,
                  const std::vector<store::StoredBest>& bests) {
  for (const store::StoredBest& stored : bests) {
    SizeHistory& size = sizes[stored.best.problem];
    if (!size.best || size.best->recorded_at < stored.best.recorded_at) size.best = stored.best;
  }
  for (auto& [problem, size] : sizes) {
    if (!size.best || size.best->run_uuid.empty()) continue;
    if (const auto run = store.run(size.best->run_uuid)) {
      size.finalists = store.finalists(run->id, problem);
      size.card = card_among_several(store, run->id, problem);
    }
  }
}

std::vector<space::EnvironmentInfo> environments_of(std::vector<store::StoredBest> bests) {
  const auto newer = [](const store::StoredBest& a, const store::StoredBest& b) {
    return a.best.recorded_at > b.best.recorded_at;
  };
  std::stable_sort(bests.begin(), bests.end(), newer);
  std::vector<space::EnvironmentInfo> environments;
  for (const store::StoredBest& stored : bests) {
    const space::EnvironmentInfo& environment = stored.subject->environment;
    if (std::find(environments.begin(), environments.end(), environment) == environments.end()) {
      environments.push_back(environment);
    }
  }
  return environments;
}

std::vector<SizeHistory> smallest_first(std::map<std::string, SizeHistory> by_problem) {
  std::vector<SizeHistory> sizes;
  for (auto& [problem, size] : by_problem) {
    size.problem = problem;
    drop_repeated(size.evaluations);
    sizes.push_back(std::move(size));
  }
  std::ranges::sort(sizes, comes_before, &SizeHistory::problem);
  return sizes;
}

/// The space file of the kernel's version; empty where it is not known.
std::string space_text_of(const store::Store& store, const KernelHistory& kernel) {
  for (const store::KernelRecord& record :
       store.kernels({.family = kernel.family, .kernel = kernel.kernel})) {
    if (record.hash == kernel.hash) return record.space_text;
  }
  return "";
}

KernelHistory kernel_history(const store::Store& store, const KernelKey& key,
                             std::vector<store::RunRecord> runs,
                             std::vector<store::StoredBest> bests) {
  KernelHistory history{
      .family = key.first, .kernel = key.second, .hash = latest_hash(runs, bests)};
  std::erase_if(runs, [&](const auto& run) { return run.kernel_hash != history.hash; });
  std::erase_if(bests, [&](const auto& best) { return best.subject->kernel.hash != history.hash; });
  std::reverse(runs.begin(), runs.end());

  std::vector<std::vector<store::StoredTrial>> trials;
  std::set<std::string> stored_parameters = parameter_names({}, bests);
  for (const store::RunRecord& run : runs) {
    trials.push_back(store.trials(run.id));
    stored_parameters.merge(parameter_names(trials.back(), {}));
  }
  const std::string space_text = space_text_of(store, history);
  history.types = result_types(space_text);
  history.parameters =
      with_stored_parameters(parameters_of_space(space_text, history.kernel), stored_parameters);

  std::map<std::string, SizeHistory> sizes;
  for (auto& [problem, searches] : search_runs(store, runs, trials)) {
    sizes[problem].searches = std::move(searches);
  }
  std::map<std::string, std::size_t> earlier_runs;
  ValuesByConfig known;
  for (auto& of_run : trials) append_run(sizes, earlier_runs, of_run, history.parameters, known);
  attach_bests(sizes, store, bests);
  history.environments = environments_of(std::move(bests));
  history.sizes = smallest_first(std::move(sizes));
  history.runs = std::move(runs);
  return history;
}

}  // namespace

std::vector<KernelHistory> kernel_histories(const store::Store& store,
                                            const std::string& device_name) {
  std::map<KernelKey, std::pair<std::vector<store::RunRecord>, std::vector<store::StoredBest>>>
      kernels;
  for (store::RunRecord& run : store.runs()) {
    if (run.device != device_name) continue;
    kernels[{run.family, run.kernel}].first.push_back(std::move(run));
  }
  store::ResultFilter filter;
  filter.device = device_name;
  for (store::StoredBest& best : store.bests(filter)) {
    kernels[{best.subject->kernel.family, best.subject->kernel.kernel}].second.push_back(
        std::move(best));
  }
  std::vector<KernelHistory> histories;
  for (auto& [key, rows] : kernels) {
    KernelHistory history =
        kernel_history(store, key, std::move(rows.first), std::move(rows.second));
    if (!history.sizes.empty()) histories.push_back(std::move(history));
  }
  return histories;
}

std::vector<double> extents(std::string_view problem) {
  std::vector<double> numbers;
  for (std::size_t start = 0; start <= problem.size();) {
    const std::size_t end = std::min(problem.find(',', start), problem.size());
    if (problem.substr(start, end - start).find('=') != std::string_view::npos) break;
    numbers.push_back(
        std::strtod(std::string(problem.substr(start, end - start)).c_str(), nullptr));
    start = end + 1;
  }
  return numbers;
}

bool comes_before(std::string_view a, std::string_view b) {
  const auto key = [](std::string_view problem) {
    std::vector<double> numbers = extents(problem);
    const double volume = std::accumulate(numbers.begin(), numbers.end(), 1.0, std::multiplies<>());
    return std::tuple(volume, std::move(numbers), problem);
  };
  return key(a) < key(b);
}

double mean_extent(std::string_view problem) {
  const std::vector<double> numbers = extents(problem);
  const double volume = std::accumulate(numbers.begin(), numbers.end(), 1.0, std::multiplies<>());
  return std::pow(volume, 1.0 / static_cast<double>(numbers.size()));
}

ConfigValues config_values(const std::vector<std::string>& parameters,
                           std::string_view config_json) {
  const Json config = tolerant_object(config_json);
  ConfigValues values;
  for (const std::string& parameter : parameters) {
    const Json* value = member(config, parameter);
    if (value == nullptr) {
      values.emplace_back();
    } else {
      values.push_back(value->is_string() ? value->get<std::string>() : value->dump());
    }
  }
  return values;
}

std::string config_text(const std::vector<std::string>& parameters, const ConfigValues& values) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (values[i].empty()) continue;
    if (!text.empty()) text += ',';
    text += parameters[i] + '=' + values[i];
  }
  return text;
}

}  // namespace tuner::report
