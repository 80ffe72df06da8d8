// SPDX-License-Identifier: Apache-2.0
// Messages are read as they were written, and what is not one is refused.
#include "tuner/worker/calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tuner::worker {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What reading `message` as a T says; empty when it can be read.
template <class T>
std::string refusal(const Json& message) {
  try {
    static_cast<void>(from_message<T>(message));
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failure);
    return error.what();
  }
}

EvaluatedCandidate a_result() {
  EvaluatedCandidate result;
  result.time =
      TimeSummary{.median_ns = 1000, .q1_ns = 990, .q3_ns = 1010, .min_ns = 980, .samples = 20};
  result.worst_error = 0.25;
  result.caution = "half of y";
  result.checks = {{.size = {6, 7},
                    .inputs = "normal",
                    .check_case = 1,
                    .seed = 9,
                    .launch = "checked",
                    .outcome = Outcome::wrong_result,
                    .worst_error = std::nullopt,
                    .message = "y[3] is nan",
                    .element = WrongElement{.buffer = "y",
                                            .index = 3,
                                            .value = std::numeric_limits<double>::quiet_NaN(),
                                            .expected = 0.5,
                                            .is_untouched = true,
                                            .allowed_error = 1e-6}}};
  result.resources = {{.registers = 32, .static_shared_bytes = 4096, .local_bytes = 8}};
  return result;
}

TEST(Message, AResultIsReadAsItWasWritten) {
  const Json message = to_message(a_result());
  const auto read = from_message<EvaluatedCandidate>(Json::from_cbor(Json::to_cbor(message)));
  EXPECT_EQ(Json::to_cbor(to_message(read)), Json::to_cbor(message));
  EXPECT_EQ(read.time->q3_ns, 1010);
  ASSERT_EQ(read.checks.size(), 1U);
  EXPECT_EQ(read.checks.front().size, (space::Size{6, 7}));
  EXPECT_EQ(read.checks.front().outcome, Outcome::wrong_result);
  ASSERT_TRUE(read.checks.front().element);
  EXPECT_TRUE(std::isnan(read.checks.front().element->value));
  EXPECT_EQ(read.checks.front().element->expected, 0.5);
  EXPECT_EQ(read.caution, "half of y");
  EXPECT_EQ(read.resources.front().static_shared_bytes, 4096U);
  EXPECT_EQ(read.clock_mhz, std::nullopt);
  EXPECT_EQ(read.coverage, std::nullopt);
}

TEST(Message, CoverageIsReadAsItWasWrittenAndPrintable) {
  EvaluatedCandidate result = a_result();
  result.coverage = verify::Coverage{.conditions = 7,
                                     .gaps = {{.file = "plain.cu",
                                               .line = 12,
                                               .text = "x > 20",
                                               .within = "if (x > 20 && y)",
                                               .unseen = verify::Unseen::true_value,
                                               .advice = "add a case"}},
                                     .problem = ""};
  Json message = Json::from_cbor(Json::to_cbor(to_message(result)));
  EXPECT_EQ(from_message<EvaluatedCandidate>(message).coverage, result.coverage);
  message.at("coverage").at("gaps").at(0).at("text") = "x \x1b[31m";
  EXPECT_THAT(from_message<EvaluatedCandidate>(message).coverage->gaps[0].text,
              Not(HasSubstr("\x1b")));
  message.at("coverage").at("gaps").at(0).at("unseen") = "never_mind";
  EXPECT_THAT(refusal<EvaluatedCandidate>(message), HasSubstr("unseen"));
}

TEST(Message, CountersAreReadAsTheyWereWritten) {
  counters::CounterReading reading{.counters = counters::Counters{}, .problem = ""};
  double value = 0.5;
  for (const counters::CounterField& field : counters::counter_fields()) {
    (*reading.counters).*field.member = value++;
  }
  const Json message = Json::from_cbor(Json::to_cbor(to_message(reading)));
  const auto read = from_message<counters::CounterReading>(message);
  for (const counters::CounterField& field : counters::counter_fields()) {
    EXPECT_EQ((*read.counters).*field.member, (*reading.counters).*field.member) << field.name;
  }
  EXPECT_FALSE(
      from_message<counters::CounterReading>(to_message(counters::CounterReading{})).counters);
  Json incomplete = message;
  incomplete.at("counters").erase("fma_percent");
  EXPECT_THAT(refusal<counters::CounterReading>(incomplete), HasSubstr("fma_percent"));
}

TEST(Message, TheArgumentsOfACallAreReadAsTheyWereWritten) {
  const EvaluateArguments arguments{
      .candidate = {.kernel = "k",
                    .config = "{}",
                    .binary = {.image = {std::byte{0}, std::byte{255}}, .symbols = {"f", "g"}}},
      .size = {4096, 1},
      .best_ns = 12.5};
  const Json message = Json::from_cbor(Json::to_cbor(request(kEvaluate, arguments)));
  EXPECT_EQ(message.at("call"), "evaluate");
  const auto read = from_message<EvaluateArguments>(message.at("arguments"));
  EXPECT_EQ(read.candidate.binary.image, arguments.candidate.binary.image);
  EXPECT_EQ(read.candidate.binary.symbols, arguments.candidate.binary.symbols);
  EXPECT_EQ(read.size, arguments.size);
  EXPECT_EQ(read.best_ns, arguments.best_ns);
}

TEST(Message, AFailureIsAnAnswer) {
  Failure slow{Outcome::timeout, "too slow"};
  slow.element = WrongElement{.buffer = "y", .index = 2, .value = 1, .expected = 3};
  const Json failed = answer<double>(Unexpected(slow));
  const auto result = result_in<double>(failed);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::timeout);
  ASSERT_TRUE(result.error().element);
  EXPECT_EQ(result.error().element->index, 2U);
  EXPECT_EQ(result_in<double>(answer<double>(2.5)).value(), 2.5);
  EXPECT_THROW(static_cast<void>(result_in<double>(Json::object())), Error);
}

TEST(Message, WhatIsMissingOrOfAnotherTypeIsNamed) {
  Json message = to_message(a_result());
  message.erase("discarded");
  EXPECT_THAT(refusal<EvaluatedCandidate>(message), HasSubstr("'discarded'"));
  const auto with = [](const char* key, const Json& value) {
    Json changed = to_message(a_result());
    changed[key] = value;
    return refusal<EvaluatedCandidate>(changed);
  };
  EXPECT_THAT(with("discarded", "many"), HasSubstr("'discarded'"));
  EXPECT_THAT(with("discarded", true), HasSubstr("'discarded'"));
  EXPECT_THAT(with("discarded", 0.5), HasSubstr("'discarded'"));
  EXPECT_THAT(with("discarded", std::int64_t{1} << 40), HasSubstr("'discarded'"));
  EXPECT_THAT(with("power_capped", 1), HasSubstr("'power_capped'"));
  EXPECT_THAT(with("outcome", "splendid"), HasSubstr("'outcome'"));
  EXPECT_THAT(with("resources", Json::object()), HasSubstr("'resources'"));
  EXPECT_THAT(refusal<EvaluatedCandidate>(Json::array()), HasSubstr("'message'"));
  EXPECT_THAT(refusal<std::uint64_t>(-1), HasSubstr("'message'"));
  EXPECT_THAT(refusal<backend::Binary>({{"image", "text"}, {"symbols", Json::array()}}),
              HasSubstr("'image'"));
}

TEST(Message, OnlyARightResultHasATime) {
  Json message = to_message(a_result());
  message["outcome"] = "wrong_result";
  EXPECT_THAT(refusal<EvaluatedCandidate>(message), HasSubstr("'time'"));
  message["time"] = Json();
  EXPECT_EQ(refusal<EvaluatedCandidate>(message), "");
  message["outcome"] = "ok";
  EXPECT_THAT(refusal<EvaluatedCandidate>(message), HasSubstr("'time'"));
}

TEST(Message, AnErrorHasACodeOfTheProgram) {
  const Json message = to_message(Error(ErrorCode::no_device, "gone"));
  EXPECT_EQ(error_from(message).code(), ErrorCode::no_device);
  for (const int code : {0, 6, -1, 130}) {
    EXPECT_THROW(static_cast<void>(error_from({{"code", code}, {"message", ""}})), Error) << code;
  }
  try {
    static_cast<void>(error_from({{"code", 130}, {"message", ""}}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failure);
  }
}

TEST(Message, TextsOfAChildArePrintable) {
  const auto failure =
      from_message<Failure>({{"outcome", "crashed"}, {"message", "\x1b[2J"}, {"element", Json()}});
  EXPECT_THAT(failure.message, HasSubstr("\\x1b"));
  EvaluatedCandidate result = a_result();
  result.checks.front().message = "\x1b[2J";
  EXPECT_THAT(from_message<EvaluatedCandidate>(to_message(result)).checks.front().message,
              HasSubstr("\\x1b"));
}

}  // namespace
}  // namespace tuner::worker
