// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/evaluator.hpp"

#include "tuner/backend/owned.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/family/check_entries.hpp"
#include "tuner/measure/plausibility.hpp"
#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tuner::worker {
namespace {

/// Milliseconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double elapsed_ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

EvaluatedCandidate failed(EvaluatedCandidate evaluation, Failure failure) {
  evaluation.outcome = failure.outcome;
  evaluation.message = std::move(failure.message);
  evaluation.time.reset();
  return evaluation;
}

std::vector<verify::Instance::Operand> outputs_of(const verify::Instance& instance) {
  std::vector<verify::Instance::Operand> outputs = instance.operands();
  std::erase_if(outputs, [](const verify::Instance::Operand& operand) {
    return operand.role == family::BufferRole::input;
  });
  return outputs;
}

}  // namespace

Expected<backend::LoadedKernel, Failure> Evaluator::load(const Candidate& candidate,
                                                         const space::Size& size) {
  failpoint("worker.loading");
  std::string mismatch = family::signature_mismatch(
      family_, candidate.kernel, family::family_values(size), candidate.binary.image);
  if (!mismatch.empty()) {
    return Unexpected(Failure{Outcome::compile_error, std::move(mismatch)});
  }
  const auto kernel = backend_.load(candidate.binary);
  if (!kernel) return Unexpected(kernel.error());
  backend_.put_on_trial(*kernel);
  failpoint("worker.loaded");
  return backend::LoadedKernel(backend_, *kernel);
}

EvaluatedCandidate Evaluator::evaluate(const Candidate& candidate, const space::Size& size,
                                       std::optional<double> best_ns) {
  EvaluatedCandidate evaluation;
  const Stopwatch verifying;
  const auto kernel = load(candidate, size);
  if (!kernel) return failed(std::move(evaluation), kernel.error());
  evaluation.resources = backend_.resources(kernel->id());
  verify::LoadedCandidate loaded{.kernel = candidate.kernel,
                                 .space = candidate.space,
                                 .config = candidate.config,
                                 .loaded = kernel->id()};

  auto verdict = verifier_.verify(loaded, size);
  evaluation.verify_ms = verifying.elapsed_ms();
  evaluation.checks = verifier_.performed();
  evaluation.laws_left_out = verifier_.laws_left_out();
  if (!verdict) return failed(std::move(evaluation), std::move(verdict.error()));
  evaluation.worst_error = verdict->worst_error;
  evaluation.caution = verifier_.timing_instance(size).caution();
  evaluation.coverage = verifier_.take_coverage();
  failpoint("worker.verified");

  const Stopwatch measuring;
  auto measurement = time_plausibly(candidate, loaded, size, best_ns);
  evaluation.measure_ms = measuring.elapsed_ms();
  evaluation.checks = verifier_.performed();
  if (!measurement) {
    const Failure& failure = measurement.error();
    if (failure.outcome != evaluation.checks.back().outcome) {
      evaluation.checks.push_back({.size = size,
                                   .inputs = "normal",
                                   .check_case = 0,
                                   .seed = evaluation.checks.back().seed,
                                   .launch = "timed",
                                   .outcome = failure.outcome,
                                   .worst_error = std::nullopt,
                                   .message = failure.message,
                                   .element = failure.element});
    }
    return failed(std::move(evaluation), std::move(measurement.error()));
  }
  if (auto failure = implausible_at(size, measurement->time->median_ns)) {
    return failed(std::move(evaluation), std::move(*failure));
  }
  Timing& timing = evaluation;
  timing = *measurement;
  failpoint("worker.judged");
  return evaluation;
}

Expected<measure::Measurement, Failure> Evaluator::time_plausibly(const Candidate& candidate,
                                                                  verify::LoadedCandidate& loaded,
                                                                  const space::Size& size,
                                                                  std::optional<double> best_ns) {
  // On a machine with other work it may be by chance, several times: another program began to
  // compute between the two times. Loaded anew, since a kernel may count its launches.
  constexpr int kRepetitions = 5;
  auto measurement = time(loaded, size, best_ns);
  for (int repetition = 0; measurement; ++repetition) {
    auto failure = measure::contradiction(*measurement);
    if (!failure) break;
    if (repetition == kRepetitions) return Unexpected(std::move(*failure));
    const auto kernel = load(candidate, size);
    if (!kernel) return Unexpected(kernel.error());
    verify::LoadedCandidate again{.kernel = candidate.kernel,
                                  .space = candidate.space,
                                  .config = candidate.config,
                                  .loaded = kernel->id()};
    measurement = time(again, size, best_ns);
  }
  return measurement;
}

Expected<measure::Measurement, Failure> Evaluator::time(verify::LoadedCandidate& candidate,
                                                        const space::Size& size,
                                                        std::optional<double> best_ns) {
  verify::Instance& instance = verifier_.timing_instance(size);
  const auto launch = verify::launch_on(candidate, instance);
  if (!launch) return Unexpected(launch.error());
  const auto watch = clock(instance, *launch);
  if (!watch) return Unexpected(watch.error());
  const auto scratch = candidate.scratch.find(size);
  TimedLaunches audit(
      backend_, instance,
      {.launch = *launch,
       .scratch = scratch == candidate.scratch.end() ? nullptr : &scratch->second},
      [&]() -> OperandCopies& { return copies(instance); }, random_);
  measure::ScreenPlan plan;
  // Repeated launches would change what is updated in place, which is checked below.
  plan.back_to_back = !instance.updates_in_place();
  auto measurement = measure::screen(backend_, *launch, audit, plan, best_ns, **watch);
  if (!measurement) return measurement;
  // The check of state takes hundreds of launches. Candidates that do not lead are checked as
  // finalists.
  const bool leads = !best_ns || measurement->time->median_ns < *best_ns;
  if (leads && (measurement->series_ns || measurement->hot_ns)) {
    if (auto right = audit.check_state(); !right) return Unexpected(std::move(right.error()));
  }
  failpoint("worker.timed");
  if (auto right = verifier_.verify_timed(candidate, size); !right) {
    return Unexpected(std::move(right.error()));
  }
  return measurement;
}

Expected<measure::ClockWatch*, Failure> Evaluator::clock(verify::Instance& instance,
                                                         const backend::Work& work) {
  const space::Size& size = instance.recipe().size;
  if (const auto known = clocks_.find(size); known != clocks_.end()) return &known->second;
  const std::optional<backend::Work> library = instance.library_work();
  const measure::WarmUp warm_up =
      clocks_.empty() ? measure::kWarmUpFromRest : measure::kWarmUpAfterOtherWork;
  const auto of_work = [&] {
    return measure::learn_clock(backend_, work, warm_up,
                                instance.preparation(verify::ordinary_poison));
  };
  auto learned = library ? measure::learn_clock(backend_, *library, warm_up) : of_work();
  // That a library cannot be timed at a size is no fault of its candidates.
  if (!learned && library) learned = of_work();
  if (!learned) return Unexpected(std::move(learned.error()));
  return &clocks_.emplace(size, *learned).first->second;
}

/// Against the fastest unit that any of the family's buffers could be of.
std::optional<Failure> Evaluator::implausible_at(const space::Size& size, double time_ns) const {
  const space::ExpressionValues values = family::family_values(size);
  std::optional<backend::Peak> peak;
  family::ElementType type = family::ElementType::f32;
  for (const family::Argument& argument : family_.arguments) {
    const auto* buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    const family::ElementType its_type = buffer->type.at(values);
    const auto its = backend_.peak(its_type);
    if (!its) return std::nullopt;
    if (peak && its->flops_per_s <= peak->flops_per_s) continue;
    peak = its;
    type = its_type;
  }
  if (!peak) return std::nullopt;
  return measure::implausible(
      {.flops = family::flops_at(family_.problem, size),
       .bytes = family_.problem.moves_all_bytes ? family::bytes_at(family_.problem, size) : 0,
       .type = type},
      time_ns, *peak, static_cast<double>(device().attributes.l2_bytes));
}

void Evaluator::make_results(const space::Size& size, const verify::ResultsProgram& program) {
  if (!making_results_) {
    making_results_.emplace(
        backend_, family_, seed_,
        [this](const verify::VerifyStep& step) {
          backend_.set_size(space::display(step.size, family_.problem.dims));
        },
        program);
  }
  making_results_->make_results(size);
}

void Evaluator::begin_side_by_side(const space::Size& size) {
  contenders_.clear();
  contenders_size_ = size;
  backend_.set_size(space::display(size, family_.problem.dims));
  failpoint("worker.contenders_cleared");
}

Expected<void, Failure> Evaluator::add_contender(const Candidate& candidate) {
  auto kernel = load(candidate, contenders_size_);
  if (!kernel) return Unexpected(std::move(kernel.error()));
  verify::LoadedCandidate loaded{.kernel = candidate.kernel,
                                 .space = candidate.space,
                                 .config = candidate.config,
                                 .loaded = kernel->id()};
  verify::Instance& instance = verifier_.timing_instance(contenders_size_);
  const auto launch = verify::launch_on(loaded, instance);
  if (!launch) return Unexpected(launch.error());
  instance.forget_outputs();  // another contender may round otherwise
  if (verify::Instance* const changed = instance.changed()) changed->forget_outputs();
  contenders_.push_back(
      {.work = *launch, .kernel = std::move(*kernel), .scratch = std::move(loaded.scratch)});
  failpoint("worker.contender_added");
  return {};
}

Expected<std::vector<OutputPlace>, Failure> Evaluator::launch_once(const Candidate& candidate,
                                                                   const space::Size& size) {
  const auto kernel = load(candidate, size);
  if (!kernel) return Unexpected(kernel.error());
  verify::LoadedCandidate loaded{.kernel = candidate.kernel,
                                 .space = candidate.space,
                                 .config = candidate.config,
                                 .loaded = kernel->id()};
  backend_.set_size(space::display(size, family_.problem.dims));
  verify::Instance& instance = verifier_.timing_instance(size);
  const auto launch = verify::launch_on(loaded, instance);
  if (!launch) return Unexpected(launch.error());
  instance.prepare_launch();
  if (auto done = backend_.run(*launch); !done) return Unexpected(std::move(done.error()));
  const auto inspected = instance.inspect();
  if (!inspected && inspected.error().outcome == Outcome::out_of_bounds) {
    return Unexpected(inspected.error());
  }
  launched_size_ = size;
  std::vector<OutputPlace> outputs;
  for (const verify::Instance::Operand& operand : outputs_of(instance)) {
    outputs.push_back({.name = operand.name, .size_bytes = operand.size_bytes});
  }
  return outputs;
}

Expected<std::vector<std::byte>, Failure> Evaluator::read_output(const OutputPart& part) {
  const auto outputs = outputs_of(verifier_.timing_instance(launched_size_));
  const auto lies_in = [&](const verify::Instance::Operand& output) {
    return part.offset_bytes <= output.size_bytes &&
           part.size_bytes <= output.size_bytes - part.offset_bytes;
  };
  if (part.size_bytes > kMostOutputBytes || part.output >= outputs.size() ||
      !lies_in(outputs[part.output])) {
    throw Error(ErrorCode::failure, "a part of an output was asked for that does not exist");
  }
  const backend::Region region = outputs[part.output].region;
  std::vector<std::byte> bytes(part.size_bytes);
  backend_.read({region.buffer, region.offset_bytes + part.offset_bytes}, bytes);
  return bytes;
}

Expected<std::string, Failure> Evaluator::fastest_library_algorithm(const space::Size& size) {
  constexpr int kRounds = 5;
  backend_.set_size(space::display(size, family_.problem.dims));
  const auto work = verifier_.timing_instance(size).library_work();
  if (!work) return std::string();
  auto call = std::get<backend::LibraryCall>(*work);
  const auto right = verifier_.right_algorithms(size, backend_.library_algorithms(call));
  if (!right) return Unexpected(right.error());
  verify::Instance& instance = verifier_.timing_instance(size);
  call = std::get<backend::LibraryCall>(*instance.library_work());
  std::vector<std::vector<double>> times_ns(right->size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < right->size(); ++i) {
      call.algorithm = (*right)[i];
      const auto samples = backend_.time(
          call,
          {.warm_up = round == 0 ? 1 : 0, .before = instance.preparation(verify::ordinary_poison)});
      if (!samples) return Unexpected(samples.error());
      times_ns[i].push_back(samples->front().time_ns);
    }
  }
  const auto fastest = std::ranges::min_element(
      times_ns, {}, [](const auto& its) { return *measure::quantile(its, 0.5); });
  failpoint("worker.library_tuned");
  if (fastest == times_ns.end()) return std::string();
  return (*right)[static_cast<std::size_t>(fastest - times_ns.begin())];
}

Expected<bool, Failure> Evaluator::add_library(const std::string& algorithm) {
  std::optional<backend::Work> library = verifier_.timing_instance(contenders_size_).library_work();
  if (library) {
    std::get<backend::LibraryCall>(*library).algorithm = algorithm;
    contenders_.push_back({.work = *library});
  }
  failpoint("worker.library_added");
  return library.has_value();
}

Expected<backend::Sample, Failure> Evaluator::time_contender(std::size_t contender) {
  std::optional<TimedLaunches> its = audit(contender);
  verify::Instance& instance = verifier_.timing_instance(contenders_size_);
  Contender& timed = contenders_.at(contender);
  // Code that a library loads while a sample is enqueued waits for the device, which waits for the
  // sample: 5 s on a GPU, until the sample is given up.
  const bool loads = !timed.kernel && !std::exchange(timed.has_run, true);
  auto sample = backend_.time(
      timed.work,
      {.warm_up = loads ? 1 : 0,
       .samples = 1,
       .before = its ? its->before_launch() : instance.preparation(verify::ordinary_poison)});
  if (!sample) return Unexpected(std::move(sample.error()));
  if (its) {
    if (auto right = its->after_launch(); !right) return Unexpected(std::move(right.error()));
  }
  failpoint("worker.contender_timed");
  return sample->front();
}

Expected<measure::TransferTimes, Failure> Evaluator::time_transfers(
    std::size_t contender, std::span<const measure::HostPlace> places) {
  constexpr int kSamples = 5;
  verify::Instance& instance = verifier_.timing_instance(contenders_size_);
  std::vector<measure::TransferData> data;
  for (const verify::Instance::Operand& operand : instance.operands()) {
    data.push_back({.region = operand.region,
                    .size_bytes = operand.size_bytes,
                    .role = operand.role,
                    .place = places[data.size()]});
  }
  instance.forget_outputs();  // a library may take another way where data lie elsewhere
  instance.prepare_launch();
  auto times =
      tuner::measure::time_transfers(backend_, contenders_.at(contender).work, data, kSamples);
  if (!times) return times;
  if (const auto right = instance.inspect(); !right) return Unexpected(right.error());
  return times;
}

Expected<double, Failure> Evaluator::time_contender_hot(std::size_t contender) {
  std::optional<TimedLaunches> its = audit(contender);
  if (!is_timed_alone()) {
    if (its) its->before_repetition();
    auto time_ns = backend_.time_hot(contenders_.at(contender).work);
    if (!time_ns || !its) return time_ns;
    if (auto right = its->after_repetition(); !right) return Unexpected(std::move(right.error()));
    if (auto right = its->check_state(); !right) return Unexpected(std::move(right.error()));
    return time_ns;
  }
  constexpr int kSamples = 5;
  std::vector<double> times_ns;
  for (int i = 0; i < kSamples; ++i) {
    const auto sample = time_contender(contender);
    if (!sample) return Unexpected(sample.error());
    times_ns.push_back(sample->time_ns);
  }
  return *measure::quantile(times_ns, 0.5);
}

bool Evaluator::is_timed_alone() const {
  const auto starts_zero = [](const family::Argument& argument) {
    const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
    return buffer != nullptr && buffer->is_written() &&
           buffer->initial == family::InitialContent::zero;
  };
  return family::extends_lists(family_.arguments) ||
         std::ranges::any_of(family_.arguments, starts_zero);
}

OperandCopies& Evaluator::copies(verify::Instance& instance) {
  if (!copies_ || !copies_->are_of(instance.operands())) {
    copies_.emplace(backend_, instance, static_cast<std::size_t>(device().attributes.l2_bytes));
  }
  return *copies_;
}

std::optional<TimedLaunches> Evaluator::audit(std::size_t contender) {
  Contender& its = contenders_.at(contender);
  if (!its.kernel) return std::nullopt;
  verify::Instance& instance = verifier_.timing_instance(contenders_size_);
  const auto scratch = its.scratch.find(contenders_size_);
  return std::optional<TimedLaunches>(
      std::in_place, backend_, instance,
      TimedCandidate{.launch = std::get<backend::Launch>(its.work),
                     .scratch = scratch == its.scratch.end() ? nullptr : &scratch->second},
      [this, &instance]() -> OperandCopies& { return copies(instance); }, random_);
}

std::vector<backend::Work> Evaluator::works_of_series(std::size_t contender,
                                                      std::optional<TimedLaunches>& audit) {
  if (audit) return audit->before_series();
  std::vector<backend::Work> works;
  const OperandCopies& all = copies(verifier_.timing_instance(contenders_size_));
  for (OperandCopies::Run& run :
       all.runs(contenders_.at(contender).work, OperandCopies::Outputs::own)) {
    works.push_back(std::move(run.work));
  }
  return works;
}

Expected<std::optional<double>, Failure> Evaluator::time_contender_series(std::size_t contender,
                                                                          backend::Lead lead) {
  if (is_timed_alone()) return std::optional<double>();
  std::optional<TimedLaunches> its = audit(contender);
  const auto timed = backend_.time_series(works_of_series(contender, its), lead);
  if (!timed) return Unexpected(timed.error());
  if (its) {
    if (auto right = its->after_series(timed->runs); !right) return Unexpected(right.error());
  }
  return std::optional(timed->time_ns);
}

Expected<std::optional<backend::RegimeTimes>, Failure> Evaluator::time_contender_regimes(
    std::size_t contender) {
  if (is_timed_alone()) return std::optional<backend::RegimeTimes>();
  std::optional<TimedLaunches> its = audit(contender);
  auto times = backend_.time_regimes(works_of_series(contender, its));
  if (!times || !its) return times;
  if (auto right = its->after_series(0); !right) return Unexpected(right.error());
  return times;
}

Expected<std::optional<backend::EnergySample>, Failure> Evaluator::measure_contender_energy(
    std::size_t contender, double window_s) {
  if (is_timed_alone()) return std::optional<backend::EnergySample>();
  std::optional<TimedLaunches> its = audit(contender);
  if (its) its->before_repetition();
  auto energy = backend_.measure_energy(contenders_.at(contender).work, window_s);
  if (!energy || !its) return energy;
  if (auto right = its->after_repetition(); !right) return Unexpected(std::move(right.error()));
  return energy;
}

std::optional<double> Evaluator::idle_watts() {
  return backend_.idle_watts();
}

Expected<counters::CounterReading, Failure> Evaluator::count_contender(std::size_t contender) {
  verify::Instance& instance = verifier_.timing_instance(contenders_size_);
  return backend_.count(contenders_.at(contender).work,
                        instance.preparation(verify::ordinary_poison));
}

}  // namespace tuner::worker
