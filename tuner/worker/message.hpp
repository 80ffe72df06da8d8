// SPDX-License-Identifier: Apache-2.0
// What crosses between `tune` and its workers, as JSON values: the fields of a record, or those
// that kFields declares of another struct, for writing and reading. Reading checks all of it and
// throws Error(failure) when something is missing or has another type or range; a worker that sends
// that is treated as crashed.
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/record.hpp"
#include "tuner/source/source.hpp"
#include "tuner/worker/device_worker.hpp"
#include "tuner/worker/watched_backend.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tuner::worker {

/// The space file of a family and the sources of its kernels, by kernel.
struct FamilyFiles {
  std::string text;
  std::string path;  ///< for messages
  std::map<std::string, source::KernelSource> sources;
};
[[nodiscard]] FamilyFiles files_of(const family::Family& family);
/// Throws Error(usage) as parse_family does.
[[nodiscard]] family::Family family_of(const FamilyFiles& files);

/// The first message to a process that drives a device, and its answer.
struct OpenRequest {
  FamilyFiles family;
  std::uint64_t seed = 0;
};
struct OpenAnswer {
  space::DeviceInfo device;
  space::EnvironmentInfo environment;
};

template <class T>
[[nodiscard]] constexpr auto fields_of() {
  if constexpr (Record<T>) {
    return T::fields();
  } else {
    return nullptr;
  }
}
/// The members of a struct that a message can hold, or nullptr.
template <class T>
inline constexpr auto kFields = fields_of<T>();
template <>
inline constexpr auto kFields<source::Header> =
    std::tuple(Field("name", &source::Header::name), Field("text", &source::Header::text));
template <>
inline constexpr auto kFields<source::KernelSource> = std::tuple(
    Field("name", &source::KernelSource::name), Field("text", &source::KernelSource::text),
    Field("headers", &source::KernelSource::headers));
template <>
inline constexpr auto kFields<family::CompileJob> = std::tuple(
    Field("source", &family::CompileJob::source), Field("entries", &family::CompileJob::entries),
    Field("options", &family::CompileJob::options), Field("key", &family::CompileJob::key));
template <>
inline constexpr auto kFields<backend::Binary> = std::tuple(
    Field("image", &backend::Binary::image), Field("symbols", &backend::Binary::symbols));
template <>
inline constexpr auto kFields<backend::Resources> =
    std::tuple(Field("registers", &backend::Resources::registers),
               Field("static_shared_bytes", &backend::Resources::static_shared_bytes),
               Field("local_bytes", &backend::Resources::local_bytes));
template <>
inline constexpr auto kFields<backend::Sample> = std::tuple(
    Field("time_ns", &backend::Sample::time_ns), Field("clock_mhz", &backend::Sample::clock_mhz));
template <>
inline constexpr auto kFields<backend::RegimeTimes> =
    std::tuple(Field("rested_ns", &backend::RegimeTimes::rested_ns),
               Field("sustained_ns", &backend::RegimeTimes::sustained_ns));
template <>
inline constexpr auto kFields<backend::EnergySample> = std::tuple(
    Field("joules", &backend::EnergySample::joules), Field("watts", &backend::EnergySample::watts));
template <>
inline constexpr auto kFields<backend::Conditions> =
    std::tuple(Field("power_capped", &backend::Conditions::power_capped),
               Field("throttled", &backend::Conditions::throttled),
               Field("other_processes", &backend::Conditions::other_processes),
               Field("hides_processes", &backend::Conditions::hides_processes),
               Field("mps", &backend::Conditions::mps),
               Field("clock_limit", &backend::Conditions::clock_limit));
template <>
inline constexpr auto kFields<measure::TransferTimes> =
    std::tuple(Field("allocate_ns", &measure::TransferTimes::allocate_ns),
               Field("to_device_ns", &measure::TransferTimes::to_device_ns),
               Field("work_ns", &measure::TransferTimes::work_ns),
               Field("to_host_ns", &measure::TransferTimes::to_host_ns),
               Field("free_ns", &measure::TransferTimes::free_ns),
               Field("pin_ns", &measure::TransferTimes::pin_ns));
template <>
inline constexpr auto kFields<counters::CounterReading> =
    std::tuple(Field("counters", &counters::CounterReading::counters),
               Field("problem", &counters::CounterReading::problem));
template <>
inline constexpr auto kFields<WrongElement> =
    std::tuple(Field("buffer", &WrongElement::buffer), Field("index", &WrongElement::index),
               Field("value", &WrongElement::value), Field("expected", &WrongElement::expected),
               Field("untouched", &WrongElement::is_untouched),
               Field("to_be_left", &WrongElement::is_to_be_left),
               Field("allowed_error", &WrongElement::allowed_error));
template <>
inline constexpr auto kFields<Failure> =
    std::tuple(Field("outcome", &Failure::outcome), Field("message", &Failure::message),
               Field("element", &Failure::element));
template <>
inline constexpr auto kFields<verify::PerformedCheck> = std::tuple(
    Field("size", &verify::PerformedCheck::size), Field("inputs", &verify::PerformedCheck::inputs),
    Field("check_case", &verify::PerformedCheck::check_case),
    Field("seed", &verify::PerformedCheck::seed), Field("launch", &verify::PerformedCheck::launch),
    Field("outcome", &verify::PerformedCheck::outcome),
    Field("worst_error", &verify::PerformedCheck::worst_error),
    Field("message", &verify::PerformedCheck::message),
    Field("element", &verify::PerformedCheck::element));
template <>
inline constexpr auto kFields<space::DeviceInfo> =
    std::tuple(Field("backend", &space::DeviceInfo::backend),
               Field("name", &space::DeviceInfo::name), Field("uuid", &space::DeviceInfo::uuid),
               Field("architecture", &space::DeviceInfo::architecture),
               Field("attributes", &space::DeviceInfo::attributes));
template <>
inline constexpr auto kFields<verify::LawLeftOut> =
    std::tuple(Field("size", &verify::LawLeftOut::size), Field("law", &verify::LawLeftOut::law),
               Field("reason", &verify::LawLeftOut::reason));
template <>
inline constexpr auto kFields<verify::CoverageGap> = std::tuple(
    Field("file", &verify::CoverageGap::file), Field("line", &verify::CoverageGap::line),
    Field("text", &verify::CoverageGap::text), Field("within", &verify::CoverageGap::within),
    Field("unseen", &verify::CoverageGap::unseen), Field("advice", &verify::CoverageGap::advice));
template <>
inline constexpr auto kFields<verify::Coverage> = std::tuple(
    Field("conditions", &verify::Coverage::conditions), Field("gaps", &verify::Coverage::gaps),
    Field("problem", &verify::Coverage::problem));
template <>
inline constexpr auto kFields<StartUp> =
    std::tuple(Field("device_ms", &StartUp::device_ms), Field("library_ms", &StartUp::library_ms),
               Field("peak_bytes_per_s", &StartUp::peak_bytes_per_s));
template <>
inline constexpr auto kFields<DeviceStep> =
    std::tuple(Field("size", &DeviceStep::size), Field("on_trial", &DeviceStep::on_trial),
               Field("launches", &DeviceStep::launches), Field("launch_s", &DeviceStep::launch_s),
               Field("source", &DeviceStep::source));
template <>
inline constexpr auto kFields<FamilyFiles> =
    std::tuple(Field("text", &FamilyFiles::text), Field("path", &FamilyFiles::path),
               Field("sources", &FamilyFiles::sources));
template <>
inline constexpr auto kFields<OpenRequest> =
    std::tuple(Field("family", &OpenRequest::family), Field("seed", &OpenRequest::seed));
template <>
inline constexpr auto kFields<OpenAnswer> = std::tuple(
    Field("device", &OpenAnswer::device), Field("environment", &OpenAnswer::environment));

[[noreturn]] void fail_to_read(std::string_view key);

[[nodiscard]] Json to_message(bool value);
[[nodiscard]] Json to_message(int value);
[[nodiscard]] Json to_message(std::int64_t value);
[[nodiscard]] Json to_message(std::uint64_t value);
[[nodiscard]] Json to_message(double value);
[[nodiscard]] Json to_message(const std::string& value);
[[nodiscard]] Json to_message(Outcome outcome);
[[nodiscard]] Json to_message(measure::HostPlace place);
[[nodiscard]] Json to_message(verify::Unseen unseen);
[[nodiscard]] Json to_message(const std::vector<std::byte>& bytes);
[[nodiscard]] Json to_message(const space::DeviceAttributes& attributes);
[[nodiscard]] Json to_message(const counters::Counters& counters);
[[nodiscard]] Json to_message(const Error& error);
template <class T>
[[nodiscard]] Json to_message(const std::optional<T>& value);
template <class T>
[[nodiscard]] Json to_message(const std::vector<T>& values);
template <class T>
[[nodiscard]] Json to_message(const std::map<std::string, T>& values);

/// A struct of kFields.
template <class T>
  requires(!std::is_null_pointer_v<std::remove_const_t<decltype(kFields<T>)>>)
[[nodiscard]] Json to_message(const T& value) {
  Json message = Json::object();
  std::apply(
      [&](const auto&... field) {
        ((message[std::string(field.name)] = to_message(value.*field.member)), ...);
      },
      kFields<T>);
  return message;
}
template <class T>
Json to_message(const std::optional<T>& value) {
  return value ? to_message(*value) : Json();
}
template <class T>
Json to_message(const std::vector<T>& values) {
  Json message = Json::array();
  for (const T& value : values) message.push_back(to_message(value));
  return message;
}
template <class T>
Json to_message(const std::map<std::string, T>& values) {
  Json message = Json::object();
  for (const auto& [key, value] : values) message[key] = to_message(value);
  return message;
}

/// Reads `message`, the value of `key`, into `value`.
void read(const Json& message, std::string_view key, bool& value);
void read(const Json& message, std::string_view key, int& value);
void read(const Json& message, std::string_view key, std::int64_t& value);
void read(const Json& message, std::string_view key, std::uint64_t& value);
void read(const Json& message, std::string_view key, double& value);
void read(const Json& message, std::string_view key, std::string& value);
void read(const Json& message, std::string_view key, Outcome& value);
void read(const Json& message, std::string_view key, measure::HostPlace& value);
void read(const Json& message, std::string_view key, verify::Unseen& value);
void read(const Json& message, std::string_view key, std::vector<std::byte>& value);
void read(const Json& message, std::string_view key, space::DeviceAttributes& value);
void read(const Json& message, std::string_view key, counters::Counters& value);
template <class T>
void read(const Json& message, std::string_view key, std::optional<T>& value);
template <class T>
void read(const Json& message, std::string_view key, std::vector<T>& value);
template <class T>
void read(const Json& message, std::string_view key, std::map<std::string, T>& value);

/// What must hold of a struct beyond its fields; makes its texts printable.
template <class T>
void validate(T&) {}
void validate(WrongElement& element);
void validate(Failure& failure);
void validate(verify::PerformedCheck& check);
void validate(counters::CounterReading& reading);
void validate(EvaluatedCandidate& result);
void validate(verify::CoverageGap& gap);
void validate(verify::Coverage& coverage);
void validate(space::DeviceInfo& device);
void validate(space::EnvironmentInfo& environment);

/// The member `key` of a message.
[[nodiscard]] const Json& member(const Json& message, std::string_view key);

template <class T>
  requires(!std::is_null_pointer_v<std::remove_const_t<decltype(kFields<T>)>>)
void read(const Json& message, std::string_view key, T& value) {
  if (!message.is_object()) fail_to_read(key);
  std::apply(
      [&](const auto&... field) {
        (read(member(message, field.name), field.name, value.*field.member), ...);
      },
      kFields<T>);
  validate(value);
}
template <class T>
void read(const Json& message, std::string_view key, std::optional<T>& value) {
  if (message.is_null()) return value.reset();
  read(message, key, value.emplace());
}
template <class T>
void read(const Json& message, std::string_view key, std::vector<T>& value) {
  if (!message.is_array()) fail_to_read(key);
  value.clear();
  for (const Json& each : message) read(each, key, value.emplace_back());
}
template <class T>
void read(const Json& message, std::string_view key, std::map<std::string, T>& value) {
  if (!message.is_object()) fail_to_read(key);
  value.clear();
  for (const auto& [name, each] : message.items()) read(each, key, value[name]);
}

template <class T>
[[nodiscard]] T from_message(const Json& message, std::string_view key = "message") {
  T value{};
  read(message, key, value);
  return value;
}
[[nodiscard]] Error error_from(const Json& message);

}  // namespace tuner::worker
