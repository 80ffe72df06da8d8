// SPDX-License-Identifier: Apache-2.0
#include "example_store.hpp"

#include "example_records.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sqlite3.h>

namespace tuner::store {
namespace {

std::string text(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "none";
}

std::string text(const TimeSummary& time) {
  return fmt::format("{} {} {} {} {}", time.median_ns, time.q1_ns, time.q3_ns, time.min_ns,
                     time.samples);
}

std::string text(const space::DeviceInfo& device) {
  std::string all =
      fmt::format("{} {} {} {}", device.backend, device.name, device.uuid, device.architecture);
  for (const space::AttributeField& field : space::attribute_fields()) {
    all += fmt::format(" {}", device.attributes.*field.member);
  }
  return all;
}

std::string text(const KernelRecord& kernel) {
  return fmt::format("{} {} {} {} {} {} {}", kernel.family, kernel.kernel, kernel.hash,
                     kernel.space_text, kernel.source_name, kernel.source_text,
                     kernel.headers_json);
}

std::string text(const RunRecord& it) {
  return fmt::format("session {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n",
                     it.id, it.uuid, it.device, it.backend, it.family, it.kernel, it.kernel_hash,
                     fmt::join(it.problems, ";"), it.strategy, it.seed, it.command, it.started_at,
                     it.ended_at, name(it.state), it.valid, it.cartesian, it.wall_s, it.compile_s,
                     it.verify_s, it.measure_s, it.respawns, it.shared);
}

/// What there is since schema 7, where there is any.
std::string series(const TrialRecord& it) {
  return it.series_ns ? fmt::format(" series {}", *it.series_ns) : "";
}

std::string text(const StoredTrial& stored) {
  const TrialRecord& it = stored.trial;
  return fmt::format(
      "trial {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}{}\n", stored.id,
      stored.run, stored.sequence, stored.elapsed_s, it.problem, it.config_json, name(it.outcome),
      it.message, it.time ? text(*it.time) : "none", text(it.worst_error), it.check_seed,
      it.registers, it.shared_bytes, it.local_bytes, it.compile_ms, it.verify_ms, it.measure_ms,
      text(it.hot_ns), text(it.clock_mhz), it.discarded, it.power_capped, series(it));
}

/// What there is since schema 5, where there is any.
std::string sustained(const auto& it) {
  if (!it.rested_ns) return "";
  return fmt::format(" rested {} sustained {}", text(it.rested_ns), text(it.sustained_ns));
}

/// What there is since schema 6, where there is any.
std::string text(const std::optional<EnergySummary>& energy) {
  if (!energy) return "";
  return fmt::format(" energy {} {} {} {} {} {}", energy->joules, energy->min_joules,
                     energy->max_joules, energy->windows, energy->watts, text(energy->idle_watts));
}

std::string text(const FinalistRecord& it) {
  return fmt::format("finalist {} {} {} {} {} {} {} {} {}{}{}\n", it.role, it.config_json,
                     text(it.time), it.ratio_to_best, it.ratio_low, it.ratio_high,
                     fmt::join(it.samples_ns, ";"), text(it.hot_ns), text(it.clock_mhz),
                     sustained(it), text(it.energy));
}

/// What there is since schema 9, where there is any.
std::string clocks(const BestRecord& it) {
  if (it.clock_limit == ClockLimit{}) return "";
  return fmt::format(" clock {} {} {}", text(it.clock_mhz), text(it.clock_limit.max_clock_mhz),
                     text(it.clock_limit.power_limit_w));
}

std::string text(const StoredBest& stored) {
  const BestRecord& it = stored.best;
  const space::EnvironmentInfo& environment = stored.subject->environment;
  const std::string algorithm =
      it.library_algorithm.empty()
          ? ""
          : fmt::format(" {} {}", it.library_algorithm, text(it.ratio_to_library_tuned));
  return fmt::format(
      "best {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}{}{}{}{}\n",
      text(stored.subject->device), environment.driver, environment.compiler, environment.library,
      environment.tool, text(stored.subject->kernel), it.problem, it.config_json, text(it.time),
      text(it.library_ns), text(it.default_ns), text(it.ratio_to_library),
      text(it.ratio_to_default), text(it.ratio_to_library_low), text(it.ratio_to_library_high),
      it.library_name, it.ties, it.flops, it.bytes, it.run_uuid, it.recorded_at, it.verified,
      it.origin, algorithm, sustained(it), it.joules ? " joules " + text(it.joules) : "",
      clocks(it));
}

std::string text(const ExplainedRecord& it) {
  std::string all = fmt::format("explained {} {} {}", it.role, it.config_json, it.parameter);
  if (it.timed) {
    all += fmt::format(" {} {} {} {}", it.timed->median_ns, it.timed->ratio_to_best,
                       it.timed->ratio_low, it.timed->ratio_high);
  }
  if (const auto& takes = it.profile.footprint) {
    all += fmt::format(" {} {} {} {}", takes->threads, takes->registers, takes->shared_bytes,
                       takes->local_bytes);
  }
  if (const auto& counted = it.profile.counters) {
    for (const counters::CounterField& field : counters::counter_fields()) {
      all += fmt::format(" {}={}", field.name, (*counted).*field.member);
    }
  }
  if (const auto& mix = it.profile.instructions) {
    for (const counters::InstructionField& field : counters::instruction_fields()) {
      all += fmt::format(" {}={}", field.name, (*mix).*field.member);
    }
  }
  return all + "\n";
}

std::string text(const ExplanationRecord& it) {
  std::string all =
      fmt::format("explanation {} {} {} {} {}\n", it.problem, it.recorded_at, it.counters_problem,
                  text(it.peak_flops_per_s), text(it.peak_bytes_per_s));
  for (const ExplainedRecord& contender : it.contenders) all += text(contender);
  return all;
}

/// What there is since schema 8, times back to back since schema 10, where there is any.
std::string text(const PortfolioRecord& it) {
  std::string all =
      fmt::format("portfolio {} {} {} {} {} {} {}\n", it.family, it.types, it.distribution,
                  it.recorded_at, it.loss, text(it.left_out_loss), it.environment.driver);
  for (const PortfolioMember& member : it.members) {
    all += fmt::format("member {} {} {}\n", member.kernel, member.kernel_hash, member.config_json);
  }
  for (const PortfolioSize& size : it.sizes) {
    all += fmt::format("portfolio size {} {} {} {}\n", size.problem, size.weight,
                       text(size.member_cold_ns), text(size.library_cold_ns));
    if (size.member_ns || size.library_ns) {
      all.insert(all.size() - 1,
                 fmt::format(" back to back {} {}", text(size.member_ns), text(size.library_ns)));
    }
  }
  return all;
}

std::string of_run(const Store& store, const RunRecord& run) {
  std::string all = text(run);
  for (const StoredTrial& trial : store.trials(run.id)) all += text(trial);
  for (const std::string& problem : run.problems) {
    for (const FinalistRecord& it : store.finalists(run.id, problem)) all += text(it);
    if (const auto it = store.explanation(run.id, problem)) all += text(*it);
  }
  for (const DriftRecord& it : store.drift_records(run.id)) {
    all += fmt::format("canary {} {} {} {}\n", it.elapsed_s, it.problem, it.median_ns,
                       text(it.clock_mhz));
  }
  for (const CardRecord& it : store.cards(run.id)) {
    all += fmt::format("card {} {} {} {} {}\n", it.problem, it.uuid, it.host, it.job,
                       it.first_sequence);
  }
  return all;
}

void fill_run(Store& store, std::int64_t run, int seed) {
  const auto config = [&](int i) { return fmt::format("{{\"TILE_M\":{}}}", 8 * i + seed); };
  for (int i = 1; i <= 8; ++i) {
    store.begin_attempt(run, {.problem = "4096,4096,4096", .config_json = config(i)});
    TrialRecord trial = i % 4 == 0 ? failed_trial(Outcome::crashed, config(i))
                                   : example_trial(config(i), 1000 + 10 * i + seed);
    store.record_trial(run, trial, 0.5 * i);
    if (i % 4 == 0) store.add_strike(run, config(i), "CUDA_ERROR_ILLEGAL_ADDRESS");
    store.record_drift(run, {.elapsed_s = 0.5 * i,
                             .problem = "4096,4096,4096",
                             .median_ns = 1500.0 + i,
                             .clock_mhz = 1980});
  }
  store.record_card(
      run, {.problem = "4096,4096,4096", .uuid = "GPU-0000", .host = "example", .job = "17"});
  const FinalistRecord winner{.role = "candidate",
                              .config_json = config(1),
                              .time = example_time(1010.0 + seed),
                              .samples_ns = {1010.5, 1009.25},
                              .clock_mhz = 1755.5,
                              .rested_ns = 1005.5,
                              .sustained_ns = 1020.25,
                              .energy = EnergySummary{.joules = 0.25,
                                                      .min_joules = 0.1 + 0.1,
                                                      .max_joules = 1.0 / 3,
                                                      .windows = 3,
                                                      .watts = 650.5,
                                                      .idle_watts = 75}};
  const FinalistRecord library{.role = "library",
                               .config_json = "",
                               .time = example_time(1400.5),
                               .ratio_to_best = 1.4,
                               .samples_ns = {1400.5}};
  FinalistRecord tuned = library;
  tuned.role = "library_tuned";
  BestRecord best = example_best(config(1), 1010.0 + seed);
  best.library_algorithm = "host/1/loops";
  best.ratio_to_library_tuned = 1.375;
  best.rested_ns = winner.rested_ns;
  best.sustained_ns = winner.sustained_ns;
  store.record_final(run, best, {winner, library, tuned});
  store.record_explanation(run, example_explanation(config(1), config(2)));
}

}  // namespace

void fill_every_table(Store& store) {
  Subject subject = example_subject();
  const std::int64_t first = store.begin_run(subject, example_run("aaaa-0001"));
  fill_run(store, first, 0);
  store.end_run(first, ended_as(RunState::complete));
  subject.environment.driver = "13.1";
  const std::int64_t second = store.begin_run(subject, example_run("bbbb-0002"));
  fill_run(store, second, 1);
  store.begin_attempt(second, {.problem = "512,512,512", .config_json = R"({"TILE_M":3})"});
  store.record_portfolio(subject.device, example_portfolio(subject));
}

std::string everything(const Store& store) {
  std::string all;
  for (const RunRecord& run : store.runs()) all += of_run(store, run);
  for (const StoredBest& best : store.bests({})) all += text(best);
  for (const space::DeviceInfo& device : store.devices()) all += text(device) + "\n";
  for (const KernelRecord& kernel : store.kernels({})) all += text(kernel) + "\n";
  for (const space::DeviceInfo& device : store.devices()) {
    for (const PortfolioRecord& it : store.portfolios(device)) all += text(it);
  }
  for (const StrikeRecord& it : store.strikes()) {
    all += fmt::format("strike {} {} {} {} {} {} {} {}\n", it.family, it.kernel, it.kernel_hash,
                       it.architecture, it.config_json, it.strikes, it.reason, it.last_at);
  }
  return all;
}

void tamper(const std::filesystem::path& path, const std::string& table,
            const std::string& change) {
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
  std::string checksum =
      database.execAndGet(fmt::format("SELECT checksum FROM {} WHERE id = 1", table)).getString();
  const auto the_old_one = [](sqlite3_context* context, int, sqlite3_value**) {
    const auto* const kept = static_cast<const std::string*>(sqlite3_user_data(context));
    sqlite3_result_text(context, kept->c_str(), -1, SQLITE_TRANSIENT);
  };
  sqlite3_create_function(database.getHandle(), "row_checksum", -1,
                          SQLITE_UTF8 | SQLITE_DETERMINISTIC, &checksum, the_old_one, nullptr,
                          nullptr);
  database.exec("PRAGMA ignore_check_constraints = ON");
  database.exec(fmt::format("UPDATE {} SET {} WHERE id = 1", table, change));
}

}  // namespace tuner::store
