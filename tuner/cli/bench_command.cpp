// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/configuration_reader.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/record_json.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/cli/terminal.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/family/check_entries.hpp"
#include "tuner/family/check_promises.hpp"
#include "tuner/family/family.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/verify/safetensors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace tuner::cli {
namespace {

/// A bench with what it was run on.
struct BenchReport {
  const family::Family& family;
  const family::Kernel& kernel;
  const space::Size& size;
  std::uint64_t seed;
  const space::DeviceInfo& device;
  const space::EnvironmentInfo& environment;
  const session::BenchResult& result;
};

using Align = Table::Align;

constexpr const char* kNoValue = "–";

bool is_library(const session::BenchContender& contender) {
  return contender.role == "library";
}

std::string configuration(const BenchReport& report, const session::BenchContender& contender) {
  if (is_library(contender)) return report.environment.library;
  const space::SpaceDefinition& definition = *report.kernel.space;
  return space::display(definition,
                        space::config_from_json(definition, contender.trial.config_json));
}

std::string beside_fastest(const session::BenchContender& contender) {
  if (contender.place == session::Place::fastest) return "fastest kernel";
  const store::FinalistRecord& timed = *contender.timed;
  return fmt::format("×{:.3f} ({:.3f}–{:.3f}){}", timed.ratio_to_best, timed.ratio_low,
                     timed.ratio_high, contender.place == session::Place::tied ? " tie" : "");
}

/// Its times, from a cold cache and from a warm one.
std::vector<std::string> time_cells(const BenchReport& report,
                                    const session::BenchContender& contender) {
  if (!contender.timed) return std::vector<std::string>(5, kNoValue);
  const TimeSummary& time = contender.timed->time;
  return {quantity::time(time.median_ns),
          fmt::format("{}–{}", quantity::time(time.q1_ns), quantity::time(time.q3_ns)),
          quantity::time(*contender.timed->hot_ns),
          format_rate(family::flops_at(report.family.problem, report.size),
                      family::bytes_at(report.family.problem, report.size), time.median_ns),
          beside_fastest(contender)};
}

/// What it needs of the device, and how right it is.
std::vector<std::string> judged_cells(const session::BenchContender& contender) {
  const store::TrialRecord& trial = contender.trial;
  if (is_library(contender) || trial.outcome != Outcome::ok) {
    return std::vector<std::string>(3, kNoValue);
  }
  return {fmt::format("{}", trial.registers), fmt::format("{} B", trial.shared_bytes),
          trial.worst_error ? quantity::number(*trial.worst_error, 2) : kNoValue};
}

Json trial_json(const store::TrialRecord& trial) {
  return {{"config", Json::parse(trial.config_json)},
          {"message", trial.message},
          {"registers", trial.registers},
          {"shared_bytes", trial.shared_bytes},
          {"local_bytes", trial.local_bytes},
          {"worst_error", number_or_null(trial.worst_error)}};
}

Json times_json(const store::FinalistRecord& timed) {
  Json json = finalist_json(timed);
  json.erase("role");
  json.erase("config");
  json["ratio_to_fastest"] = timed.ratio_to_best;
  return json;
}

/// For people: a line for each contender, then why each that failed did.
std::string bench_text(const BenchReport& report, const Terminal& terminal) {
  Table table({{fmt::format("{} {}", report.kernel.name,
                            space::display(report.size, report.family.problem.dims))},
               {"outcome"},
               {"cold", Align::right},
               {"quartiles", Align::right},
               {"hot", Align::right},
               {"rate", Align::right},
               {"vs fastest kernel"},
               {"registers", Align::right},
               {"shared", Align::right},
               {"error/bound", Align::right},
               {"configuration", Align::left, Table::Place::below}});
  std::string failures;
  for (const session::BenchContender& contender : report.result.contenders) {
    const store::TrialRecord& trial = contender.trial;
    std::vector<std::string> row = {contender.role, std::string(name(trial.outcome))};
    for (const auto& cells : {time_cells(report, contender), judged_cells(contender)}) {
      row.insert(row.end(), cells.begin(), cells.end());
    }
    row.push_back(configuration(report, contender));
    table.add(std::move(row));
    if (trial.outcome == Outcome::ok) continue;
    failures += fmt::format("\n{} at {}:\n  {}\n", name(trial.outcome), trial.config_json,
                            printable(trial.message));
  }
  if (!report.result.library_problem.empty()) {
    failures += fmt::format("\n{} could not be timed:\n  {}\n", report.environment.library,
                            printable(report.result.library_problem));
  }
  return table.text(terminal) + failures;
}

/// The document "tune.bench/1".
Json bench_json(const BenchReport& report) {
  Json contenders = Json::array();
  for (const session::BenchContender& contender : report.result.contenders) {
    Json json = {{"role", contender.role}, {"outcome", name(contender.trial.outcome)}};
    if (!is_library(contender)) json.update(trial_json(contender.trial));
    if (contender.timed) json.update(times_json(*contender.timed));
    if (contender.place) json["place"] = session::name(*contender.place);
    contenders.push_back(std::move(json));
  }
  return {{"schema", "tune.bench/1"},
          {"device", report.device.name},
          {"library", report.environment.library},
          {"family", report.family.name},
          {"kernel", report.kernel.name},
          {"size", space::size_json(report.size, report.family.problem.dims)},
          {"seed", report.seed},
          {"flops", family::flops_at(report.family.problem, report.size)},
          {"bytes", family::bytes_at(report.family.problem, report.size)},
          {"discarded_rounds", report.result.discarded_rounds},
          {"library_problem", report.result.library_problem},
          {"contenders", std::move(contenders)}};
}

/// Writes what a configuration computed to the file of its number.
void save_outputs(const std::filesystem::path& folder, std::size_t number,
                  const family::Family& family, const space::Size& size,
                  const std::string& config_json, const std::vector<session::OutputData>& outputs) {
  const space::ExpressionValues values = family::family_values(size);
  verify::Safetensors content;
  content.metadata = {{"config", config_json},
                      {"size", space::size_json(size, family.problem.dims).dump()}};
  for (const session::OutputData& output : outputs) {
    const auto argument = std::ranges::find(family.arguments, output.name, &family::Argument::name);
    const ElementType type = std::get<family::BufferArgument>(argument->what).type.at(values);
    content.arrays.push_back(
        {.name = output.name,
         .type = verify::safetensors_name(type),
         .count = static_cast<std::int64_t>(elements_in(type, output.bytes.size())),
         .bytes = output.bytes});
  }
  verify::write_safetensors(folder / fmt::format("{}.safetensors", number), content);
}

session::BenchPlan bench_plan(const BenchOptions& options, space::Size size,
                              std::vector<space::Config> configs) {
  return {.size = std::move(size),
          .configs = std::move(configs),
          .finals = {.rounds = options.rounds,
                     .budget = parse_duration(options.max_time, "--max-time"),
                     .seed = options.seed},
          .compile_threads = spare_cores(),
          .extent = options.rounds == 0 ? session::BenchPlan::Extent::launch
                                        : session::BenchPlan::Extent::full};
}

/// How many of the configurations asked for did not end ok; the default may just ride along.
std::size_t count_failed(const session::BenchResult& result,
                         const space::SpaceDefinition& definition,
                         const std::vector<space::Config>& asked) {
  return static_cast<std::size_t>(std::ranges::count_if(asked, [&](const space::Config& config) {
    const std::string config_json = space::canonical_json(definition, config);
    return std::ranges::any_of(result.contenders, [&](const session::BenchContender& contender) {
      return contender.trial.config_json == config_json && contender.trial.outcome != Outcome::ok;
    });
  }));
}

}  // namespace

int bench(const CommonOptions& common, const BenchOptions& options) {
  if (options.space.empty()) {
    throw Error(ErrorCode::usage,
                "nothing to time: name a space file, for example\n"
                "  tune bench --kernel gemm_shared --space spaces/gemm.json --size 256,256,256");
  }
  if (options.rounds == 0 && options.save_outputs.empty()) {
    throw Error(ErrorCode::usage,
                "--rounds 0: neither verifies nor times: name a folder with --save-outputs");
  }
  if (is_sweep(options)) return sweep(common, options);
  const family::Family family = family::load_family(options.space);
  const family::Kernel& kernel = chosen_kernel(family, options.kernels);
  family::check_entries(family, kernel);
  const space::Size size = chosen_size(family, options.size);
  OpenedDevice opened(options, family, options.seed);
  worker::DeviceProcess& device = opened.device();
  require_backend(kernel, device.device().backend);
  session::BenchPlan plan = bench_plan(
      options, size,
      ConfigurationReader(common, family, kernel, device.device(), size).read(options.configs));
  if (!options.save_outputs.empty()) {
    std::filesystem::create_directories(options.save_outputs);
    plan.computed = [&](std::size_t place, const space::Config& config, const auto& outputs) {
      save_outputs(options.save_outputs, place, family, size,
                   space::canonical_json(*kernel.space, config), outputs);
    };
  }
  const Interrupt interrupt;
  if (!common.quiet) {
    for (const std::string& text : family::check_cautions(family, size)) {
      tell(fmt::format("warning: {}\n", text));
    }
    for (const std::string& text : other_users(device)) tell(fmt::format("warning: {}\n", text));
    tell(fmt::format("{} on {} ({}, {}), inputs of seed {}\n", kernel.name, device.device().name,
                     device.environment().compiler, device.environment().library, options.seed));
  }
  const session::BenchResult result = session::run_bench(kernel, plan, device, opened.compiler(),
                                                         [&] { return interrupt.requested(); });
  if (!common.quiet) {
    std::set<std::string> cautions;
    for (const session::BenchContender& each : result.contenders) cautions.insert(each.caution);
    cautions.erase("");
    for (const std::string& text : cautions) tell(fmt::format("warning: {}\n", text));
  }
  const BenchReport report{.family = family,
                           .kernel = kernel,
                           .size = size,
                           .seed = options.seed,
                           .device = device.device(),
                           .environment = device.environment(),
                           .result = result};
  if (common.json) {
    fmt::print("{}", json_text(bench_json(report)));
  } else {
    const Output output(common);
    output.tell("{}", bench_text(report, output.terminal()));
  }
  if (interrupt.exit_code()) return *interrupt.exit_code();
  if (const auto failed = count_failed(result, *kernel.space, plan.configs); failed > 0) {
    throw Error(ErrorCode::failure,
                fmt::format("{} of {} did not end ok", failed,
                            quantity::count(plan.configs.size(), "configuration")));
  }
  return 0;
}

}  // namespace tuner::cli
