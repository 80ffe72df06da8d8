// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/configuration_reader.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/judge_report.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/time_limit.hpp"
#include "tuner/core/error.hpp"
#include "tuner/family/check_entries.hpp"
#include "tuner/family/check_promises.hpp"
#include "tuner/session/bench.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tuner::cli {
namespace {

/// The part of the time for the whole that comparing times may take.
constexpr int kTimingShare = 4;

/// A report that a thread may print at any moment.
class SharedReport {
 public:
  SharedReport(const CommonOptions& common, const JudgeOptions& options,
               std::chrono::milliseconds limit)
      : common_(common) {
    report_.seed = options.seed;
    report_.limit_s = std::chrono::duration<double>(limit).count();
  }

  void update(const std::function<void(JudgeReport&)>& change) {
    const std::scoped_lock lock(mutex_);
    change(report_);
  }
  void begin(std::string stage) {
    update([&](JudgeReport& report) { report.stage = std::move(stage); });
  }
  [[nodiscard]] JudgeVerdict verdict() const {
    const std::scoped_lock lock(mutex_);
    return report_.verdict;
  }

  /// Prints it as the verdict says.
  void print(JudgeVerdict verdict, const std::string& message) {
    const std::scoped_lock lock(mutex_);
    report_.verdict = verdict;
    report_.message = message;
    report_.elapsed_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (common_.json) {
      fmt::print("{}", json_text(judge_json(report_)));
    } else if (verdict != JudgeVerdict::error) {
      Output(common_).tell("{}", judge_text(report_));
    }
  }

 private:
  const CommonOptions& common_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  JudgeReport report_;
};

std::string_view stage_name(session::BenchStage stage) {
  switch (stage) {
    case session::BenchStage::compile:
      return "compile";
    case session::BenchStage::verify:
      return "verify";
    case session::BenchStage::time:
      return "time";
  }
  return "";
}

const family::KernelReference* reference_kernel(const family::Family& family) {
  return std::get_if<family::KernelReference>(&family.check.reference);
}

/// The kernel asked for, else the only one beside the reference.
const family::Kernel& judged_kernel(const family::Family& family, const std::string& asked) {
  if (!asked.empty()) return family.kernel(asked);
  const family::KernelReference* const reference = reference_kernel(family);
  const auto is_candidate = [&](const family::Kernel& kernel) {
    return reference == nullptr || kernel.name != reference->kernel;
  };
  if (std::ranges::count_if(family.kernels, is_candidate) == 1) {
    return *std::ranges::find_if(family.kernels, is_candidate);
  }
  return chosen_kernel(family, {});
}

/// The reference, unless it is what is judged or does not run on the backend.
const family::Kernel* timed_reference(const family::Family& family, const family::Kernel& kernel,
                                      const std::string& backend) {
  const family::KernelReference* const reference = reference_kernel(family);
  if (reference == nullptr || reference->kernel == kernel.name) return nullptr;
  const family::Kernel& found = family.kernel(reference->kernel);
  return found.runs_on(backend) ? &found : nullptr;
}

/// Judges, and tells a report each thing as it becomes known.
class Judge {
 public:
  Judge(const CommonOptions& common, const JudgeOptions& options, std::chrono::milliseconds limit,
        SharedReport& report)
      : common_(common), options_(options), limit_(limit), report_(report) {}

  /// The exit code of a signal, if one came.
  std::optional<int> run() {
    const auto family = std::make_shared<const family::Family>(family::load_family(options_.space));
    const family::Kernel& kernel = judged_kernel(*family, options_.kernel);
    report_.update([&](JudgeReport& report) {
      report.family = family;
      report.kernel = &kernel;
      report.stage = "open";
    });
    family::check_entries(*family, kernel);
    OpenedDevice opened(options_, *family, options_.seed);
    worker::DeviceProcess& device = opened.device();
    require_backend(kernel, device.device().backend);
    report_.update([&](JudgeReport& report) {
      report.device = device.device();
      report.environment = device.environment();
    });
    const space::Size size = chosen_judge_size(*family, device.device().backend);
    report_.update([&](JudgeReport& report) {
      report.size = size;
      report.warnings = family::check_cautions(*family, size);
      std::ranges::move(other_users(device), std::back_inserter(report.warnings));
    });
    const space::Config config =
        ConfigurationReader(common_, *family, kernel, device.device(), size)
            .read(options_.config.empty() ? "default" : options_.config);
    report_.update([&](JudgeReport& report) { report.config = config; });
    const Interrupt interrupt;
    bench(*family, kernel, plan(*family, kernel, size, config, device), opened, interrupt);
    if (!interrupt.exit_code() && options_.store) store(*family, kernel, device);
    return interrupt.exit_code();
  }

 private:
  [[nodiscard]] space::Size chosen_judge_size(const family::Family& family,
                                              const std::string& backend) const {
    TuneOptions sizes;
    if (!options_.size.empty()) sizes.sizes = {options_.size};
    return chosen_sizes(family, sizes, backend).front();
  }

  [[nodiscard]] session::BenchPlan plan(const family::Family& family, const family::Kernel& kernel,
                                        const space::Size& size, const space::Config& config,
                                        const worker::DeviceProcess& device) const {
    session::BenchPlan plan;
    plan.size = size;
    plan.configs = {config};
    plan.finals.seed = options_.seed;
    plan.finals.budget = std::min(plan.finals.budget, limit_ / kTimingShare);
    plan.compile_threads = spare_cores();
    plan.beside = session::BenchPlan::Beside::first;
    plan.companion = timed_reference(family, kernel, device.device().backend);
    plan.reads_counters = true;
    plan.began = [this](session::BenchStage stage) {
      report_.begin(std::string(stage_name(stage)));
    };
    return plan;
  }

  void bench(const family::Family& family, const family::Kernel& kernel, session::BenchPlan plan,
             OpenedDevice& opened, const Interrupt& interrupt) {
    // What was asked comes first. The rest, by which it is compared, is judged only if it is right.
    bool is_refused = false;
    bool is_first = true;
    plan.judged = [&](const session::BenchContender& contender) {
      if (!std::exchange(is_first, false)) return;
      is_refused = contender.trial.outcome != Outcome::ok;
      report_.update([&](JudgeReport& report) { report.judged = contender; });
    };
    session::BenchResult result =
        session::run_bench(kernel, plan, opened.device(), opened.compiler(),
                           [&] { return is_refused || interrupt.requested(); });
    const std::string config_json = space::canonical_json(*kernel.space, plan.configs.front());
    report_.update([&](JudgeReport& report) {
      add_warnings(result, config_json, family, report);
      for (const session::BenchContender& each : result.contenders) {
        if (each.trial.config_json == config_json) report.judged = each;
      }
      report.result = std::move(result);
      if (interrupt.requested()) {
        report.verdict = JudgeVerdict::interrupted;
        return;
      }
      report.stage = "done";
      report.verdict =
          report.judged->trial.outcome == Outcome::ok ? JudgeVerdict::ok : JudgeVerdict::refused;
    });
  }

  static void add_warnings(const session::BenchResult& result, const std::string& config_json,
                           const family::Family& family, JudgeReport& report) {
    const auto warn = [&](std::string text) {
      if (!text.empty()) report.warnings.push_back(std::move(text));
    };
    for (const session::BenchContender& each : result.contenders) {
      const bool is_judged = each.trial.config_json == config_json;
      if (is_judged) warn(each.caution);
      if (is_judged && each.trial.outcome == Outcome::ok && !each.timed) {
        warn("the device was too unsteady for an interval of the time");
      }
      if (is_judged && each.trial.power_capped) warn("the power limit held the clock");
      if (!is_judged && each.role == "default" && each.trial.outcome != Outcome::ok) {
        warn(fmt::format("the default configuration ended {}: {}", name(each.trial.outcome),
                         each.trial.message));
      }
    }
    if (!result.library_problem.empty()) {
      warn(fmt::format("the library could not be timed: {}", result.library_problem));
    }
    if (!result.companion_problem.empty()) {
      warn(fmt::format("the reference {} could not be timed: {}", reference_kernel(family)->kernel,
                       result.companion_problem));
    }
    if (result.discarded_rounds > 0) {
      warn(fmt::format("{} rounds were discarded because the device was throttled",
                       result.discarded_rounds));
    }
  }

  void store(const family::Family& family, const family::Kernel& kernel,
             worker::DeviceProcess& device) {
    store::Store database = open_database(common_, store::Store::Mode::read_write);
    store::TrialRecord trial;
    report_.update([&](const JudgeReport& report) { trial = report.judged->trial; });
    store::RunRecord run;
    run.strategy = "judge";
    run.seed = options_.seed;
    run.command = options_.command_line;
    session::store_trial(database, family, kernel, device, trial, std::move(run));
    report_.update([](JudgeReport& report) { report.stored = true; });
  }

  const CommonOptions& common_;
  const JudgeOptions& options_;
  std::chrono::milliseconds limit_;
  SharedReport& report_;
};

std::string message_of(SharedReport& shared) {
  std::string message;
  shared.update([&](const JudgeReport& report) {
    if (report.verdict == JudgeVerdict::refused) message = report.judged->trial.message;
  });
  return message;
}

}  // namespace

int judge(const CommonOptions& common, const JudgeOptions& options) {
  const std::chrono::milliseconds limit = parse_duration(options.max_time, "--max-time");
  SharedReport report(common, options, limit);
  std::optional<TimeLimit> time_limit(
      std::in_place, limit, static_cast<int>(ErrorCode::failure), [&] {
        report.print(JudgeVerdict::timeout,
                     fmt::format("it took longer than --max-time {}", options.max_time));
      });
  try {
    const std::optional<int> signalled = Judge(common, options, limit, report).run();
    time_limit.reset();
    report.print(report.verdict(), signalled ? "a signal ended it" : message_of(report));
    if (signalled) return *signalled;
  } catch (const Error& error) {
    time_limit.reset();
    report.print(JudgeVerdict::error, error.what());
    throw;
  }
  return report.verdict() == JudgeVerdict::ok ? 0 : static_cast<int>(ErrorCode::no_valid_config);
}

}  // namespace tuner::cli
