// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/recording_file.hpp"

#include "tests/interop/data_folder.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tuner::interop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::size_t ok_trials(const Recording& recording) {
  std::size_t count = 0;
  for (const RecordedTrial& trial : recording.trials) count += trial.outcome == Outcome::ok ? 1 : 0;
  return count;
}

std::vector<std::string> texts(const space::Parameter& parameter) {
  std::vector<std::string> texts;
  for (const space::ParameterValue& value : parameter.values) texts.push_back(value.text);
  return texts;
}

std::vector<std::string> keys(const Recording& recording) {
  std::vector<std::string> keys;
  for (const RecordedTrial& trial : recording.trials) {
    keys.push_back(cache_key(*recording.definition, trial.config));
  }
  return keys;
}

/// A cache file of one parameter, A, with these entries.
std::string cache(const std::string& entries, const std::string& values = "[1, 2, 4]") {
  return R"({"device_name": "D", "kernel_name": "k", "problem_size": 5, "tune_params_keys": ["A"],)"
         R"( "tune_params": {"A": )" +
         values + R"(}, "objective": "time", "cache": {)" + entries + "}}";
}

RecordedTrial only_trial(const std::string& text) {
  Recording recording = parse_recording(text, "test");
  EXPECT_EQ(recording.trials.size(), 1U);
  return recording.trials.front();
}

std::string recording_refusal(const std::string& text) {
  try {
    static_cast<void>(parse_recording(text, "FILE"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Recording_file, A_cache_gives_every_configuration_in_order) {
  const Recording recording = read_recording(kData / "convolution_A100.json");
  EXPECT_EQ(recording.kernel, "convolution_kernel");
  EXPECT_EQ(recording.device, "NVIDIA A100-PCIE-40GB");
  EXPECT_EQ(recording.problem, "4096,4096");
  EXPECT_EQ(recording.trials.size(), 160U);
  EXPECT_EQ(ok_trials(recording), 120U);
  EXPECT_EQ(recording.definition->parameters.size(), 10U);
  EXPECT_EQ(keys(recording).front(), "16,1,1,1,0,0,0,1,15,15");
  EXPECT_EQ(recording.trials.front().time_ms, 3.875328);
  EXPECT_NEAR(recording.trials.front().cost_s.value(), 1.150224381, 1e-12);
  EXPECT_EQ(recording.definition->parameters[0].values.size(), 16U);
}

TEST(Recording_file, A_cache_whose_run_has_not_ended_is_read) {
  const Recording recording = read_recording(kData / "pnpoly_RTX_Titan_unclosed.json");
  EXPECT_EQ(recording.problem, "20000000");
  EXPECT_EQ(recording.trials.size(), 80U);
  EXPECT_EQ(ok_trials(recording), 60U);
}

TEST(Recording_file, Every_way_to_say_that_a_configuration_failed_is_understood) {
  const auto outcome = [](const std::string& fields) {
    return only_trial(cache(R"("1": {"A": 1, )" + fields + "}")).outcome;
  };
  EXPECT_EQ(outcome(R"("time": 1.5)"), Outcome::ok);
  EXPECT_EQ(outcome(R"("time": "CompilationFailedConfig")"), Outcome::compile_error);
  EXPECT_EQ(outcome(R"("time": "InvalidConfig")"), Outcome::compile_error);
  EXPECT_EQ(outcome(R"("time": "RuntimeFailedConfig")"), Outcome::launch_error);
  EXPECT_EQ(outcome(R"("time": "ErrorConfig")"), Outcome::launch_error);
  EXPECT_EQ(outcome(R"("__error__": "CompilationFailedConfig", "time": 1)"),
            Outcome::compile_error);
  EXPECT_EQ(outcome(R"("GFLOP/s": "RuntimeFailedConfig", "time": 1)"), Outcome::launch_error);
  EXPECT_EQ(outcome(R"("time": 1e20)"), Outcome::launch_error);
  EXPECT_EQ(outcome(R"("time": Infinity)"), Outcome::launch_error);
  EXPECT_EQ(outcome(R"("time": NaN)"), Outcome::launch_error);
  EXPECT_EQ(outcome(R"("time": null)"), Outcome::launch_error);
  EXPECT_EQ(outcome(R"("compile_time": 3)"), Outcome::launch_error);
}

TEST(Recording_file, The_cost_is_the_sum_of_the_times_that_are_there) {
  const auto cost = [](const std::string& fields) {
    return only_trial(cache(R"("1": {"A": 1, "time": 1)" + fields + "}")).cost_s;
  };
  EXPECT_EQ(cost(""), std::nullopt);
  EXPECT_EQ(cost(R"(, "compile_time": 1000, "benchmark_time": 500, "framework_time": 250,
                    "strategy_time": 125, "verification_time": 25)"),
            1.9);
  EXPECT_EQ(cost(R"(, "compile_time": [1000, -1, 500], "benchmark_time": -5)"), 1.5);
  EXPECT_EQ(cost(R"(, "compile_time": NaN, "benchmark_time": "x")"), std::nullopt);
}

TEST(Recording_file, Values_keep_the_text_that_Python_gives_them) {
  const Recording recording =
      parse_recording(cache(R"("True": {"A": true, "time": 1}, "0.5": {"A": 0.5, "time": 2},
               "xor": {"A": "xor", "time": 3}, "1.0": {"A": 1.0, "time": 3})",
                            R"([true, 0.5, "xor", 1e-5, 1.0])"),
                      "test");
  EXPECT_THAT(texts(recording.definition->parameters[0]),
              ElementsAre("True", "0.5", "xor", "1e-05", "1.0"));
  EXPECT_EQ(recording.definition->parameters[0].value_kind, space::ValueKind::word);
  EXPECT_THAT(keys(recording), ElementsAre("True", "0.5", "xor", "1.0"));
}

TEST(Recording_file, Whole_numbers_and_booleans_are_numbers) {
  const Recording recording = read_recording(kData / "ktt.json");
  const std::vector<space::Parameter>& parameters = recording.definition->parameters;
  EXPECT_EQ(parameters[0].value_kind, space::ValueKind::number);
  EXPECT_EQ(parameters[1].value_kind, space::ValueKind::word);
  EXPECT_EQ(parameters[2].value_kind, space::ValueKind::number);
  EXPECT_EQ(parameters[0].values[1].number, 128);
  EXPECT_EQ(parameters[2].values[0].number, 1);
}

TEST(Recording_file, Values_that_no_list_orders_are_in_order_of_size) {
  const Recording recording = read_recording(kData / "ktt.json");
  EXPECT_THAT(texts(recording.definition->parameters[0]), ElementsAre("64", "128", "2048"));
  EXPECT_THAT(texts(recording.definition->parameters[1]), ElementsAre("0.5", "2.0"));
  EXPECT_THAT(keys(recording),
              ElementsAre("128,0.5,True", "64,2.0,False", "2048,0.5,True", "128,2.0,True"));
}

TEST(Recording_file, An_entry_without_its_parameters_takes_them_from_its_key) {
  EXPECT_EQ(keys(parse_recording(cache(R"("4": {"time": 1})"), "test")).front(), "4");
  EXPECT_THAT(recording_refusal(cache(R"("4,2": {"time": 1})")),
              HasSubstr("FILE: the configuration \"4,2\" does not say what its parameters A are"));
}

TEST(Recording_file, A_configuration_that_was_measured_again_counts_once) {
  const RecordedTrial trial =
      only_trial(cache(R"("1": {"A": 1, "time": 5}, "1": {"A": 1, "time": 3})"));
  EXPECT_EQ(trial.time_ms, 3);
}

TEST(Recording_file, A_cache_may_lack_all_but_its_entries_and_parameters) {
  const Recording recording = parse_recording(
      R"({"tune_params": {"A": [2, 1]}, "cache": {"1": {"A": 1, "time": 5}}})", "test");
  EXPECT_EQ(recording.device, "");
  EXPECT_EQ(recording.problem, "");
  EXPECT_THAT(texts(recording.definition->parameters[0]), ElementsAre("2", "1"));
}

TEST(Recording_file, T4_results_are_read) {
  const Recording recording = read_recording(kData / "t4.json");
  EXPECT_THAT(keys(recording), ElementsAre("32,0", "16,0", "16,1", "128,1", "128,0"));
  std::vector<Outcome> outcomes;
  for (const RecordedTrial& trial : recording.trials) outcomes.push_back(trial.outcome);
  EXPECT_THAT(outcomes, ElementsAre(Outcome::ok, Outcome::compile_error, Outcome::launch_error,
                                    Outcome::timeout, Outcome::wrong_result));
  EXPECT_EQ(recording.trials[0].time_ms, 2.125);
  EXPECT_EQ(recording.trials[0].cost_s, 0.122);
  EXPECT_EQ(recording.trials[2].time_ms, std::nullopt);
  EXPECT_EQ(recording.trials[3].cost_s, std::nullopt);
}

/// T4 results of one trial.
std::string t4(const std::string& measurements, const std::string& metadata = "{}") {
  return R"({"metadata": )" + metadata +
         R"(, "results": [{"configuration": {"A": 1}, "invalidity": "correct", "correctness": 1,)"
         R"( "times": {"compilation": 2}, "measurements": [)" +
         measurements + "]}]}";
}

TEST(Recording_file, T4_times_are_of_the_unit_that_the_file_names) {
  const auto time_ms = [](const std::string& text) { return *only_trial(text).time_ms; };
  for (const auto& [unit, ms] : std::map<std::string, double>{{"ns", 1e-6},
                                                              {"us", 1e-3},
                                                              {"\u00b5s", 1e-3},
                                                              {"microseconds", 1e-3},
                                                              {"ms", 1},
                                                              {"miliseconds", 1},
                                                              {"s", 1e3},
                                                              {"Seconds", 1e3}}) {
    const std::string measured = R"({"name": "time", "value": 4, "unit": ")" + unit + R"("})";
    EXPECT_DOUBLE_EQ(time_ms(t4(measured)), 4 * ms) << unit;
    const std::string metadata = R"({"timeunit": ")" + unit + R"("})";
    const std::string bare = t4(R"({"name": "time", "value": 4})", metadata);
    EXPECT_DOUBLE_EQ(time_ms(bare), 4 * ms) << unit;
    EXPECT_DOUBLE_EQ(*only_trial(bare).cost_s, 2e-3 * ms) << unit;
  }
  EXPECT_DOUBLE_EQ(time_ms(t4(R"({"name": "time", "value": 4})")), 4);
  EXPECT_THAT(recording_refusal(t4(R"({"name": "time", "value": 4, "unit": "cycles"})")),
              HasSubstr("FILE: results[0]: measurements: unit: 'cycles' is no unit of time"));
  EXPECT_THAT(recording_refusal(t4("", R"({"timeunit": "fortnights"})")),
              HasSubstr("FILE: metadata.timeunit: 'fortnights' is no unit of time"));
}

TEST(Recording_file, T4_results_without_a_time_are_refused) {
  EXPECT_THAT(recording_refusal(t4(R"({"name": "GFLOP/s", "value": 4, "unit": ""})")),
              HasSubstr("results[0]: no measurement is named \"time\", only GFLOP/s"));
}

TEST(Recording_file, KTT_results_are_read_in_milliseconds) {
  const Recording recording = read_recording(kData / "ktt.json");
  EXPECT_EQ(recording.kernel, "reduction");
  EXPECT_EQ(recording.device, "NVIDIA GeForce RTX 2080 Ti");
  EXPECT_NEAR(recording.trials[0].time_ms.value(), 0.51, 1e-12);
  EXPECT_NEAR(recording.trials[0].cost_s.value(), 0.20051, 1e-12);
  EXPECT_NEAR(recording.trials[1].time_ms.value(), 0.81, 1e-12);
  EXPECT_EQ(recording.trials[2].outcome, Outcome::compile_error);
  EXPECT_EQ(recording.trials[3].outcome, Outcome::wrong_result);
  EXPECT_EQ(recording.trials[3].time_ms, std::nullopt);
}

TEST(Recording_file, What_is_no_recording_is_refused_with_its_reason) {
  EXPECT_THAT(recording_refusal("{}"), HasSubstr("FILE: holds no measured configurations"));
  EXPECT_THAT(recording_refusal("[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(recording_refusal(cache("")), HasSubstr("holds no configuration that was measured"));
  EXPECT_THAT(recording_refusal("{\"cache\":\n {\"1\": oops}}"),
              HasSubstr("not valid JSON at line 2, column 8"));
  EXPECT_THAT(recording_refusal("\x1f\x8b"), HasSubstr("gunzip"));
  EXPECT_THAT(recording_refusal(cache(R"("1": {"A": [1], "time": 1})")),
              HasSubstr("a value of A is a list"));
  EXPECT_THAT(recording_refusal(R"({"cache": {"1": {"time": 1}}})"), HasSubstr("tune_params_keys"));
  EXPECT_THAT(recording_refusal(R"({"tune_params_keys": ["A", "A"], "cache": {}})"),
              HasSubstr("the parameter 'A' appears twice"));
}

}  // namespace
}  // namespace tuner::interop
