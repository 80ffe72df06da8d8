// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/recording_text.hpp"

#include "tests/interop/data_folder.hpp"
#include "tuner/interop/recording_file.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace tuner::interop {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void expect_equal(const space::SpaceDefinition& a, const space::SpaceDefinition& b) {
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    const space::Parameter& left = a.parameters[i];
    const space::Parameter& right = b.parameters[i];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(left.value_kind, right.value_kind) << left.name;
    ASSERT_EQ(left.values.size(), right.values.size()) << left.name;
    for (std::size_t v = 0; v < left.values.size(); ++v) {
      EXPECT_EQ(left.values[v].text, right.values[v].text) << left.name;
      EXPECT_EQ(left.values[v].number, right.values[v].number) << left.name;
    }
  }
}

void expect_equal(const Recording& a, const Recording& b) {
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.problem, b.problem);
  expect_equal(*a.definition, *b.definition);
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (std::size_t i = 0; i < a.trials.size(); ++i) {
    EXPECT_EQ(a.trials[i].config, b.trials[i].config) << i;
    EXPECT_EQ(a.trials[i].outcome, b.trials[i].outcome) << i;
    EXPECT_EQ(a.trials[i].time_ms, b.trials[i].time_ms) << i;
    ASSERT_EQ(a.trials[i].cost_s.has_value(), b.trials[i].cost_s.has_value()) << i;
    EXPECT_DOUBLE_EQ(a.trials[i].cost_s.value_or(-1), b.trials[i].cost_s.value_or(-1)) << i;
  }
}

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, A_recording_survives_a_cache_file) {
  const Recording recording = read_recording(kData / GetParam());
  Recording again = parse_recording(cache_text(recording), "cache");
  // The two outcomes that Kernel Tuner has no word for are errors while running.
  for (std::size_t i = 0; i < again.trials.size(); ++i) {
    const Outcome outcome = recording.trials[i].outcome;
    if (outcome == Outcome::timeout || outcome == Outcome::wrong_result) {
      EXPECT_EQ(again.trials[i].outcome, Outcome::launch_error);
      again.trials[i].outcome = outcome;
    }
  }
  expect_equal(recording, again);
}

TEST_P(RoundTrip, A_recording_survives_T4_results_but_for_values_never_measured) {
  const Recording recording = parse_recording(t4_text(read_recording(kData / GetParam())), "t4");
  expect_equal(recording, parse_recording(t4_text(recording), "t4"));
}

INSTANTIATE_TEST_SUITE_P(Files, RoundTrip,
                         testing::Values("convolution_A100.json", "pnpoly_RTX_Titan_unclosed.json",
                                         "t4.json", "ktt.json"),
                         [](const auto& suite) {
                           const std::string name = suite.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(Recording_text, T4_keeps_every_trial_of_a_cache) {
  const Recording recording = read_recording(kData / "convolution_A100.json");
  const Recording again = parse_recording(t4_text(recording), "t4");
  EXPECT_EQ(again.kernel, recording.kernel);
  EXPECT_EQ(again.device, recording.device);
  EXPECT_EQ(again.problem, recording.problem);
  ASSERT_EQ(again.trials.size(), recording.trials.size());
  for (std::size_t i = 0; i < again.trials.size(); ++i) {
    EXPECT_EQ(cache_key(*again.definition, again.trials[i].config),
              cache_key(*recording.definition, recording.trials[i].config));
    EXPECT_EQ(again.trials[i].outcome, recording.trials[i].outcome);
    EXPECT_EQ(again.trials[i].time_ms, recording.trials[i].time_ms);
  }
}

TEST(Recording_text, A_cache_has_the_layout_that_Kernel_Tuner_appends_to) {
  const std::string text = cache_text(read_recording(kData / "pnpoly_RTX_Titan_unclosed.json"));
  EXPECT_THAT(text, StartsWith("{\n\"device_name\": \"NVIDIA TITAN RTX\",\n\"kernel_name\": "
                               "\"cn_pnpoly\",\n\"problem_size\": [\n20000000\n],\n"
                               "\"tune_params_keys\": [\n\"between_method\",\n"));
  EXPECT_THAT(text, HasSubstr("\"objective\": \"time\",\n\"cache\": {\n\"3,256,1,0\": "
                              "{\"between_method\": 3, \"block_size_x\": 256, \"tile_size\": 1, "
                              "\"use_method\": 0, \"time\": 0.076646, "));
  EXPECT_TRUE(text.ends_with("}}\n}\n"));
  const Json document = Json::parse(text);
  EXPECT_EQ(document["cache"].size(), 80U);
  // What an interrupted run leaves: without the end, and with the comma after the last entry.
  const std::string unclosed = text.substr(0, text.size() - 4) + ",\n";
  EXPECT_EQ(parse_recording(unclosed, "unclosed").trials.size(), 80U);
}

TEST(Recording_text, T4_results_have_what_the_schema_requires) {
  const Json document = Json::parse(t4_text(read_recording(kData / "t4.json")));
  EXPECT_EQ(document["schema_version"], "1.0.0");
  for (const Json& result : document["results"]) {
    for (const char* key : {"configuration", "times", "invalidity", "correctness"}) {
      EXPECT_TRUE(result.contains(key)) << key;
    }
  }
  EXPECT_EQ(document["results"][3]["invalidity"], "timeout");
  EXPECT_EQ(document["results"][0]["measurements"][0]["value"], 2.125);
}

TEST(Recording_text, Texts_that_look_like_numbers_stay_texts) {
  const std::string text =
      R"({"tune_params": {"A": ["1", "2"]}, "cache": {"1": {"A": "1", "time": 5}}})";
  const Recording recording = parse_recording(text, "test");
  EXPECT_EQ(recording.definition->parameters[0].value_kind, space::ValueKind::word);
  expect_equal(recording, parse_recording(cache_text(recording), "again"));
}

}  // namespace
}  // namespace tuner::interop
