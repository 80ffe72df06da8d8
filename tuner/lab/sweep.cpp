// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/sweep.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/session/library_time.hpp"
#include "tuner/verify/problem_data.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace tuner::lab {
namespace {

/// What is expected to take how long at a size, going by the times at smaller ones. Up to
/// kMostOverheadNs the shortest time is taken to be overhead, which does not grow with the work.
class Expectation {
 public:
  explicit Expectation(const family::Problem& problem) : problem_(problem) {}

  void learn(const std::string& who, const space::Size& size, double time_ns) {
    const auto [known, is_first] = known_.try_emplace(who);
    Known& its = known->second;
    its.overhead_ns = is_first ? time_ns : std::min(its.overhead_ns, time_ns);
    its.work = work(size);
    its.time_ns = time_ns;
  }
  /// 0 where nothing is known.
  [[nodiscard]] double time_ns(const std::string& who, const space::Size& size) const {
    const auto known = known_.find(who);
    if (known == known_.end()) return 0;
    const auto& [last_work, last_ns, shortest_ns] = known->second;
    const double overhead_ns = last_ns > kMostOverheadNs ? 0 : shortest_ns;
    return overhead_ns + (last_ns - overhead_ns) * work(size) / last_work;
  }

 private:
  static constexpr double kMostOverheadNs = 1e6;

  struct Known {
    double work = 0, time_ns = 0, overhead_ns = 0;
  };
  [[nodiscard]] double work(const space::Size& size) const {
    const double flops = family::flops_at(problem_, size);
    return std::max(1.0, flops > 0 ? flops : family::bytes_at(problem_, size));
  }

  const family::Problem& problem_;
  std::map<std::string, Known> known_;
};

class Sweep {
 public:
  Sweep(const family::Family& family, const SweepPlan& plan, worker::DeviceWorker& device,
        const backend::Compiler& compiler, const std::function<void(const SweepTime&)>& heard,
        const std::function<bool()>& stop)
      : family_(family),
        plan_(plan),
        device_(device),
        heard_(heard),
        stop_(stop),
        pool_(compiler, 1),
        expected_(family.problem) {}

  SweepResult run() {
    for (std::size_t i = 0; i < plan_.sizes.size() && !stop_(); ++i) at_size(i);
    return std::move(result_);
  }

 private:
  /// The configuration that a contender takes part with, and its compiled code.
  struct Entrant {
    const family::Kernel* kernel;
    space::BoundDefinition space;
    space::Config config;
    backend::Binary binary = {};
  };
  /// A contender that was timed at the present size.
  struct Timed {
    std::string name;
    double time_ns = 0;
    std::optional<Entrant> entrant = {};  ///< none: the library
  };

  [[nodiscard]] const space::Size& size() const { return plan_.sizes[at_]; }

  void at_size(std::size_t index) {
    at_ = index;
    result_.exact_results.emplace_back();
    try {
      verify::check_size(family_, device_.device().attributes, size());
    } catch (const Error& error) {
      skip("", "", error.what());
      return;
    }
    timed_.clear();
    for (const SweepContender& contender : plan_.contenders) {
      if (stop_()) break;
      if (!is_too_slow(contender.name, "")) time_contender(contender);
    }
    if (timed_.empty()) return;
    result_.exact_results.back() = device_.exact_result(size());
    for (const Timed& timed : timed_) time_placements(timed);
  }

  void skip(const std::string& contender, const std::string& placement, std::string why) {
    result_.skipped.push_back(
        {.contender = contender, .placement = placement, .size = at_, .why = std::move(why)});
  }

  /// Whether it is skipped here for the time it is expected to take.
  [[nodiscard]] bool is_too_slow(const std::string& contender, const std::string& placement) {
    const double expected_ns = expected_.time_ns(contender + '\n' + placement, size());
    if (expected_ns <= plan_.most_run_ns) return false;
    skip(contender, placement,
         fmt::format("expected to take {}, longer than the limit of {}",
                     quantity::time(expected_ns), quantity::time(plan_.most_run_ns)));
    return true;
  }

  void time_contender(const SweepContender& contender) {
    std::optional<Entrant> entrant;
    if (contender.choose) {
      entrant = entrant_of(contender);
      if (!entrant) return;
    }
    SweepTime timing = guarded(contender.name, entrant);
    if (timing.time) {
      expected_.learn(contender.name + '\n', size(), timing.time->median_ns);
      timed_.push_back({.name = contender.name,
                        .time_ns = timing.time->median_ns,
                        .entrant = std::move(entrant)});
    }
    heard_(timing);
    result_.times.push_back(std::move(timing));
  }

  /// An external failure costs a contender this size, and no other contender.
  SweepTime guarded(const std::string& name, std::optional<Entrant>& entrant) {
    try {
      return entrant ? judge(name, *entrant) : library_time(name);
    } catch (const Error& error) {
      return {.contender = name,
              .size = at_,
              .outcome = Outcome::launch_error,
              .message = error.what(),
              .kernel = entrant ? entrant->kernel->name : ""};
    }
  }

  [[nodiscard]] std::optional<double> best_ns() const {
    const auto best = std::ranges::min_element(timed_, {}, &Timed::time_ns);
    return best == timed_.end() ? std::nullopt : std::optional(best->time_ns);
  }

  [[nodiscard]] std::optional<Entrant> entrant_of(const SweepContender& contender) {
    std::optional<SweepChoice> choice;
    try {
      choice = contender.choose(size());
    } catch (const Error& error) {  // the kernel has no such value
      skip(contender.name, "", error.what());
      return std::nullopt;
    }
    if (!choice) {
      skip(contender.name, "", "there is no result to choose from");
      return std::nullopt;
    }
    space::BoundDefinition space(choice->kernel->space, device_.device().attributes, size());
    const space::Config config = choice->config.value_or(space.default_config());
    if (!space.contains(config)) {
      const auto violation = space.violation(config);
      skip(contender.name, "", violation ? violation->message : "its space has no such value");
      return std::nullopt;
    }
    return Entrant{.kernel = choice->kernel, .space = std::move(space), .config = config};
  }

  SweepTime judge(const std::string& name, Entrant& entrant) {
    const auto& [kernel, space, config, binary] = entrant;
    SweepTime timing{.contender = name,
                     .size = at_,
                     .kernel = kernel->name,
                     .config_json = space::canonical_json(*kernel->space, config)};
    const auto fail = [&](const Failure& failure) {
      timing.outcome = failure.outcome;
      timing.message = failure.message;
      return timing;
    };
    try {
      family::CompileJob job = family::compile_job(*kernel, space, config);
      const bool is_new = compiled_.insert(job.key).second;
      const worker::Compiled compiled = pool_.submit(std::move(job)).get();
      if (is_new) timing.compile_ms = compiled.compile_ms;
      if (!compiled.binary) return fail(compiled.binary.error());
      entrant.binary = *compiled.binary;
    } catch (const Error& error) {
      // A value that the entry or the options need does not exist for this configuration.
      return fail({Outcome::compile_error, error.what()});
    }
    const worker::EvaluatedCandidate evaluation =
        device_.evaluate(candidate(entrant), size(), best_ns());
    timing.outcome = evaluation.outcome;
    timing.message = evaluation.message;
    timing.worst_error = evaluation.worst_error;
    timing.clock_mhz = evaluation.clock_mhz;
    if (evaluation.time) timing.time = *evaluation.time;
    return timing;
  }

  [[nodiscard]] static worker::Candidate candidate(const Entrant& entrant) {
    return {.kernel = *entrant.kernel,
            .space = entrant.space,
            .config = entrant.config,
            .binary = entrant.binary};
  }

  SweepTime library_time(const std::string& name) {
    SweepTime timing{.contender = name, .size = at_};
    const auto library = session::time_library(device_, size());
    if (library && *library) {
      timing.time = (*library)->time;
      timing.clock_mhz = (*library)->clock_mhz;
    } else if (!library) {
      timing.outcome = library.error().outcome;
      timing.message = library.error().message;
    }
    return timing;
  }

  void time_placements(const Timed& timed) {
    for (const Placement& placement : plan_.placements) {
      if (stop_() || is_too_slow(timed.name, placement.name)) continue;
      SweepTransfer transfer{.contender = timed.name, .size = at_, .placement = placement.name};
      const auto times = time_transfers(timed, placement);
      if (times) {
        transfer.times = *times;
        expected_.learn(timed.name + '\n' + placement.name, size(), times->total_ns());
      } else {
        transfer.outcome = times.error().outcome;
        transfer.message = times.error().message;
      }
      result_.transfers.push_back(std::move(transfer));
    }
  }

  /// In a comparison of its own: after a failed one no contender can be added to the previous one.
  [[nodiscard]] Expected<measure::TransferTimes, Failure> time_transfers(
      const Timed& timed, const Placement& placement) {
    try {
      device_.begin_side_by_side(size());
      if (timed.entrant) {
        const auto added = device_.add_contender(candidate(*timed.entrant));
        if (!added) return Unexpected(added.error());
      } else if (const auto added = device_.add_library({}); !added) {
        return Unexpected(added.error());
      }
      return device_.time_transfers(0, placement.places);
    } catch (const Error& error) {
      return Unexpected(Failure{Outcome::launch_error, error.what()});
    }
  }

  const family::Family& family_;
  const SweepPlan& plan_;
  worker::DeviceWorker& device_;
  const std::function<void(const SweepTime&)>& heard_;
  const std::function<bool()>& stop_;
  worker::CompilePool pool_;
  Expectation expected_;
  std::set<std::string> compiled_;  // keys of what was compiled in this sweep
  std::size_t at_ = 0;
  std::vector<Timed> timed_;  // at the present size
  SweepResult result_;
};

}  // namespace

SweepResult run_sweep(const family::Family& family, const SweepPlan& plan,
                      worker::DeviceWorker& device, const backend::Compiler& compiler,
                      const std::function<void(const SweepTime&)>& heard,
                      const std::function<bool()>& stop) {
  return Sweep(family, plan, device, compiler, heard, stop).run();
}

namespace {

/// Of a size at which both were timed.
bool are_tied(const SweepCurve& one, const SweepCurve& other, std::size_t size) {
  constexpr double kClose = 1.05;
  const double a = *one.times_ns[size], b = *other.times_ns[size];
  if (std::max(a, b) <= kClose * std::min(a, b)) return true;
  if (size >= one.quartiles_ns.size() || size >= other.quartiles_ns.size()) return false;
  const auto &its = one.quartiles_ns[size], &others = other.quartiles_ns[size];
  return its && others && its->first <= others->second && others->first <= its->second;
}

}  // namespace

std::vector<FasterStretch> faster_stretches(const SweepCurve& one, const SweepCurve& other) {
  std::vector<FasterStretch> found;
  bool interrupted = true;
  for (std::size_t i = 0; i < std::min(one.times_ns.size(), other.times_ns.size()); ++i) {
    const auto a = one.times_ns[i], b = other.times_ns[i];
    if (!a || !b) {
      interrupted = true;
      continue;
    }
    const std::string faster(are_tied(one, other, i) ? kNeither : *b < *a ? other.name : one.name);
    if (interrupted || found.back().faster != faster) {
      found.push_back({.faster = faster, .first = i, .last = i});
    }
    found.back().last = i;
    interrupted = false;
  }
  return found;
}

namespace {

measure::HostPlace place_named(const std::string& name) {
  if (const auto place = measure::host_place(name)) return *place;
  const std::vector<std::string> known = {"pageable", "pinned", "mapped"};
  throw Error(ErrorCode::usage, fmt::format("--memory: there is no '{}'{}; there are pageable, "
                                            "pinned and mapped",
                                            name, did_you_mean(name, known)));
}

std::vector<std::string> buffers_of(const family::Family& family) {
  std::vector<std::string> buffers;
  for (const family::Argument& argument : family.arguments) {
    if (std::holds_alternative<family::BufferArgument>(argument.what))
      buffers.push_back(argument.name);
  }
  return buffers;
}

}  // namespace

Placement parse_placement(const std::string& text, const family::Family& family) {
  const std::vector<std::string> buffers = buffers_of(family);
  if (text.find('=') == std::string::npos) {
    return {.name = text, .places = std::vector(buffers.size(), place_named(text))};
  }
  Placement placement{.name = text,
                      .places = std::vector(buffers.size(), measure::HostPlace::pageable)};
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    const std::string buffer = one.substr(0, one.find('='));
    const auto found = std::ranges::find(buffers, buffer);
    if (found == buffers.end() || buffer.size() == one.size()) {
      throw Error(ErrorCode::usage,
                  fmt::format("--memory {}: {} has no buffer '{}'{}; write A=mapped,B=pinned", text,
                              family.name, buffer, did_you_mean(buffer, buffers)));
    }
    placement.places[static_cast<std::size_t>(found - buffers.begin())] =
        place_named(one.substr(buffer.size() + 1));
  }
  return placement;
}

}  // namespace tuner::lab
