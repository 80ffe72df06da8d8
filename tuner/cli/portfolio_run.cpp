// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/portfolio_run.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/portfolio_winners.hpp"
#include "tuner/cli/recorded_products.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/select/shipped_table.hpp"
#include "tuner/session/earlier_winners.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace tuner::cli {
namespace {

using Align = Table::Align;

constexpr std::size_t kUsualMembers = 16;
/// Candidates that a search of an unknown kernel adds at most.
constexpr std::size_t kMostFound = 3;

bool is_suite(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const Json document = parse_json(read_file(path, kMostBytes), path);
  return document.is_object() && document.contains("format") && document["format"] == "suite/1";
}

/// For each size that is drawn, so many at which members alone are timed while time is left.
constexpr std::size_t kFurtherDraws = 8;

struct WantedSizes {
  std::vector<family::WeightedSize> sizes;
  std::vector<space::Size> further;  ///< drawn after these
};

WantedSizes drawn_sizes(const family::Family& family, const PortfolioOptions& options) {
  const family::SizeDistribution distribution = family::load_distribution(options.like, family);
  WantedSizes wanted{.sizes = distribution.draw(options.draws, options.seed), .further = {}};
  auto all = distribution.draw((1 + kFurtherDraws) * options.draws, options.seed);
  for (std::size_t i = wanted.sizes.size(); i < all.size(); ++i) {
    wanted.further.push_back(std::move(all[i].size));
  }
  return wanted;
}

WantedSizes wanted_sizes(const family::Family& family, const PortfolioOptions& options,
                         const std::string& backend) {
  if (!options.like.empty()) {
    if (!options.lists.empty()) {
      throw Error(ErrorCode::usage,
                  "--like draws the sizes, --sizes names them: leave out one of the two");
    }
    if (is_suite(options.like)) return {recorded_sizes(options.like, family), {}};
    return drawn_sizes(family, options);
  }
  TuneOptions listed;
  listed.lists = options.lists;
  WantedSizes wanted;
  for (space::Size& size : chosen_sizes(family, listed, backend)) {
    wanted.sizes.push_back({.size = std::move(size)});
  }
  return wanted;
}

std::vector<const family::Kernel*> wanted_kernels(const family::Family& family,
                                                  const PortfolioOptions& options,
                                                  const std::string& backend) {
  std::vector<const family::Kernel*> kernels;
  for (const std::string& name : options.kernels) {
    kernels.push_back(&family.kernel(name));
    require_backend(*kernels.back(), backend);
  }
  if (!kernels.empty()) return kernels;
  for (const family::Kernel& kernel : family.kernels) {
    if (kernel.competes_on(backend)) kernels.push_back(&kernel);
  }
  if (!kernels.empty()) return kernels;
  throw Error(ErrorCode::no_device,
              fmt::format("{}: no kernel runs on the {} backend", family.path, backend));
}

/// Collects what may become a member.
class Candidates {
 public:
  Candidates(const store::Store& store, const family::Family& family,
             const space::DeviceInfo& device, session::PortfolioPlan& plan)
      : store_(store),
        family_(family),
        device_(device),
        plan_(plan),
        shipped_(select::shipped_winners(
            device.backend, family.name,
            [](const Error& error) {
              tell(fmt::format("{}; its configurations are no candidates\n", error.what()));
            })),
        shipped_members_(
            select::shipped_members(device.backend, family.name, [](const Error&) {})) {}

  /// What won before, members of earlier portfolios, and the default; a kernel of which nothing is
  /// known is to be searched.
  void add(const family::Kernel& kernel) {
    const std::size_t before = plan_.candidates.size();
    session::EarlierWinners winners(store_, family_, kernel, device_, shipped_);
    winners.add_fastest_trials(store_);
    for (const space::Size& size : plan_.sizes) {
      for (const session::EarlierWinner& it : winners.near(size)) add(kernel, it.config, it.size);
    }
    add_members(kernel);
    const bool is_known = plan_.candidates.size() > before;
    for (const space::Size& size : plan_.sizes) {
      add(kernel, space::BoundDefinition(kernel.space, device_.attributes, size).default_config());
    }
    if (!is_known && !kernel.space->parameters.empty()) plan_.unknown.push_back(&kernel);
  }

 private:
  session::PortfolioCandidate& add(const family::Kernel& kernel, const space::Config& config,
                                   std::optional<space::Size> won_at = {}) {
    auto known = std::ranges::find_if(plan_.candidates, [&](const auto& it) {
      return it.kernel == &kernel && it.config == config;
    });
    if (known == plan_.candidates.end()) {
      plan_.candidates.push_back({.kernel = &kernel, .config = config});
      known = plan_.candidates.end() - 1;
    }
    if (won_at && std::ranges::count(known->won_at, *won_at) == 0) {
      known->won_at.push_back(*std::move(won_at));
    }
    return *known;
  }

  /// Of earlier portfolios for this device, and of all installed tables.
  void add_members(const family::Kernel& kernel) {
    std::vector<store::PortfolioMember> members = shipped_members_;
    for (const store::PortfolioRecord& portfolio : store_.portfolios(device_)) {
      if (portfolio.family != family_.name) continue;
      members.insert(members.end(), portfolio.members.begin(), portfolio.members.end());
    }
    for (const store::PortfolioMember& member : members) {
      if (member.kernel != kernel.name) continue;
      try {
        add(kernel, space::config_from_json(*kernel.space, member.config_json)).was_member = true;
      } catch (const Error&) {  // the space no longer has it
        continue;
      }
    }
  }

  const store::Store& store_;
  const family::Family& family_;
  const space::DeviceInfo& device_;
  session::PortfolioPlan& plan_;
  std::vector<select::ShippedWinner> shipped_;
  std::vector<store::PortfolioMember> shipped_members_;
};

void check_members(const PortfolioOptions& options, const session::PortfolioPlan& plan) {
  const std::size_t most = plan.candidates.size() + kMostFound * plan.unknown.size();
  if (!options.members || *options.members <= most) return;
  throw Error(ErrorCode::usage,
              fmt::format("-k {}: there are at most {} to choose from: write -k {} or less, or "
                          "tune more sizes first",
                          *options.members, quantity::count(most, "candidate"), most));
}

void tell_size(const family::Family& family, const session::PortfolioPlan& plan,
               const session::PortfolioSizeTimed& it) {
  const std::string size =
      fmt::format("{}{} of {}  {}", it.is_further ? "further size " : "", it.number,
                  (it.is_further ? plan.further : plan.sizes).size(),
                  space::display(it.size, family.problem.dims));
  if (!it.problem.empty()) return tell(fmt::format("{}: skipped: {}\n", size, it.problem));
  tell(fmt::format("{}: {} timed{}{}\n", size,
                   quantity::count(it.timed, it.is_further ? "member" : "candidate"),
                   it.best_ns ? ", the fastest " + quantity::time(*it.best_ns) : "",
                   it.library_ns ? ", the library " + quantity::time(*it.library_ns) : ""));
}

void tell_search(const family::Family& family, const session::PortfolioSearch& it) {
  const bool is_faster = it.found_ns && (!it.before_ns || *it.found_ns < *it.before_ns);
  tell(fmt::format("searched  {}: {} of {}{}{}\n", space::display(it.size, family.problem.dims),
                   quantity::count(it.trials, "trial"), it.kernel->name,
                   is_faster ? ", the fastest " + quantity::time(*it.found_ns) : ", none faster",
                   it.before_ns ? ", before " + quantity::time(*it.before_ns) : ""));
}

std::vector<session::FurtherSize> further_of(const session::PortfolioTimes& times,
                                             const family::Family& family,
                                             const std::string& types) {
  std::vector<session::FurtherSize> further;
  std::ranges::copy_if(times.further, std::back_inserter(further), [&](const auto& it) {
    return select::types_of(it.size, family.problem.dims) == types;
  });
  return further;
}

/// The sizes of each type with their columns of the matrix.
std::vector<FamilyPortfolio> by_types(const family::Family& family,
                                      const session::PortfolioTimes& times,
                                      const std::vector<family::WeightedSize>& wanted) {
  std::map<std::string, FamilyPortfolio> portfolios;
  for (std::size_t size = 0; size < times.sizes.size(); ++size) {
    const std::string types = select::types_of(times.sizes[size], family.problem.dims);
    FamilyPortfolio& its = portfolios[types];
    its.types = types;
    its.sizes.push_back(*std::ranges::find(wanted, times.sizes[size], &family::WeightedSize::size));
    its.matrix.weights.push_back(its.sizes.back().weight);
    its.matrix.library_ns.push_back(times.matrix.library_ns[size]);
    its.matrix.times_ns.resize(times.candidates.size());
    for (std::size_t i = 0; i < times.candidates.size(); ++i) {
      its.matrix.times_ns[i].push_back(times.matrix.times_ns[i][size]);
    }
  }
  std::vector<FamilyPortfolio> all;
  for (auto& [types, portfolio] : portfolios) {
    portfolio.further = further_of(times, family, types);
    all.push_back(std::move(portfolio));
  }
  return all;
}

std::optional<double> fastest_member_ns(const FamilyPortfolio& portfolio, std::size_t size) {
  std::optional<double> least;
  for (const std::size_t member : portfolio.chosen.members) {
    const auto& ns = portfolio.matrix.times_ns[member][size];
    if (ns) least = std::min(least.value_or(*ns), *ns);
  }
  return least;
}

void append_sizes(store::PortfolioRecord& record, const family::Family& family,
                  const std::vector<session::FurtherSize>& sizes) {
  for (const session::FurtherSize& it : sizes) {
    record.sizes.push_back({.problem = space::canonical_size(it.size, family.problem.dims),
                            .member_ns = it.member_ns,
                            .library_ns = it.library_ns});
  }
}

/// Of sizes at which the library was timed by single launches alone; whether there are any.
bool add_library_times(store::PortfolioRecord& record, const family::Family& family,
                       const session::PortfolioTimes& times) {
  bool was_timed = false;
  for (store::PortfolioSize& it : record.sizes) {
    const auto size = space::stored_size(it.problem, family.problem.dims);
    const auto found = size ? times.library_ns.find(*size) : times.library_ns.end();
    if (found == times.library_ns.end()) continue;
    it.library_ns = found->second;
    was_timed = true;
  }
  return was_timed;
}

store::PortfolioRecord record_of(const family::Family& family, const PortfolioOptions& options,
                                 const session::PortfolioTimes& times,
                                 const FamilyPortfolio& portfolio,
                                 const space::EnvironmentInfo& environment) {
  // A table goes to other machines, on which a path says nothing.
  const std::string file = std::filesystem::path(options.like).filename().string();
  store::PortfolioRecord record{
      .family = family.name,
      .types = portfolio.types,
      .distribution =
          file.empty() ? "listed sizes" : fmt::format("{}, seed {}", file, options.seed),
      .loss = portfolio.chosen.loss,
      .left_out_loss = portfolio.left_out_loss,
      .members = {},
      .sizes = {},
      .environment = environment};
  for (const std::size_t member : portfolio.chosen.members) {
    const session::PortfolioCandidate& it = times.candidates[member];
    record.members.push_back({.kernel = it.kernel->name,
                              .kernel_hash = it.kernel->hash,
                              .config_json = it.config_json()});
  }
  for (std::size_t size = 0; size < portfolio.sizes.size(); ++size) {
    record.sizes.push_back(
        {.problem = space::canonical_size(portfolio.sizes[size].size, family.problem.dims),
         .weight = portfolio.sizes[size].weight,
         .member_ns = fastest_member_ns(portfolio, size),
         .library_ns = portfolio.matrix.library_ns[size]});
  }
  append_sizes(record, family, portfolio.further);
  return record;
}

bool ran(const FamilyPortfolio& portfolio) {
  return std::ranges::any_of(portfolio.matrix.times_ns, [](const auto& times) {
    return std::ranges::any_of(times, [](const auto& ns) { return ns.has_value(); });
  });
}

std::string loss_text(double loss) {
  return fmt::format("{:.1f} %", 100 * (loss - 1));
}

/// What all plans have.
session::PortfolioPlan empty_plan(const PortfolioOptions& options,
                                  std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
  return {.sizes = {},
          .candidates = {},
          .unknown = {},
          .members = options.members.value_or(kUsualMembers),
          .seed = options.seed,
          .compile_threads = spare_cores(),
          .max_time = std::max(std::chrono::milliseconds(1), left),
          .command = options.command_line};
}

session::PortfolioPlan plan_of(const PortfolioOptions& options, const family::Family& family,
                               WantedSizes& wanted, const store::Store& store,
                               const space::DeviceInfo& device,
                               std::chrono::steady_clock::time_point until) {
  session::PortfolioPlan plan = empty_plan(options, until);
  plan.further = std::move(wanted.further);
  for (const family::WeightedSize& it : wanted.sizes) plan.sizes.push_back(it.size);
  Candidates candidates(store, family, device, plan);
  for (const family::Kernel* const kernel : wanted_kernels(family, options, device.backend)) {
    candidates.add(*kernel);
  }
  check_members(options, plan);
  return plan;
}

/// Why the members of a portfolio cannot be timed beside its times.
std::optional<std::string> why_outdated(const store::PortfolioRecord& portfolio,
                                        const family::Family& family,
                                        space::EnvironmentInfo environment) {
  environment.tool = portfolio.environment.tool;
  if (portfolio.environment != environment) {
    return "it was measured with another driver, compiler or library";
  }
  for (const store::PortfolioMember& it : portfolio.members) {
    const auto kernel = std::ranges::find(family.kernels, it.kernel, &family::Kernel::name);
    if (kernel == family.kernels.end() || kernel->hash != it.kernel_hash) {
      return fmt::format("its kernel {} has changed since", it.kernel);
    }
  }
  return std::nullopt;
}

/// The family's portfolio for each of its types, of the database before those of the installed
/// table, if all of its members can be timed as they were. Says why another one cannot.
std::vector<store::PortfolioRecord> present_portfolios(const family::Family& family,
                                                       const store::Store& store,
                                                       const worker::DeviceWorker& device) {
  std::vector<store::PortfolioRecord> known = store.portfolios(device.device());
  if (auto shipped = select::read_shipped_table(device.device(), device.environment())) {
    std::ranges::move(shipped->known.portfolios, std::back_inserter(known));
  }
  std::set<std::string> types;
  std::vector<store::PortfolioRecord> present;
  std::vector<std::string> outdated;
  for (store::PortfolioRecord& it : known) {
    if (it.family != family.name || !types.insert(it.types).second) continue;
    if (auto why = why_outdated(it, family, device.environment())) {
      outdated.push_back(fmt::format("{}{}{}", it.types, it.types.empty() ? "" : ": ", *why));
    } else {
      present.push_back(std::move(it));
    }
  }
  if (!present.empty()) {
    for (const std::string& it : outdated) tell(fmt::format("not extended: {}\n", it));
    return present;
  }
  if (outdated.empty()) outdated.emplace_back("there is none for this device");
  throw Error(ErrorCode::usage,
              fmt::format("{}: no portfolio to extend on {}: {}: choose one, without --extend",
                          family.path, device.device().name, fmt::join(outdated, ", ")));
}

session::PortfolioPlan extension_plan(const PortfolioOptions& options, const family::Family& family,
                                      const WantedSizes& wanted,
                                      const std::vector<store::PortfolioRecord>& present,
                                      std::chrono::steady_clock::time_point until) {
  session::PortfolioPlan plan = empty_plan(options, until);
  std::set<std::string> known;
  for (const store::PortfolioRecord& portfolio : present) {
    std::vector<std::size_t>& places = plan.present[portfolio.types];
    for (const store::PortfolioMember& it : portfolio.members) {
      const family::Kernel& kernel = family.kernel(it.kernel);
      session::PortfolioCandidate member{
          .kernel = &kernel, .config = space::config_from_json(*kernel.space, it.config_json)};
      const auto there = std::ranges::find_if(plan.candidates, [&](const auto& other) {
        return other.kernel == &kernel && other.config == member.config;
      });
      places.push_back(static_cast<std::size_t>(there - plan.candidates.begin()));
      if (there == plan.candidates.end()) plan.candidates.push_back(std::move(member));
    }
    for (const store::PortfolioSize& it : portfolio.sizes) {
      known.insert(it.problem);
      const auto size = space::stored_size(it.problem, family.problem.dims);
      if (size && it.library_cold_ns && !it.library_ns) plan.without_library.push_back(*size);
    }
  }
  for (const family::WeightedSize& it : wanted.sizes) {
    const bool has_portfolio =
        plan.present.contains(select::types_of(it.size, family.problem.dims));
    if (has_portfolio && !known.contains(space::canonical_size(it.size, family.problem.dims))) {
      plan.further.push_back(it.size);
    }
  }
  if (!plan.further.empty() || !plan.without_library.empty()) return plan;
  throw Error(ErrorCode::usage,
              fmt::format("{}: the portfolios of {} have all of these sizes, or none of their "
                          "types: name others, or draw with another --seed",
                          family.path, family.name));
}

void tell_other_users(worker::DeviceWorker& device) {
  for (const std::string& text : other_users(device)) tell(fmt::format("warning: {}\n", text));
}

void tell_plan(const family::Family& family, const session::PortfolioPlan& plan,
               worker::DeviceWorker& device) {
  tell_other_users(device);
  tell(fmt::format("{} on {}: {}, {} to search, at {}\n", family.name, device.device().name,
                   quantity::count(plan.candidates.size(), "candidate"),
                   quantity::count(plan.unknown.size(), "kernel"),
                   quantity::count(plan.sizes.size(), "size")));
}

/// Chooses the members for the sizes of each type and stores them.
void choose(const PortfolioOptions& options, const family::Family& family,
            const std::vector<family::WeightedSize>& wanted, std::size_t members,
            const worker::DeviceWorker& device, store::Store& store, PortfolioRun& run) {
  for (FamilyPortfolio& it : by_types(family, run.times, wanted)) {
    if (!ran(it)) continue;
    it.chosen = select::choose_portfolio(it.matrix, members);
    it.left_out_loss = select::left_out_loss(it.matrix, members);
    store.record_portfolio(device.device(),
                           record_of(family, options, run.times, it, device.environment()));
    run.portfolios.push_back(std::move(it));
  }
  if (!run.portfolios.empty()) return;
  throw Error(ErrorCode::no_valid_config,
              fmt::format("{}: no candidate could be timed at any of the sizes (failures: {})",
                          family.path, format_failures(run.times.failures)));
}

/// At how many sizes a candidate is faster than the other members and the library.
std::size_t fastest_at(const FamilyPortfolio& portfolio, std::size_t member) {
  std::size_t count = 0;
  for (std::size_t size = 0; size < portfolio.sizes.size(); ++size) {
    const auto& ns = portfolio.matrix.times_ns[member][size];
    const auto& library_ns = portfolio.matrix.library_ns[size];
    const bool is_fastest = ns && *ns == fastest_member_ns(portfolio, size);
    if (is_fastest && (!library_ns || *ns < *library_ns)) ++count;
  }
  return count;
}

std::string portfolio_name(const family::Family& family, const FamilyPortfolio& portfolio) {
  return portfolio.types.empty() ? family.name : fmt::format("{} {}", family.name, portfolio.types);
}

Table members_table(const family::Family& family, const FamilyPortfolio& portfolio,
                    const session::PortfolioTimes& times) {
  Table table({{portfolio_name(family, portfolio)},
               {"fastest at", Align::right},
               {"loss so far", Align::right},
               {"configuration", Align::left, Table::Place::below}});
  for (std::size_t i = 0; i < portfolio.chosen.members.size(); ++i) {
    const std::size_t member = portfolio.chosen.members[i];
    const session::PortfolioCandidate& it = times.candidates[member];
    table.add({it.kernel->name, quantity::count(fastest_at(portfolio, member), "size"),
               loss_text(portfolio.chosen.losses_with[i]),
               space::display(*it.kernel->space, it.config)});
  }
  return table;
}

std::string worth_text(const FamilyPortfolio& portfolio) {
  const select::ChosenPortfolio& chosen = portfolio.chosen;
  std::string text =
      fmt::format("At {} the fastest of these{} takes {} longer than the fastest known",
                  quantity::count(portfolio.sizes.size(), "size"),
                  chosen.library_loss ? " or the library" : "", loss_text(chosen.loss));
  if (portfolio.left_out_loss) {
    text +=
        fmt::format("; at a size that did not take part {}", loss_text(*portfolio.left_out_loss));
  }
  if (chosen.library_loss) {
    text += fmt::format("; the library alone {}", loss_text(*chosen.library_loss));
  }
  text += ".\n";
  if (!portfolio.further.empty()) {
    text += fmt::format("Its members were also timed at {}.\n",
                        quantity::count(portfolio.further.size(), "further size"));
  }
  if (chosen.unserved > 0) {
    text += fmt::format("{} {} served by nothing.\n", quantity::count(chosen.unserved, "size"),
                        chosen.unserved == 1 ? "is" : "are");
  }
  return text;
}

std::string extension_text(const family::Family& family, const FamilyPortfolio& portfolio) {
  return fmt::format("{}: {}, timed at {}, {} now\n", portfolio_name(family, portfolio),
                     quantity::count(portfolio.chosen.members.size(), "member"),
                     quantity::count(portfolio.known_sizes, "size"),
                     portfolio.known_sizes + portfolio.further.size());
}

session::PortfolioObserver observer(const CommonOptions& common, const family::Family& family,
                                    const session::PortfolioPlan& plan) {
  if (common.quiet) return {.size_timed = [](const auto&) {}, .searched = [](const auto&) {}};
  return {.size_timed = [&](const session::PortfolioSizeTimed& it) { tell_size(family, plan, it); },
          .searched = [&](const session::PortfolioSearch& it) { tell_search(family, it); }};
}

}  // namespace

PortfolioRun run_portfolio(const CommonOptions& common, const PortfolioOptions& options,
                           const family::Family& family,
                           std::chrono::steady_clock::time_point until,
                           const std::function<bool()>& stop) {
  OpenedDevice opened(options, family, options.seed);
  worker::DeviceProcess& device = opened.device();
  WantedSizes wanted = wanted_sizes(family, options, device.device().backend);
  store::Store store = open_database(common, store::Store::Mode::read_write);
  const session::PortfolioPlan plan =
      plan_of(options, family, wanted, store, device.device(), until);
  if (!common.quiet) tell_plan(family, plan, device);
  PortfolioRun run{.device = device.device(),
                   .wanted = wanted.sizes.size(),
                   .times = session::time_portfolio(family, plan, device, opened.compiler(), store,
                                                    observer(common, family, plan), stop),
                   .portfolios = {}};
  if (!stop()) choose(options, family, wanted.sizes, plan.members, device, store, run);
  return run;
}

PortfolioRun extend_portfolios(const CommonOptions& common, const PortfolioOptions& options,
                               const family::Family& family,
                               std::chrono::steady_clock::time_point until,
                               const std::function<bool()>& stop) {
  OpenedDevice opened(options, family, options.seed);
  worker::DeviceProcess& device = opened.device();
  const WantedSizes wanted = wanted_sizes(family, options, device.device().backend);
  store::Store store = open_database(common, store::Store::Mode::read_write);
  std::vector<store::PortfolioRecord> present = present_portfolios(family, store, device);
  if (options.members)
    add_winners(present, family, wanted.sizes, store, device.device(), *options.members);
  const session::PortfolioPlan plan = extension_plan(options, family, wanted, present, until);
  if (!common.quiet) {
    tell_other_users(device);
    tell(fmt::format("{} on {}: {} of {}, at {}\n", family.name, device.device().name,
                     quantity::count(plan.candidates.size(), "member"),
                     quantity::count(present.size(), "portfolio"),
                     quantity::count(plan.further.size(), "further size")));
  }
  PortfolioRun run{.device = device.device(),
                   .wanted = 0,
                   .times = session::time_portfolio(family, plan, device, opened.compiler(), store,
                                                    observer(common, family, plan), stop),
                   .portfolios = {}};
  for (store::PortfolioRecord& record : present) {
    FamilyPortfolio extended;
    extended.types = record.types;
    extended.further = further_of(run.times, family, record.types);
    extended.chosen.members = plan.present.at(record.types);
    extended.chosen.loss = record.loss;
    extended.left_out_loss = record.left_out_loss;
    extended.known_sizes = record.sizes.size();
    const bool was_timed = add_library_times(record, family, run.times);
    append_sizes(record, family, extended.further);
    record.environment = device.environment();
    record.recorded_at.clear();
    if (was_timed || !extended.further.empty()) store.record_portfolio(device.device(), record);
    run.portfolios.push_back(std::move(extended));
  }
  return run;
}

Json portfolio_json(const family::Family& family, const PortfolioRun& run) {
  Json document = {{"schema", "tune.portfolio/1"}, {"family", family.name},
                   {"device", run.device.name},    {"backend", run.device.backend},
                   {"wanted_sizes", run.wanted},   {"trials", run.times.trials},
                   {"candidates", Json::array()},  {"portfolios", Json::array()}};
  for (const session::PortfolioCandidate& it : run.times.candidates) {
    document["candidates"].push_back(
        {{"kernel", it.kernel->name}, {"config", Json::parse(it.config_json())}});
  }
  for (const FamilyPortfolio& it : run.portfolios) {
    Json sizes = Json::array();
    for (std::size_t size = 0; size < it.sizes.size(); ++size) {
      Json times = Json::array();
      for (const auto& of_candidate : it.matrix.times_ns) {
        times.push_back(number_or_null(of_candidate[size]));
      }
      sizes.push_back({{"size", space::size_json(it.sizes[size].size, family.problem.dims)},
                       {"weight", it.sizes[size].weight},
                       {"loss", it.chosen.losses[size]},
                       {"member_ns", number_or_null(fastest_member_ns(it, size))},
                       {"library_ns", number_or_null(it.matrix.library_ns[size])},
                       {"candidates_ns", std::move(times)}});
    }
    Json further = Json::array();
    for (const session::FurtherSize& size : it.further) {
      further.push_back({{"size", space::size_json(size.size, family.problem.dims)},
                         {"member_ns", number_or_null(size.member_ns)},
                         {"library_ns", number_or_null(size.library_ns)}});
    }
    document["portfolios"].push_back({{"types", it.types},
                                      {"members", it.chosen.members},
                                      {"loss", it.chosen.loss},
                                      {"losses_with", it.chosen.losses_with},
                                      {"left_out_loss", number_or_null(it.left_out_loss)},
                                      {"library_loss", number_or_null(it.chosen.library_loss)},
                                      {"unserved", it.chosen.unserved},
                                      {"sizes", std::move(sizes)},
                                      {"further_sizes", std::move(further)}});
  }
  return document;
}

void print_portfolio(const CommonOptions& common, const family::Family& family,
                     const PortfolioRun& run) {
  const Output output(common);
  if (run.times.sizes.size() < run.wanted) {
    output.tell("{} of {} were finished: --max-time allows no more; the same command continues.\n",
                run.times.sizes.size(), quantity::count(run.wanted, "size"));
  }
  for (const FamilyPortfolio& it : run.portfolios) {
    if (it.known_sizes > 0) {
      output.tell("{}", extension_text(family, it));
      continue;
    }
    output.table(members_table(family, it, run.times));
    output.tell("{}", worth_text(it));
  }
}

}  // namespace tuner::cli
