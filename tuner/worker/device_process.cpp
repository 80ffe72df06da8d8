// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/device_process.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/worker/calls.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tuner::worker {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kPatience = 20;  // times what the same took before
constexpr int kStartsBeforeLost = 3;

/// A worker whose memory a candidate has damaged may send anything.
std::string how_invalid(const Error& error) {
  return fmt::format("sent an invalid answer: {}", error.what());
}

/// Whether the worker that answered so is not to be used again: its device or its memory may be
/// damaged.
bool leaves_damage(Outcome outcome) {
  return outcome == Outcome::crashed || outcome == Outcome::out_of_bounds;
}

}  // namespace

std::vector<space::DeviceInfo> list_devices(const WorkerCommand& command) {
  WorkerProcess worker(command, ProcessLimits{});
  auto answer = worker.receive(DeviceDeadlines{}.start);
  if (const auto* lost = std::get_if<WorkerLost>(&answer)) {
    throw Error(ErrorCode::no_device, "the process that looks for devices " + lost->how);
  }
  const Json& message = std::get<Json>(answer);
  if (message.contains("error")) throw error_from(message.at("error"));
  return *result_in<std::vector<space::DeviceInfo>>(message);
}

DeviceProcess::DeviceProcess(WorkerCommand command, const family::Family& family,
                             std::uint64_t seed, DeviceDeadlines deadlines, Opening opening)
    : command_(std::move(command)), family_(family), seed_(seed), deadlines_(deadlines) {
  begin_opening();
  if (opening == Opening::at_once) finish_opening();
}

DeviceProcess::~DeviceProcess() = default;

void DeviceProcess::begin_opening() {
  worker_ = std::make_unique<WorkerProcess>(command_, ProcessLimits{});
  failpoint("worker.device_started");
  worker_->send(to_message(OpenRequest{.family = files_of(family_), .seed = seed_}));
}

void DeviceProcess::finish_opening() {
  auto answer = worker_->receive(deadlines_.start);
  if (const auto* lost = std::get_if<WorkerLost>(&answer)) {
    worker_.reset();
    throw Error(ErrorCode::no_device,
                "the process that drives the device " + lost->how + " while opening it");
  }
  const Json& message = std::get<Json>(answer);
  if (message.contains("error")) throw error_from(message.at("error"));
  auto opened = from_message<OpenAnswer>(message);
  device_ = std::move(opened.device);
  environment_ = std::move(opened.environment);
  served_another_ = false;
  failpoint("worker.device_ready");
}

void DeviceProcess::require_worker() {
  if (worker_ != nullptr && worker_->alive()) return;
  ++respawns_;
  open_again();
}

void DeviceProcess::replace_process() {
  retire();
  open_again();
}

void DeviceProcess::open_again() {
  for (int attempt = 1;; ++attempt) {
    try {
      begin_opening();
      finish_opening();
      return;
    } catch (const Error& error) {
      if (attempt == kStartsBeforeLost) {
        throw Error(ErrorCode::no_device,
                    fmt::format("{} cannot be used any more: {}\n  Results so far are saved; the "
                                "same command resumes once the device works again.",
                                device_.name, error.what()));
      }
    }
  }
}

void DeviceProcess::retire() {
  worker_.reset();
}

Seconds DeviceProcess::deadline(const DeviceStep& step, const space::Size& size) const {
  if (!step.on_trial) return deadlines_.own_work;
  const auto known = launch_s_.find(size);
  if (!step.launch_s && known == launch_s_.end()) return deadlines_.first_launch;
  const double launch_s = step.launch_s ? *step.launch_s : known->second;
  const Seconds expected(kPatience * step.launches * launch_s);
  return std::max(deadlines_.launch, std::min(deadlines_.longest, expected));
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
    if (const auto announced = message.find("step"); announced != message.end()) {
      try {
        const auto step = from_message<DeviceStep>(*announced, "step");
        at_size = step.size;
        patience = deadline(step, size);
        candidate_ran = candidate_ran || step.on_trial;
        reference = reference_in(step);
      } catch (const Error& error) {
        retire();
        return NoAnswer{.lost = {.late = false, .how = how_invalid(error)},
                        .candidate_ran = candidate_ran,
                        .size = std::move(at_size)};
      }
      failpoint("worker.step_heard");
    } else if (const auto asked = message.find("results");
               asked != message.end() && results_program_ != nullptr) {
      worker_->send(to_message(served(from_message<ResultsMessage>(*asked, "results"))));
    } else if (message.contains("error")) {
      throw error_from(message.at("error"));
    } else {
      failpoint("worker.answer_heard");
      return std::move(message);
    }
  }
}

/// Repeated on a second worker when the first ends during it, but for a reference that hangs.
Json DeviceProcess::ask_device(const Json& request, const space::Size& size) {
  Answer answer = ask(request, size);
  if (const auto* none = std::get_if<NoAnswer>(&answer);
      none != nullptr && !none->reference_hangs()) {
    answer = ask(request, size);
  }
  if (const auto* none = std::get_if<NoAnswer>(&answer)) fail_without_candidate(*none);
  return std::get<Json>(std::move(answer));
}

Expected<Json, Failure> DeviceProcess::ask_about_contender(const Json& request,
                                                           const space::Size& size) {
  Answer answer = ask(request, size);
  if (const auto* none = std::get_if<NoAnswer>(&answer)) return Unexpected(failure_of(*none));
  return std::get<Json>(std::move(answer));
}

void DeviceProcess::contender_failed(const Failure& failure) {
  if (leaves_damage(failure.outcome)) retire();
}

Failure DeviceProcess::invalid_answer(const Error& error) {
  retire();
  return {Outcome::crashed, "the process that ran it " + how_invalid(error)};
}

void DeviceProcess::fail_without_candidate(const NoAnswer& none) const {
  if (none.reference != nullptr && !none.lost.killed) {
    throw Error(ErrorCode::failure,
                fmt::format("the reference kernel {} ({}) fails at size {}: the process that ran "
                            "it {}{}. Nothing can be checked against it: correct the kernel, "
                            "its launch and \"dynamic_shared_bytes\", or the counts, fills and "
                            "alignments of `arguments` in {}",
                            none.reference->name, none.reference->source.name, none.size,
                            none.lost.how, none.reference_hangs() ? "" : ", twice", family_.path));
  }
  throw Error(ErrorCode::no_device,
              fmt::format("the process that drives {} {} twice, before any candidate ran",
                          device_.name, none.lost.how));
}

bool DeviceProcess::may_be_of_another(const NoAnswer& none) const {
  return none.lost.faulted && served_another_;
}

Failure DeviceProcess::failure_of(const NoAnswer& none) const {
  const auto& [lost, candidate_ran, size, reference] = none;
  const Outcome outcome = lost.late ? Outcome::timeout : Outcome::crashed;
  const std::string what =
      reference != nullptr
          ? fmt::format("after it had run, the reference kernel {}", reference->name)
      : lost.late ? "a launch"
                  : "the process that ran it";
  // Checks place buffers where the space file claims them to begin, and no better.
  std::string_view hint;
  if (reference == nullptr && lost.trapped) {
    hint = "; possible causes: a failed assert, __trap()";
  } else if (reference == nullptr && lost.divided) {
    hint = "; possible causes: an integer division by zero, or of the least integer by -1";
  } else if (reference == nullptr && !lost.late) {
    hint =
        "; possible causes: an access far outside its buffers or shared memory, by an index from "
        "memory that was not written, too; a failed assert; a vector load or store without "
        "\"align\" in the space file";
  } else if (reference == nullptr && space::runs_on_host(device_.backend)) {
    hint =
        "; possible causes: an endless loop; one that waits for another thread of its block by "
        "plain reads, without an atomic operation, __threadfence(), __syncwarp() or "
        "__nanosleep(); one that waits for a block of a lower blockIdx, since blocks begin in any "
        "order: take their numbers from an atomicAdd()";
  }
  return {outcome, fmt::format("{} at size {} {}{}", what, size, lost.how, hint)};
}

const family::Kernel* DeviceProcess::reference_in(const DeviceStep& step) const {
  const auto* reference = std::get_if<family::KernelReference>(&family_.check.reference);
  if (reference == nullptr) return nullptr;
  const family::Kernel& kernel = family_.kernel(reference->kernel);
  return kernel.source.name == step.source ? &kernel : nullptr;
}

/// Repeated on a second worker when the first ends before the candidate ran, but for a reference
/// that hangs, or of what a candidate before may have done.
Expected<Json, Failure> DeviceProcess::ask_about_candidate(const Json& request,
                                                           const space::Size& size) {
  Answer answer = ask(request, size);
  if (const auto* none = std::get_if<NoAnswer>(&answer);
      none != nullptr && !none->reference_hangs() &&
      (!none->candidate_ran || may_be_of_another(*none))) {
    answer = ask(request, size);
  }
  served_another_ = true;
  if (const auto* none = std::get_if<NoAnswer>(&answer)) {
    if (!none->candidate_ran) fail_without_candidate(*none);
    return Unexpected(failure_of(*none));
  }
  return std::get<Json>(std::move(answer));
}

void DeviceProcess::candidate_evaluated(const EvaluatedCandidate& result, const space::Size& size) {
  if (leaves_damage(result.outcome)) retire();
  if (result.time) launch_s_.try_emplace(size, 1e-9 * result.time->median_ns);
}

ResultsReply DeviceProcess::served(const ResultsMessage& message) const {
  if (message.key.empty()) {
    const auto answer =
        results_program_->ask({.inputs = message.inputs, .results = message.results});
    return {.kind = static_cast<int>(answer.kind), .reason = answer.reason};
  }
  results_program_->keep(message.key, message.file);
  return {};
}

void DeviceProcess::make_results(const space::Size& size, const verify::ResultsProgram& program) {
  results_program_ = &program;
  try {
    const auto result = result_in<Nothing>(ask_device(request(kMakeResults, size), size));
    if (!result) throw Error(ErrorCode::failure, result.error().message);
  } catch (const Error&) {
    results_program_ = nullptr;
    throw;
  }
  results_program_ = nullptr;
}

StartUp DeviceProcess::start_up() {
  const auto result = result_in<StartUp>(ask_device(request(kStartUp, Nothing{}), {}));
  if (!result) throw Error(ErrorCode::failure, result.error().message);
  return *result;
}

}  // namespace tuner::worker
