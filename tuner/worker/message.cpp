// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/message.hpp"

#include "tuner/core/printable.hpp"

#include <fmt/format.h>

#include <cstring>

namespace tuner::worker {
namespace {

template <class Integer>
void read_integer(const Json& message, std::string_view key, Integer& value) {
  if (message.is_number_unsigned()) {
    const auto number = message.get<std::uint64_t>();
    if (!std::in_range<Integer>(number)) fail_to_read(key);
    value = static_cast<Integer>(number);
  } else if (message.is_number_integer()) {
    const auto number = message.get<std::int64_t>();
    if (!std::in_range<Integer>(number)) fail_to_read(key);
    value = static_cast<Integer>(number);
  } else {
    fail_to_read(key);
  }
}

}  // namespace

FamilyFiles files_of(const family::Family& family) {
  FamilyFiles files{.text = family.text, .path = family.path, .sources = {}};
  for (const family::Kernel& kernel : family.kernels) files.sources[kernel.name] = kernel.source;
  return files;
}

family::Family family_of(const FamilyFiles& files) {
  return family::parse_family(files.text, files.path, files.sources);
}

void fail_to_read(std::string_view key) {
  throw Error(ErrorCode::failure,
              fmt::format("a message between processes has no valid '{}'", key));
}

const Json& member(const Json& message, std::string_view key) {
  const auto found = message.find(key);
  if (found == message.end()) fail_to_read(key);
  return *found;
}

Json to_message(bool value) {
  return value;
}
Json to_message(int value) {
  return value;
}
Json to_message(std::int64_t value) {
  return value;
}
Json to_message(std::uint64_t value) {
  return value;
}
Json to_message(double value) {
  return value;
}
Json to_message(const std::string& value) {
  return value;
}
Json to_message(Outcome outcome) {
  return name(outcome);
}
Json to_message(verify::Unseen unseen) {
  return std::string(verify::name(unseen));
}
Json to_message(measure::HostPlace place) {
  return measure::name(place);
}
Json to_message(const std::vector<std::byte>& bytes) {
  std::vector<std::uint8_t> copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return Json::binary(std::move(copy));
}
Json to_message(const space::DeviceAttributes& attributes) {
  Json message = Json::object();
  for (const space::AttributeField& each : space::attribute_fields()) {
    message[std::string(each.name)] = attributes.*each.member;
  }
  return message;
}
Json to_message(const counters::Counters& counters) {
  Json message = Json::object();
  for (const counters::CounterField& each : counters::counter_fields()) {
    message[std::string(each.name)] = counters.*each.member;
  }
  return message;
}
Json to_message(const Error& error) {
  return {{"code", static_cast<int>(error.code())}, {"message", error.what()}};
}

void read(const Json& message, std::string_view key, bool& value) {
  if (!message.is_boolean()) fail_to_read(key);
  value = message.get<bool>();
}
void read(const Json& message, std::string_view key, int& value) {
  read_integer(message, key, value);
}
void read(const Json& message, std::string_view key, std::int64_t& value) {
  read_integer(message, key, value);
}
void read(const Json& message, std::string_view key, std::uint64_t& value) {
  read_integer(message, key, value);
}
void read(const Json& message, std::string_view key, double& value) {
  if (!message.is_number()) fail_to_read(key);
  value = message.get<double>();
}
void read(const Json& message, std::string_view key, std::string& value) {
  if (!message.is_string()) fail_to_read(key);
  value = message.get<std::string>();
}
void read(const Json& message, std::string_view key, Outcome& value) {
  const auto outcome = outcome_from_name(from_message<std::string>(message, key));
  if (!outcome) fail_to_read(key);
  value = *outcome;
}
void read(const Json& message, std::string_view key, measure::HostPlace& value) {
  const auto place = measure::host_place(from_message<std::string>(message, key));
  if (!place) fail_to_read(key);
  value = *place;
}
void read(const Json& message, std::string_view key, verify::Unseen& value) {
  const auto unseen = verify::unseen_from_name(from_message<std::string>(message, key));
  if (!unseen) fail_to_read(key);
  value = *unseen;
}
void read(const Json& message, std::string_view key, std::vector<std::byte>& value) {
  if (!message.is_binary()) fail_to_read(key);
  const auto bytes = std::as_bytes(std::span(message.get_binary()));
  value.assign(bytes.begin(), bytes.end());
}
void read(const Json& message, std::string_view key, space::DeviceAttributes& value) {
  if (!message.is_object()) fail_to_read(key);
  for (const space::AttributeField& each : space::attribute_fields()) {
    read(member(message, each.name), each.name, value.*each.member);
  }
}
void read(const Json& message, std::string_view key, counters::Counters& value) {
  if (!message.is_object()) fail_to_read(key);
  for (const counters::CounterField& each : counters::counter_fields()) {
    read(member(message, each.name), each.name, value.*each.member);
  }
}

// A compiler quotes the source as it is, whatever its encoding; stored and shown is what every
// terminal and file can hold.
void validate(WrongElement& element) {
  element.buffer = printable(element.buffer);
}
void validate(verify::PerformedCheck& check) {
  check.inputs = printable(check.inputs);
  check.launch = printable(check.launch);
  check.message = printable(check.message);
}
void validate(verify::LawLeftOut& left_out) {
  left_out.law = printable(left_out.law);
  left_out.reason = printable(left_out.reason);
}
void validate(Failure& failure) {
  failure.message = printable(failure.message);
}
void validate(counters::CounterReading& reading) {
  reading.problem = printable(reading.problem);
}
void validate(EvaluatedCandidate& result) {
  result.message = printable(result.message);
  result.caution = printable(result.caution);
  if (result.time.has_value() != (result.outcome == Outcome::ok)) fail_to_read("time");
}
void validate(verify::CoverageGap& gap) {
  for (std::string* text : {&gap.file, &gap.text, &gap.within, &gap.advice}) {
    *text = printable(*text);
  }
}
void validate(verify::Coverage& coverage) {
  coverage.problem = printable(coverage.problem);
}
void validate(space::DeviceInfo& device) {
  for (std::string* text : {&device.backend, &device.name, &device.uuid, &device.architecture}) {
    *text = printable(*text);
  }
}
void validate(space::EnvironmentInfo& environment) {
  for (std::string* text :
       {&environment.driver, &environment.compiler, &environment.library, &environment.tool}) {
    *text = printable(*text);
  }
}

Error error_from(const Json& message) {
  const int code = from_message<int>(member(message, "code"), "code");
  if (code < static_cast<int>(ErrorCode::failure) ||
      code > static_cast<int>(ErrorCode::nothing_found)) {
    fail_to_read("code");
  }
  return Error(static_cast<ErrorCode>(code),
               printable(from_message<std::string>(member(message, "message"), "message")));
}

}  // namespace tuner::worker
