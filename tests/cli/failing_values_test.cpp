// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/failing_values.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tuner::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<store::StoredTrial> trials(
    const std::vector<std::pair<std::string, Outcome>>& configs) {
  std::vector<store::StoredTrial> all;
  for (const auto& [json, outcome] : configs) {
    store::StoredTrial& stored = all.emplace_back();
    stored.trial.config_json = json;
    stored.trial.outcome = outcome;
  }
  return all;
}

std::vector<std::string> texts(const std::vector<store::StoredTrial>& of) {
  std::vector<std::string> all;
  for (const FailingValue& it : failing_values(of)) {
    all.push_back(it.parameter + "=" + it.value + " " + std::to_string(it.trials));
  }
  return all;
}

constexpr Outcome kOk = Outcome::ok, kWrong = Outcome::wrong_result;

TEST(FailingValues, AreThoseOfNoTrialThatEndedOk) {
  EXPECT_THAT(texts(trials({{R"({"B":32,"C":1,"P":"row"})", kOk},
                            {R"({"B":64,"C":4,"P":"row"})", kWrong},
                            {R"({"B":32,"C":4,"P":"column"})", Outcome::crashed},
                            {R"({"B":32,"C":4,"P":"column"})", kWrong},
                            {R"({"B":64,"C":1,"P":"row"})", kOk}})),
              ElementsAre("C=4 3", "P=\"column\" 2"));
}

TEST(FailingValues, OneTrialAloneSaysNothing) {
  EXPECT_THAT(texts(trials({{R"({"B":32})", kOk}, {R"({"B":64})", kWrong}})), IsEmpty());
}

TEST(FailingValues, WithoutATrialThatEndedOkThereAreNone) {
  EXPECT_THAT(texts(trials({{R"({"B":32})", kWrong}, {R"({"B":32})", kWrong}})), IsEmpty());
}

TEST(FailingValues, AConfigurationHasTheValueOfItsType) {
  const FailingValue value{.parameter = "B", .value = "4", .trials = 2};
  EXPECT_TRUE(value.is_in(parse_json(R"({"A":1,"B":4})", "test")));
  EXPECT_FALSE(value.is_in(parse_json(R"({"A":4,"B":"4"})", "test")));
  EXPECT_FALSE(value.is_in(parse_json(R"({"A":4})", "test")));
}

}  // namespace
}  // namespace tuner::cli
