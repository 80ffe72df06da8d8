// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/judge_report.hpp"

#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/counters/bound.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace tuner::cli {
namespace {

using verify::PerformedCheck;

/// The configuration that was judged, with its times where it was timed; null before it was.
const session::BenchContender* judged(const JudgeReport& report) {
  const session::BenchContender* const before = report.judged ? &*report.judged : nullptr;
  if (before == nullptr || !report.result) return before;
  const auto& contenders = report.result->contenders;
  const auto found = std::ranges::find_if(contenders, [&](const session::BenchContender& each) {
    return each.trial.config_json == before->trial.config_json;
  });
  return found == contenders.end() ? before : &*found;
}

/// Another contender that was timed beside it; null where there is none.
const session::BenchContender* timed_beside(const JudgeReport& report, std::string_view role) {
  if (!report.result) return nullptr;
  const session::BenchContender* const own = judged(report);
  for (const session::BenchContender& each : report.result->contenders) {
    if (each.role == role && each.timed && &each != own) return &each;
  }
  return nullptr;
}

bool is_of_compiler(Outcome outcome) {
  return outcome == Outcome::compile_error || outcome == Outcome::compile_timeout;
}

/// JSON has no such numbers.
Json number_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json element_json(const std::optional<WrongElement>& element) {
  if (!element) return {};
  return {{"buffer", element->buffer},
          {"index", element->index},
          {"value", number_json(element->value)},
          {"expected", element->is_to_be_left ? Json() : number_json(element->expected)},
          {"allowed_error", number_json(element->allowed_error)},
          {"untouched", element->is_untouched}};
}

Json case_json(const JudgeReport& report, std::size_t check_case) {
  Json set = Json::object();
  if (check_case == 0 || check_case > report.family->check.cases.size()) return set;
  for (const auto& [argument, value] : report.family->check.cases[check_case - 1].set) {
    set[argument] = family::value_text(value);
  }
  return set;
}

Json check_json(const JudgeReport& report, const PerformedCheck& check) {
  return {{"size", space::size_json(check.size, report.family->problem.dims)},
          {"inputs", check.inputs},
          {"check_case", check.check_case},
          {"set", case_json(report, check.check_case)},
          {"seed", check.seed},
          {"launch", check.launch},
          {"outcome", name(check.outcome)},
          {"worst_error", number_or_null(check.worst_error)},
          {"message", check.message},
          {"element", element_json(check.element)}};
}

Json left_out_json(const JudgeReport& report, const session::BenchContender* own) {
  Json laws = Json::array();
  if (own == nullptr) return laws;
  for (const verify::LawLeftOut& left_out : own->laws_left_out) {
    laws.push_back({{"law", left_out.law},
                    {"size", space::size_json(left_out.size, report.family->problem.dims)},
                    {"reason", left_out.reason}});
  }
  return laws;
}

Json compile_json(const session::BenchContender* own) {
  if (own == nullptr) return {{"outcome", nullptr}, {"log", ""}, {"time_ms", nullptr}};
  const bool failed = is_of_compiler(own->trial.outcome);
  return {{"outcome", failed ? name(own->trial.outcome) : name(Outcome::ok)},
          {"log", failed ? own->trial.message : ""},
          {"time_ms", own->trial.compile_ms}};
}

Json time_json(const session::BenchContender* own) {
  if (own == nullptr || !own->timed) return {};
  const store::FinalistRecord& timed = *own->timed;
  const auto interval = measure::median_interval(timed.samples_ns);
  return {{"median_ns", timed.time.median_ns},
          {"low_ns", interval ? Json(interval->low) : Json()},
          {"high_ns", interval ? Json(interval->high) : Json()},
          {"q1_ns", timed.time.q1_ns},
          {"q3_ns", timed.time.q3_ns},
          {"min_ns", timed.time.min_ns},
          {"rounds", timed.time.samples},
          {"hot_ns", number_or_null(timed.hot_ns)},
          {"clock_mhz", number_or_null(timed.clock_mhz)}};
}

Json ratio_json(const session::BenchContender* other) {
  if (other == nullptr) return {};
  return {{"ratio", other->timed->ratio_to_best},
          {"low", other->timed->ratio_low},
          {"high", other->timed->ratio_high},
          {"median_ns", other->timed->time.median_ns}};
}

/// What limits the kernel; empty where that is not known.
std::string limiter(const JudgeReport& report) {
  if (!report.result || !report.result->counters.counters) return "";
  return counters::bound_sentence(*report.result->counters.counters);
}

Json subject_json(const JudgeReport& report) {
  const space::Dimensions* dims = report.family ? &report.family->problem.dims : nullptr;
  return {{"family", report.family ? Json(report.family->name) : Json()},
          {"kernel", report.kernel != nullptr ? Json(report.kernel->name) : Json()},
          {"configuration",
           report.config ? Json::parse(space::canonical_json(*report.kernel->space, *report.config))
                         : Json()},
          {"size", report.size ? space::size_json(*report.size, *dims) : Json()},
          {"seed", report.seed}};
}

Json device_json(const JudgeReport& report) {
  if (!report.device) return {};
  return {{"backend", report.device->backend},           {"name", report.device->name},
          {"architecture", report.device->architecture}, {"driver", report.environment->driver},
          {"compiler", report.environment->compiler},    {"library", report.environment->library}};
}

Json resources_json(const session::BenchContender* own) {
  if (own == nullptr || own->trial.outcome != Outcome::ok) return {};
  return {{"registers", own->trial.registers},
          {"shared_bytes", own->trial.shared_bytes},
          {"local_bytes", own->trial.local_bytes}};
}

std::string title(const JudgeReport& report) {
  std::string text = report.kernel != nullptr ? report.kernel->name : "nothing";
  if (report.size) text += " " + space::display(*report.size, report.family->problem.dims);
  const std::string config =
      report.config ? space::display(*report.kernel->space, *report.config) : "";
  if (!config.empty()) text += " " + config;
  if (report.device) text += " on " + printable(report.device->name);
  return text;
}

std::string checks_line(const JudgeReport& report, const session::BenchContender& own) {
  const auto& checks = own.checks;
  const auto failed =
      std::ranges::find_if(checks, [](const auto& each) { return each.outcome != Outcome::ok; });
  if (failed == checks.end()) {
    if (!own.trial.worst_error) return fmt::format("checks: {}\n", checks.size());
    return fmt::format("checks: {}, largest error {} of its bound\n", checks.size(),
                       quantity::number(*own.trial.worst_error, 2));
  }
  return fmt::format("checks: {} of {} right; failed: size {}, {} inputs, case {}, seed {}\n",
                     std::ranges::count(checks, Outcome::ok, &PerformedCheck::outcome),
                     checks.size(), space::display(failed->size, report.family->problem.dims),
                     failed->inputs, failed->check_case, failed->seed);
}

std::string ratio_line(std::string_view what, const session::BenchContender* other) {
  if (other == nullptr) return "";
  const store::FinalistRecord& timed = *other->timed;
  return fmt::format("{}: {}, ×{:.3f} ({:.3f}–{:.3f}) the time\n", what,
                     quantity::time(timed.time.median_ns), timed.ratio_to_best, timed.ratio_low,
                     timed.ratio_high);
}

std::string time_lines(const JudgeReport& report, const session::BenchContender& own) {
  if (!own.timed) return "";
  std::string text = fmt::format("time: {}", quantity::time(own.timed->time.median_ns));
  if (const auto interval = measure::median_interval(own.timed->samples_ns)) {
    text += fmt::format(" ({}–{})", quantity::time(interval->low), quantity::time(interval->high));
  }
  text += "\n" + ratio_line("reference", timed_beside(report, "companion")) +
          ratio_line("default", timed_beside(report, "default")) +
          ratio_line("library", timed_beside(report, "library"));
  if (const std::string sentence = limiter(report); !sentence.empty()) {
    text += fmt::format("limiter: {}\n", sentence);
  }
  return text;
}

/// Of the first candidate that was right; null where there is no reference kernel to look at.
Json coverage_gaps_json(const session::BenchContender* own) {
  if (own == nullptr || !own->coverage || !own->coverage->problem.empty()) return nullptr;
  Json gaps = Json::array();
  for (const verify::CoverageGap& gap : own->coverage->gaps) gaps.push_back(verify::sentence(gap));
  return gaps;
}

}  // namespace

std::string_view name(JudgeVerdict verdict) {
  constexpr std::array<std::string_view, 5> kNames = {"ok", "refused", "timeout", "interrupted",
                                                      "error"};
  return kNames[static_cast<std::size_t>(verdict)];
}

Json judge_json(const JudgeReport& report) {
  const session::BenchContender* const own = judged(report);
  Json checks = Json::array();
  if (own != nullptr) {
    for (const PerformedCheck& check : own->checks) checks.push_back(check_json(report, check));
  }
  const std::string sentence = limiter(report);
  Json document = {{"format", "judge/1"},
                   {"verdict", name(report.verdict)},
                   {"outcome", own != nullptr ? Json(name(own->trial.outcome)) : Json()},
                   {"stage", report.stage},
                   {"message", report.message}};
  document.update(subject_json(report));
  document.update(
      Json{{"device", device_json(report)},
           {"compile", compile_json(own)},
           {"checks", std::move(checks)},
           {"laws_left_out", left_out_json(report, own)},
           {"worst_error", own != nullptr ? number_or_null(own->trial.worst_error) : Json()},
           {"coverage_gaps", coverage_gaps_json(own)},
           {"time", time_json(own)},
           {"ratios",
            {{"reference", ratio_json(timed_beside(report, "companion"))},
             {"default", ratio_json(timed_beside(report, "default"))},
             {"library", ratio_json(timed_beside(report, "library"))}}},
           {"limiter", sentence.empty() ? Json() : Json(sentence)},
           {"limiter_problem", report.result ? report.result->counters.problem : ""},
           {"resources", resources_json(own)},
           {"warnings", report.warnings},
           {"stored", report.stored},
           {"limit_s", report.limit_s},
           {"elapsed_s", report.elapsed_s}});
  return document;
}

std::string judge_text(const JudgeReport& report) {
  const session::BenchContender* const own = judged(report);
  std::string text = fmt::format("{}: {}\n", title(report), name(report.verdict));
  const bool is_refused = own != nullptr && own->trial.outcome != Outcome::ok;
  if (is_refused) text += fmt::format("{}: ", name(own->trial.outcome));
  if (!report.message.empty()) text += printable(report.message) + "\n";
  if (own != nullptr && !own->checks.empty()) text += checks_line(report, *own);
  if (own != nullptr) text += time_lines(report, *own);
  for (const std::string& warning : report.warnings) {
    text += fmt::format("warning: {}\n", printable(warning));
  }
  return text;
}

}  // namespace tuner::cli
