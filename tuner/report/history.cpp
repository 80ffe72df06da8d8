// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/history.hpp"

#include "tuner/core/error.hpp"
#include "tuner/family/stored_file.hpp"
#include "tuner/report/reproduce.hpp"
#include "tuner/select/shipped_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>

namespace tuner::report {

std::string ResultTypes::at(std::string_view problem) const {
  if (dimension.empty() && known()) return usual;
  const std::string name = fmt::format(",{}=", known() ? dimension : "TYPE");
  const std::size_t at = problem.find(name);
  if (at == std::string_view::npos) return usual;
  const std::string_view value = problem.substr(at + name.size());
  return std::string(value.substr(0, value.find(',')));
}

ResultTypes result_types(const family::Family& family) {
  for (const space::Dimension& dimension : family.problem.dims) {
    if (dimension.types.empty()) continue;
    const auto usual = dimension.default_value->evaluate({});
    return {.dimension = dimension.name, .usual = usual ? dimension.text_of(*usual) : ""};
  }
  for (const family::Argument& argument : family.arguments) {
    const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer == nullptr || !buffer->is_written()) continue;
    return {.usual = std::string(row(buffer->type.all().front()).short_name)};
  }
  return {};
}

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

/// All that some configuration has a value of.
std::set<std::string> parameter_names(const Configurations& tried,
                                      const std::vector<store::StoredBest>& bests) {
  const std::vector<std::string> of_trials = tried.parameters();
  std::set<std::string> names(of_trials.begin(), of_trials.end());
  for (const store::StoredBest& stored : bests) {
    const Json config = tolerant_object(stored.best.config_json);
    for (const auto& [name, value] : config.items()) names.insert(name);
  }
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

/// Reads trials without what all of them share or nothing shows.
class TrialReader {
 public:
  explicit TrialReader(Configurations& configs) : configs_(configs) {}

  /// `run`: for now, the place of its run among the kernel's.
  ReportedTrial read(const store::StoredTrial& stored, std::size_t run) {
    const store::TrialRecord& trial = stored.trial;
    return {.run = static_cast<std::uint32_t>(run),
            .elapsed_s = stored.elapsed_s,
            .config = configs_.add(stored.config, trial.config_json),
            .outcome = trial.outcome,
            .registers = trial.registers,
            .shared_bytes = trial.shared_bytes,
            .local_bytes = trial.local_bytes,
            .own_s = (trial.verify_ms + trial.measure_ms) / 1e3,
            .time = trial.time,
            .series_ns = trial.series_ns,
            .message = trial.message.empty() ? nullptr : shared(trial.message)};
  }

 private:
  std::shared_ptr<const std::string> shared(const std::string& message) {
    const auto found = messages_.find(message);
    if (found != messages_.end()) return found->second;
    auto text = std::make_shared<const std::string>(message);
    messages_.emplace(*text, text);
    return text;
  }

  Configurations& configs_;
  std::unordered_map<std::string_view, std::shared_ptr<const std::string>> messages_;
};

/// The trials of all runs, which are oldest first, by size.
std::map<std::string, SizeHistory> read_trials(const store::Store& store,
                                               const std::vector<store::RunRecord>& runs,
                                               Configurations& configs) {
  std::map<std::string, SizeHistory> sizes;
  TrialReader reader(configs);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    store.each_trial(runs[run].id, [&](const store::StoredTrial& stored) {
      sizes[stored.trial.problem].evaluations.push_back(reader.read(stored, run));
    });
  }
  return sizes;
}

/// Counts a size's trials by run, of those that searched it, and their seconds from its beginning.
void number_trials(SizeHistory& size) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;  // of a run, by configuration
  std::optional<std::uint32_t> before;
  std::uint32_t search = 0;
  for (ReportedTrial& trial : size.evaluations) {
    if (before && *before != trial.run) {
      ++search;
      numbers.clear();
    }
    before = trial.run;
    const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
    trial.number = numbers.try_emplace(trial.config, next).first->second;
    trial.run = search;
    trial.elapsed_s -= size.searches[search].began_s;
  }
}

/// Keeps the latest evaluation of every configuration, of which there are so many.
void drop_repeated(std::vector<ReportedTrial>& evaluations, std::size_t configs) {
  std::vector<bool> seen(configs);
  const auto is_repeated = [&](const ReportedTrial& trial) {
    const bool is_new = !seen[trial.config];
    seen[trial.config] = true;
    return !is_new;
  };
  const auto first = std::remove_if(evaluations.rbegin(), evaluations.rend(), is_repeated);
  evaluations.erase(evaluations.begin(), first.base());
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

/// Whether it is of that configuration: a run may have had another best before.
bool explains(const store::ExplanationRecord& explanation, const store::BestRecord& best) {
  return !explanation.contenders.empty() &&
         explanation.contenders.front().config_json == best.config_json;
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
      size.explanation = store.explanation(run->id, problem);
      if (size.explanation && !explains(*size.explanation, *size.best)) size.explanation.reset();
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

std::vector<SizeHistory> smallest_first(std::map<std::string, SizeHistory>&& by_problem) {
  std::vector<SizeHistory> sizes;
  for (auto& [problem, size] : by_problem) {
    size.problem = problem;
    sizes.push_back(std::move(size));
  }
  std::ranges::sort(sizes, comes_before, &SizeHistory::problem);
  return sizes;
}

/// The space file of a kernel; none where the kernel came without one that can be read.
std::optional<family::StoredFile> file_of(const store::KernelRecord& record) {
  try {
    return family::read_stored_file(record.space_text, "a stored space file", record.kernel);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The kernel's version with its space file; null where it came without.
std::shared_ptr<const store::KernelRecord> record_of(const store::Store& store,
                                                     const KernelHistory& kernel) {
  for (store::KernelRecord& record :
       store.kernels({.family = kernel.family, .kernel = kernel.kernel})) {
    if (record.hash != kernel.hash || record.space_text.empty()) continue;
    return std::make_shared<const store::KernelRecord>(std::move(record));
  }
  return nullptr;
}

/// Not known where the kernel came without a space file.
ResultTypes types_of(const store::KernelRecord& record) {
  const auto file = file_of(record);
  return file ? result_types(file->family) : ResultTypes{};
}

std::string unproven_by(const store::KernelRecord& record) {
  const auto file = file_of(record);
  return file ? file->family.kernels.front().unproven : "";
}

std::vector<std::string> parameters_of(const space::SpaceDefinition& definition) {
  std::vector<std::string> names;
  for (const space::Parameter& parameter : definition.parameters) names.push_back(parameter.name);
  return names;
}

/// What is known of a kernel that came without its space file, as imported lines do, from other
/// kernels and the device's installed table.
class OtherSources {
 public:
  OtherSources(const store::Store& store, std::string device)
      : store_(store), device_(std::move(device)) {}

  /// The kernel's own version, by the table; null without.
  [[nodiscard]] std::shared_ptr<const store::KernelRecord> record(const std::string& hash) {
    const auto found = std::ranges::find_if(
        table(), [&](const auto& it) { return it->hash == hash && !it->space_text.empty(); });
    return found == table().end() ? nullptr : *found;
  }
  /// Types of the results of a family.
  [[nodiscard]] ResultTypes types(const std::string& family) {
    for (const store::KernelRecord& record : store_.kernels({.family = family})) {
      if (const ResultTypes found = types_of(record); found.known()) return found;
    }
    for (const auto& record : table()) {
      if (record->family != family) continue;
      if (const ResultTypes found = types_of(*record); found.known()) return found;
    }
    return {};
  }

 private:
  using Kernels = std::vector<std::shared_ptr<const store::KernelRecord>>;

  [[nodiscard]] const Kernels& table() {
    if (!table_) table_ = kernels_of_table();
    return *table_;
  }
  [[nodiscard]] Kernels kernels_of_table() const {
    Kernels kernels;
    try {
      if (const auto table = select::shipped_catalogue(device_)) {
        for (const select::CatalogueKernel& kernel : table->kernels) {
          kernels.push_back(kernel.record);
        }
      }
    } catch (const Error&) {  // a page without types is better than none
    }
    return kernels;
  }

  const store::Store& store_;
  std::string device_;
  std::optional<Kernels> table_;
};

KernelHistory kernel_history(const store::Store& store, const KernelKey& key,
                             std::vector<store::RunRecord> runs,
                             std::vector<store::StoredBest> bests) {
  KernelHistory history{
      .family = key.first, .kernel = key.second, .hash = latest_hash(runs, bests)};
  std::erase_if(runs, [&](const auto& run) { return run.kernel_hash != history.hash; });
  std::erase_if(bests, [&](const auto& best) { return best.subject->kernel.hash != history.hash; });
  std::reverse(runs.begin(), runs.end());

  std::map<std::string, SizeHistory> sizes = read_trials(store, runs, history.configs);
  history.record = record_of(store, history);
  if (const auto file = history.record ? file_of(*history.record) : std::nullopt) {
    history.types = result_types(file->family);
    history.unproven = file->family.kernels.front().unproven;
    history.parameters = parameters_of(*file->family.kernels.front().space);
  }
  history.parameters = with_stored_parameters(std::move(history.parameters),
                                              parameter_names(history.configs, bests));
  history.configs.order(history.parameters);
  for (auto& [problem, size] : sizes) {
    rank_trials(size.evaluations);
    size.searches = search_runs(store, runs, problem, history.configs, size.evaluations);
    number_trials(size);
    drop_repeated(size.evaluations, history.configs.size());
  }
  attach_bests(sizes, store, bests);
  history.environments = environments_of(std::move(bests));
  history.sizes = smallest_first(std::move(sizes));
  history.runs = std::move(runs);
  return history;
}

/// As the kernel alone tells it; empty where it does not.
std::string own_space_path(const KernelHistory& kernel) {
  for (const auto& run : std::views::reverse(kernel.runs)) {
    std::string path = space_of_command(run.command);
    if (!path.empty()) return path;
  }
  const bool is_included = kernel.runs.empty() && kernel.record != nullptr;
  return is_included ? fmt::format("spaces/{}.json", kernel.family) : "";
}

/// A family has one space file as a rule, so that what one of its kernels tells is known of all.
void complete_space_paths(std::vector<KernelHistory>& kernels) {
  std::map<std::string, std::set<std::string>> paths;
  for (const KernelHistory& kernel : kernels) {
    if (!kernel.space_path.empty()) paths[kernel.family].insert(kernel.space_path);
  }
  for (KernelHistory& kernel : kernels) {
    const std::set<std::string>& known = paths[kernel.family];
    if (kernel.space_path.empty() && known.size() == 1) kernel.space_path = *known.begin();
  }
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
  OtherSources others(store, device_name);
  for (auto& [key, rows] : kernels) {
    KernelHistory history =
        kernel_history(store, key, std::move(rows.first), std::move(rows.second));
    if (!history.types.known()) history.types = others.types(history.family);
    if (!history.record) {
      history.record = others.record(history.hash);
      history.unproven = history.record ? unproven_by(*history.record) : "";
    }
    history.space_path = own_space_path(history);
    if (!history.sizes.empty()) histories.push_back(std::move(history));
  }
  complete_space_paths(histories);
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

}  // namespace tuner::report
