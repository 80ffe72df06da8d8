// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/device_process.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/worker/message.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tuner::worker {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kPatience = 20;  // times what the same took before
constexpr int kStartsBeforeLost = 3;

Json candidate_message(const Candidate& candidate) {
  return {{"kernel", candidate.kernel.name},
          {"config", space::canonical_json(candidate.space.definition(), candidate.config)},
          {"binary", to_message(candidate.binary)}};
}

TrialResult evaluation_of(const Failure& failure, Seconds spent) {
  TrialResult evaluation;
  evaluation.outcome = failure.outcome;
  evaluation.message = failure.message;
  evaluation.verify_ms = 1e3 * spent.count();
  return evaluation;
}

/// What a worker whose memory a candidate has damaged says may be anything.
std::string nonsense(const Error& error) {
  return fmt::format("talks nonsense: {}", error.what());
}

TrialResult evaluation_in(const Json& message) {
  try {
    return evaluation_from(message);
  } catch (const Error& error) {
    return evaluation_of({Outcome::crashed, "the process that ran it " + nonsense(error)},
                         Seconds(0));
  }
}

/// Whether the worker that answered so is not to be used again: its device or its memory may be
/// damaged.
bool leaves_damage(Outcome outcome) {
  return outcome == Outcome::crashed || outcome == Outcome::out_of_bounds;
}

}  // namespace

DeviceProcess::DeviceProcess(WorkerCommand command, const family::Family& family,
                             std::uint64_t seed, DeviceDeadlines deadlines)
    : command_(std::move(command)), family_(family), seed_(seed), deadlines_(deadlines) {
  start();
}

DeviceProcess::~DeviceProcess() = default;

void DeviceProcess::start() {
  worker_ = std::make_unique<WorkerProcess>(command_, ProcessLimits{});
  failpoint("worker.device_started");
  worker_->send({{"family", to_message(family_)}, {"seed", seed_}});
  auto answer = worker_->receive(deadlines_.start);
  if (const auto* lost = std::get_if<WorkerLost>(&answer)) {
    worker_.reset();
    throw Error(ErrorCode::no_device,
                "the process that drives the device " + lost->how + " while opening it");
  }
  const Json& message = std::get<Json>(answer);
  if (message.contains("error")) throw error_from(field<Json>(message, "error"));
  device_ = device_from(field<Json>(message, "device"));
  environment_ = environment_from(field<Json>(message, "environment"));
  served_another_ = false;
  failpoint("worker.device_ready");
}

void DeviceProcess::require_worker() {
  if (worker_ != nullptr && worker_->alive()) return;
  for (int attempt = 1;; ++attempt) {
    try {
      ++respawns_;
      start();
      return;
    } catch (const Error& error) {
      if (attempt == kStartsBeforeLost) {
        throw Error(ErrorCode::no_device,
                    fmt::format("{} cannot be used any more: {}\n  Everything so far is saved; the "
                                "same command goes on once the device works again.",
                                device_.name, error.what()));
      }
    }
  }
}

void DeviceProcess::retire() {
  worker_.reset();
}

Seconds DeviceProcess::deadline(const Json& step, const space::Size& size) const {
  if (!field<bool>(step, "on_trial")) return deadlines_.own_work;
  const Json repeated = field<Json>(step, "launch_s");
  const auto known = launch_s_.find(size);
  if (repeated.is_null() && known == launch_s_.end()) return deadlines_.first_launch;
  const double launch_s = repeated.is_null() ? known->second : field<double>(step, "launch_s");
  return std::max(deadlines_.launch, Seconds(kPatience * field<int>(step, "launches") * launch_s));
}

DeviceProcess::Answer DeviceProcess::ask(const Json& request, const space::Size& size) {
  require_worker();
  worker_->send(request);
  failpoint("worker.asked");
  bool candidate_ran = false;
  const family::Kernel* reference = nullptr;
  std::string at_size = space::display(size, family_.problem.dims);
  Seconds patience = deadlines_.own_work;
  for (;;) {
    auto arrived = worker_->receive(patience);
    if (auto* lost = std::get_if<WorkerLost>(&arrived)) {
      retire();
      return NoAnswer{.lost = std::move(*lost),
                      .candidate_ran = candidate_ran,
                      .size = std::move(at_size),
                      .reference = reference};
    }
    Json& message = std::get<Json>(arrived);
    if (const auto step = message.find("step"); step != message.end()) {
      try {
        at_size = field<std::string>(*step, "size");
        patience = deadline(*step, size);
        candidate_ran = candidate_ran || field<bool>(*step, "on_trial");
        reference = reference_in(*step);
      } catch (const Error& error) {
        retire();
        return NoAnswer{.lost = {.late = false, .how = nonsense(error)},
                        .candidate_ran = candidate_ran,
                        .size = std::move(at_size)};
      }
      failpoint("worker.step_heard");
    } else if (message.contains("error")) {
      throw error_from(field<Json>(message, "error"));
    } else {
      failpoint("worker.answer_heard");
      return std::move(message);
    }
  }
}

Json DeviceProcess::ask_again(const Json& request, const space::Size& size) {
  Answer answer = ask(request, size);
  if (std::holds_alternative<NoAnswer>(answer)) answer = ask(request, size);
  if (auto* message = std::get_if<Json>(&answer)) return std::move(*message);
  fail_without_candidate(std::get<NoAnswer>(answer));
}

void DeviceProcess::fail_without_candidate(const NoAnswer& none) const {
  if (none.reference != nullptr) {
    throw Error(ErrorCode::failure,
                fmt::format("the reference kernel {} ({}) fails at size {}: the process that ran "
                            "it {}, twice. Nothing can be checked against it: it must be right for "
                            "the inputs that `arguments` of {} describe",
                            none.reference->name, none.reference->source.name, none.size,
                            none.lost.how, family_.path));
  }
  throw Error(ErrorCode::failure,
              fmt::format("the process that drives {} {} twice, before any candidate ran",
                          device_.name, none.lost.how));
}

bool DeviceProcess::may_be_of_another(const NoAnswer& none) const {
  return none.lost.faulted && served_another_;
}

Failure DeviceProcess::failure_of(const NoAnswer& none) {
  const auto& [lost, candidate_ran, size, reference] = none;
  const Outcome outcome = lost.late ? Outcome::timeout : Outcome::crashed;
  const std::string what =
      reference != nullptr
          ? fmt::format("after it had run, the reference kernel {}", reference->name)
      : lost.late ? "a launch"
                  : "the process that ran it";
  // Checks place buffers where the space file claims them to begin, and no better.
  const std::string_view hint =
      reference != nullptr || lost.late
          ? ""
          : "; a write far beside its buffers ends so, and a vector loaded or stored where the "
            "space file claims no \"align\"";
  return {outcome, fmt::format("{} at size {} {}{}", what, size, lost.how, hint)};
}

const family::Kernel* DeviceProcess::reference_in(const Json& step) const {
  const auto* reference = std::get_if<family::KernelReference>(&family_.check.reference);
  if (reference == nullptr || !step.contains("source")) return nullptr;
  const family::Kernel& kernel = family_.kernel(reference->kernel);
  return kernel.source.name == field<std::string>(step, "source") ? &kernel : nullptr;
}

TrialResult DeviceProcess::evaluate(const Candidate& candidate, const space::Size& size,
                                    std::optional<double> best_ns) {
  Json request = candidate_message(candidate);
  request["do"] = "evaluate";
  request["size"] = size;
  request["best_ns"] = best_ns ? Json(*best_ns) : Json();
  const auto begin = Channel::Clock::now();
  Answer answer = ask(request, size);
  if (const auto* none = std::get_if<NoAnswer>(&answer);
      none != nullptr && (!none->candidate_ran || may_be_of_another(*none))) {
    answer = ask(request, size);
  }
  served_another_ = true;
  if (const auto* none = std::get_if<NoAnswer>(&answer)) {
    if (!none->candidate_ran) fail_without_candidate(*none);
    return evaluation_of(failure_of(*none), Channel::Clock::now() - begin);
  }
  const TrialResult evaluation = evaluation_in(std::get<Json>(answer));
  if (leaves_damage(evaluation.outcome)) retire();
  if (evaluation.time) launch_s_.try_emplace(size, 1e-9 * evaluation.time->median);
  return evaluation;
}

void DeviceProcess::begin_side_by_side(const space::Size& size) {
  contenders_size_ = size;
  static_cast<void>(ask_again({{"do", "begin_side_by_side"}, {"size", size}}, size));
}

template <class Read>
Expected<std::invoke_result_t<Read, const Json&>, Failure> DeviceProcess::ask_about_contender(
    const Json& request, const Read& read) {
  const Answer answer = ask(request, contenders_size_);
  if (const auto* none = std::get_if<NoAnswer>(&answer)) return Unexpected(failure_of(*none));
  const Json& message = std::get<Json>(answer);
  try {
    if (!message.contains("failure")) return read(message);
    Failure failure = failure_from(field<Json>(message, "failure"));
    if (leaves_damage(failure.outcome)) retire();
    return Unexpected(std::move(failure));
  } catch (const Error& error) {
    retire();
    return Unexpected(Failure{Outcome::crashed, "the process that ran it " + nonsense(error)});
  }
}

Expected<void, Failure> DeviceProcess::add_contender(const Candidate& candidate) {
  Json request = candidate_message(candidate);
  request["do"] = "add_contender";
  const auto added = ask_about_contender(request, [](const Json&) { return true; });
  if (!added) return Unexpected(added.error());
  return {};
}

Expected<bool, Failure> DeviceProcess::add_library() {
  return ask_about_contender({{"do", "add_library"}},
                             [](const Json& answer) { return field<bool>(answer, "added"); });
}

Expected<backend::Sample, Failure> DeviceProcess::time_contender(std::size_t contender) {
  return ask_about_contender(
      {{"do", "time_contender"}, {"contender", contender}},
      [](const Json& answer) { return sample_from(field<Json>(answer, "sample")); });
}

Expected<double, Failure> DeviceProcess::time_contender_hot(std::size_t contender) {
  return ask_about_contender({{"do", "time_contender_hot"}, {"contender", contender}},
                             [](const Json& answer) { return field<double>(answer, "time_ns"); });
}

Expected<measure::TransferTimes, Failure> DeviceProcess::time_transfers(
    std::size_t contender, std::span<const measure::HostPlace> places) {
  Json names = Json::array();
  for (const measure::HostPlace place : places) names.push_back(measure::name(place));
  return ask_about_contender(
      {{"do", "time_transfers"}, {"contender", contender}, {"places", std::move(names)}},
      [](const Json& answer) { return trip_times_from(field<Json>(answer, "times")); });
}

std::string DeviceProcess::exact_result(const space::Size& size) {
  return field<std::string>(ask_again({{"do", "exact_result"}, {"size", size}}, size), "hash");
}

StartUp DeviceProcess::start_up() {
  return start_up_from(ask_again({{"do", "start_up"}}, {}));
}

std::vector<int> DeviceProcess::other_processes() {
  return field<std::vector<int>>(ask_again({{"do", "other_processes"}}, {}), "processes");
}

}  // namespace tuner::worker
