// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/bound.hpp"
#include "tuner/counters/roofline.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace tuner::report {
namespace {

using counters::Counters;
using store::ExplainedRecord;

/// A column of counters: percentages are shares of one.
struct CounterColumn {
  Column column;
  double Counters::*member;
};

/// The speed-of-light bars first, which the chart draws.
constexpr std::array kUnitColumns = {
    CounterColumn{{"fma", "FMA pipe", "share"}, &Counters::fma_percent},
    CounterColumn{{"tensor", "Tensor cores", "share"}, &Counters::tensor_percent},
    CounterColumn{{"issue", "Instruction issue", "share"}, &Counters::issue_percent},
    CounterColumn{{"dram", "Memory", "share"}, &Counters::dram_percent},
    CounterColumn{{"l2", "L2", "share"}, &Counters::l2_percent},
    CounterColumn{{"l1", "L1, shared memory", "share"}, &Counters::l1_percent},
    CounterColumn{{"warps", "Resident warps", "share"}, &Counters::warps_percent}};

constexpr std::array kWaitColumns = {
    CounterColumn{{"wait_memory", "Warps waiting for memory", "number"},
                  &Counters::waiting_for_memory},
    CounterColumn{{"wait_shared", "for shared memory", "number"}, &Counters::waiting_for_shared},
    CounterColumn{{"wait_queue", "for the memory queue", "number"}, &Counters::waiting_for_queue},
    CounterColumn{{"wait_barrier", "for a barrier", "number"}, &Counters::waiting_for_barrier},
    CounterColumn{{"wait_pipe", "for a pipe", "number"}, &Counters::waiting_for_pipe}};

/// With its occupancy, which follows from what it takes and from the device.
counters::Profile profile_of(const ExplainedRecord& contender,
                             const space::DeviceAttributes& device) {
  counters::Profile profile = contender.profile;
  if (profile.footprint && profile.footprint->threads > 0) {
    profile.occupancy = counters::occupancy(*profile.footprint, device);
  }
  return profile;
}

std::string value_in(const ExplainedRecord& contender, const std::string& parameter) {
  const Json config = Json::parse(contender.config_json, nullptr, false);
  if (!config.is_object() || !config.contains(parameter)) return "?";
  const Json& value = config.at(parameter);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// "PAD 4 → 0"; empty where it is no neighbour.
std::string parameter_change(const ExplainedRecord& best, const ExplainedRecord& contender) {
  if (contender.parameter.empty()) return "";
  return fmt::format("{} {} → {}", contender.parameter, value_in(best, contender.parameter),
                     value_in(contender, contender.parameter));
}

/// "+21 %", "2.4×", "the same time" (95 %).
std::string cost_of(const store::ComparedTime& time) {
  constexpr double kTimes = 2;
  if (time.ratio_low <= 1 && time.ratio_high >= 1) return "the same time (95\u00a0%)";
  if (time.ratio_to_best >= kTimes) return format_factor(rounded(time.ratio_to_best)) + " the time";
  const double excess = rounded(time.ratio_to_best) - 1;
  return (excess > 0 ? "+" : "−") + format_percent(std::abs(excess));
}

/// The neighbour that costs most, with what is different there; empty without any.
std::string costliest_change(const store::ExplanationRecord& explanation,
                             const space::DeviceAttributes& device) {
  const ExplainedRecord& best = explanation.contenders.front();
  const ExplainedRecord* costliest = nullptr;
  for (const ExplainedRecord& one : explanation.contenders) {
    if (one.role != "neighbour" || !one.timed) continue;
    if (costliest == nullptr || one.timed->ratio_to_best > costliest->timed->ratio_to_best) {
      costliest = &one;
    }
  }
  if (costliest == nullptr) return "";
  std::vector<std::string> parts = {cost_of(*costliest->timed)};
  for (std::string& difference :
       counters::differences(profile_of(*costliest, device), profile_of(best, device))) {
    parts.push_back(std::move(difference));
  }
  return fmt::format(" {}: {}.", parameter_change(best, *costliest), fmt::join(parts, "; "));
}

counters::Roofline roofline_of(const SizeHistory& size) {
  if (!size.best) return {};
  const store::ExplanationRecord& explanation = *size.explanation;
  return {.flops = size.best->flops,
          .bytes = size.best->bytes,
          .peak_flops_per_s = explanation.peak_flops_per_s.value_or(0),
          .peak_bytes_per_s = explanation.peak_bytes_per_s.value_or(0)};
}

std::string roofline_place(const SizeHistory& size, double time_ns) {
  const std::string place = counters::roofline_sentence(roofline_of(size), time_ns);
  return place.empty() ? "" : fmt::format(" Roofline: {}.", place);
}

/// What a chart of the roofline needs; null where a part of it is not known.
Json roofline_part(const SizeHistory& size) {
  constexpr double kGiga = 1e9;
  const counters::Roofline known = roofline_of(size);
  if (std::min({known.flops, known.bytes, known.peak_flops_per_s, known.peak_bytes_per_s}) <= 0) {
    return {};
  }
  return Json{{"flops", known.flops},
              {"bytes", known.bytes},
              {"peak_gflops", rounded(known.peak_flops_per_s / kGiga)},
              {"peak_gbytes", rounded(known.peak_bytes_per_s / kGiga)}};
}

std::string explanation_answer(const SizeHistory& size, const space::DeviceAttributes& device) {
  const store::ExplanationRecord& explanation = *size.explanation;
  const ExplainedRecord& best = explanation.contenders.front();
  std::string text =
      best.profile.counters
          ? fmt::format("Limiter: {}.", counters::bound_sentence(*best.profile.counters))
          : fmt::format("The limiter is not known: {}.", explanation.counters_problem);
  if (best.timed) text += roofline_place(size, best.timed->median_ns);
  return text + costliest_change(explanation, device);
}

Json explained_row(const KernelHistory& kernel, const SizeHistory& size,
                   const ExplainedRecord& contender, const space::DeviceAttributes& device) {
  const ExplainedRecord& best = size.explanation->contenders.front();
  const bool library = contender.role == "library" && size.best;
  const counters::Profile profile = profile_of(contender, device);
  const auto time = [&](double store::ComparedTime::*member) {
    return contender.timed ? Json(rounded((*contender.timed).*member)) : Json();
  };
  const auto takes = [&](std::int64_t counters::Footprint::*member) {
    const auto& footprint = profile.footprint;  // 0 of a kernel without registers says nothing
    const bool is_known = footprint && (footprint->registers > 0 || (*footprint).*member > 0);
    return is_known ? Json((*footprint).*member) : Json();
  };
  Json row = {library ? size.best->library_name : contender.role,
              parameter_change(best, contender),
              time(&store::ComparedTime::median_ns),
              time(&store::ComparedTime::ratio_to_best),
              time(&store::ComparedTime::ratio_low),
              time(&store::ComparedTime::ratio_high)};
  const auto& counted = profile.counters;
  for (const CounterColumn& unit : kUnitColumns) {
    row.push_back(counted ? Json(rounded((*counted).*unit.member / 100)) : Json());
  }
  row.push_back(counted ? Json(rounded(counters::conflicts_per_request(*counted))) : Json());
  for (const CounterColumn& wait : kWaitColumns) {
    row.push_back(counted ? Json(rounded((*counted).*wait.member)) : Json());
  }
  row.push_back(profile.occupancy ? Json(rounded(profile.occupancy->warps_percent / 100)) : Json());
  row.push_back(takes(&counters::Footprint::registers));
  row.push_back(takes(&counters::Footprint::shared_bytes));
  row.push_back(takes(&counters::Footprint::local_bytes));
  row.push_back(profile.instructions ? Json(counters::instructions_sentence(*profile.instructions))
                                     : Json());
  row.push_back(
      config_text(kernel.parameters, config_values(kernel.parameters, contender.config_json)));
  return row;
}

}  // namespace

Json explanation_section(const KernelHistory& kernel, const SizeHistory& size,
                         const space::DeviceAttributes& device) {
  Json table = make_table({{"contender", "Contender", "text"},
                           {"change", "Change", "text"},
                           {"median_ns", "Cold median", "time"},
                           {"ratio", "To the best", "factor"},
                           {"ratio_low", "95\u00a0% from", "factor"},
                           {"ratio_high", "to", "factor"}});
  const auto add = [&](const Column& column) {
    table["columns"].push_back(
        {{"key", column.key}, {"label", column.label}, {"kind", column.kind}});
  };
  for (const CounterColumn& unit : kUnitColumns) add(unit.column);
  add({"conflicts", "Bank conflicts a request", "number"});
  for (const CounterColumn& wait : kWaitColumns) add(wait.column);
  add({"occupancy", "Occupancy", "share"});
  add({"registers", "Registers", "count"});
  add({"shared_bytes", "Shared memory", "bytes"});
  add({"local_bytes", "Spilled", "bytes"});
  add({"instructions", "Machine code", "text"});
  add({"config", "Configuration", "code"});
  for (const ExplainedRecord& contender : size.explanation->contenders) {
    table["rows"].push_back(explained_row(kernel, size, contender, device));
  }
  Json section = make_section("explanation", std::move(table));
  section["answer"] = explanation_answer(size, device);
  section["roofline"] = roofline_part(size);
  return section;
}

}  // namespace tuner::report
