// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/message.hpp"

#include "tuner/core/printable.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>

namespace tuner::worker {
namespace {

[[noreturn]] void fail(std::string_view key) {
  throw Error(ErrorCode::failure,
              fmt::format("a message between processes has no proper '{}'", key));
}

Json to_message(const family::Header& header) {
  return {{"name", header.name}, {"text", header.text}};
}

Json to_message(const family::KernelSource& source) {
  Json headers = Json::array();
  for (const family::Header& header : source.headers) headers.push_back(to_message(header));
  return {{"name", source.name}, {"text", source.text}, {"headers", std::move(headers)}};
}

family::KernelSource source_from(const Json& message) {
  family::KernelSource source{.name = field<std::string>(message, "name"),
                              .text = field<std::string>(message, "text"),
                              .headers = {}};
  for (const Json& header : field<std::vector<Json>>(message, "headers")) {
    source.headers.push_back(
        {.name = field<std::string>(header, "name"), .text = field<std::string>(header, "text")});
  }
  return source;
}

Json to_message(const measure::Summary& time) {
  return {{"median", time.median},
          {"q1", time.q1},
          {"q3", time.q3},
          {"minimum", time.minimum},
          {"count", time.count}};
}

measure::Summary summary_from(const Json& message) {
  return {.median = field<double>(message, "median"),
          .q1 = field<double>(message, "q1"),
          .q3 = field<double>(message, "q3"),
          .minimum = field<double>(message, "minimum"),
          .count = field<int>(message, "count")};
}

Json to_message(const backend::Resources& resources) {
  return {{"registers", resources.registers},
          {"static_shared_bytes", resources.static_shared_bytes},
          {"local_bytes", resources.local_bytes}};
}

backend::Resources resources_from(const Json& message) {
  return {.registers = field<int>(message, "registers"),
          .static_shared_bytes = field<std::size_t>(message, "static_shared_bytes"),
          .local_bytes = field<std::size_t>(message, "local_bytes")};
}

Json to_message(const std::vector<backend::Resources>& resources) {
  Json messages = Json::array();
  for (const backend::Resources& each : resources) messages.push_back(to_message(each));
  return messages;
}

std::vector<backend::Resources> each_resources_from(const Json& message) {
  std::vector<backend::Resources> resources;
  for (const Json& each : field<std::vector<Json>>(message, "resources")) {
    resources.push_back(resources_from(each));
  }
  return resources;
}

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::optional<double> optional_double(const Json& message, std::string_view key) {
  const auto value = field<Json>(message, key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number()) fail(key);
  return value.get<double>();
}

/// A text for people. A compiler quotes the source as it is, whatever its encoding; stored and
/// shown is what everything can show.
std::string shown_text(const Json& message, std::string_view key) {
  return printable(field<std::string>(message, key));
}

Outcome outcome_field(const Json& message) {
  const auto outcome = outcome_from_name(field<std::string>(message, "outcome"));
  if (!outcome) fail("outcome");
  return *outcome;
}

}  // namespace

template <class T>
T field(const Json& message, std::string_view key) {
  const auto found = message.find(key);
  if (found == message.end()) fail(key);
  try {
    return found->template get<T>();
  } catch (const Json::exception&) {
    fail(key);
  }
}
template Json field<Json>(const Json&, std::string_view);
template std::string field<std::string>(const Json&, std::string_view);
template bool field<bool>(const Json&, std::string_view);
template int field<int>(const Json&, std::string_view);
template double field<double>(const Json&, std::string_view);
template std::uint64_t field<std::uint64_t>(const Json&, std::string_view);
template space::Size field<space::Size>(const Json&, std::string_view);
template std::vector<int> field<std::vector<int>>(const Json&, std::string_view);
template std::vector<Json> field<std::vector<Json>>(const Json&, std::string_view);

Json to_message(const family::CompileJob& job) {
  return {{"source", to_message(job.source)},
          {"entries", job.entries},
          {"options", job.options},
          {"key", job.key}};
}

family::CompileJob compile_job_from(const Json& message) {
  return {.source = source_from(field<Json>(message, "source")),
          .entries = field<std::vector<std::string>>(message, "entries"),
          .options = field<std::vector<std::string>>(message, "options"),
          .key = field<std::string>(message, "key")};
}

Json to_message(const backend::Binary& binary) {
  std::vector<std::uint8_t> image(binary.image.size());
  std::memcpy(image.data(), binary.image.data(), image.size());
  return {{"symbols", binary.symbols}, {"image", Json::binary(std::move(image))}};
}

backend::Binary binary_from(const Json& message) {
  const auto found = message.find("image");
  if (found == message.end() || !found->is_binary()) fail("image");
  const auto bytes = std::as_bytes(std::span(found->get_binary()));
  return {.image = {bytes.begin(), bytes.end()},
          .symbols = field<std::vector<std::string>>(message, "symbols")};
}

Json to_message(const Failure& failure) {
  return {{"outcome", name(failure.outcome)}, {"message", failure.message}};
}

Failure failure_from(const Json& message) {
  return {.outcome = outcome_field(message), .message = shown_text(message, "message")};
}

Json to_message(const Expected<backend::Binary, Failure>& compiled) {
  if (compiled) return {{"binary", to_message(*compiled)}};
  return {{"failure", to_message(compiled.error())}};
}

Expected<backend::Binary, Failure> compiled_from(const Json& message) {
  if (message.contains("failure")) return Unexpected(failure_from(field<Json>(message, "failure")));
  return binary_from(field<Json>(message, "binary"));
}

Json to_message(const space::DeviceInfo& device) {
  Json attributes = Json::object();
  for (const space::AttributeField& each : space::attribute_fields()) {
    attributes[std::string(each.name)] = device.attributes.*each.member;
  }
  return {{"backend", device.backend},
          {"name", device.name},
          {"uuid", device.uuid},
          {"architecture", device.architecture},
          {"attributes", std::move(attributes)}};
}

space::DeviceInfo device_from(const Json& message) {
  space::DeviceInfo device{.backend = field<std::string>(message, "backend"),
                           .name = field<std::string>(message, "name"),
                           .uuid = field<std::string>(message, "uuid"),
                           .architecture = field<std::string>(message, "architecture"),
                           .attributes = {}};
  const Json attributes = field<Json>(message, "attributes");
  for (const space::AttributeField& each : space::attribute_fields()) {
    device.attributes.*each.member = field<std::int64_t>(attributes, each.name);
  }
  return device;
}

Json to_message(const space::EnvironmentInfo& environment) {
  return {{"driver", environment.driver},
          {"compiler", environment.compiler},
          {"library", environment.library},
          {"tool", environment.tool}};
}

space::EnvironmentInfo environment_from(const Json& message) {
  return {.driver = field<std::string>(message, "driver"),
          .compiler = field<std::string>(message, "compiler"),
          .library = field<std::string>(message, "library"),
          .tool = field<std::string>(message, "tool")};
}

Json to_message(const TrialResult& evaluation) {
  return {{"outcome", name(evaluation.outcome)},
          {"message", evaluation.message},
          {"time", evaluation.time ? to_message(*evaluation.time) : Json()},
          {"worst_error", optional(evaluation.worst_error)},
          {"hot_ns", optional(evaluation.hot_ns)},
          {"clock_mhz", optional(evaluation.clock_mhz)},
          {"discarded", evaluation.discarded},
          {"power_capped", evaluation.power_capped},
          {"resources", to_message(evaluation.resources)},
          {"verify_ms", evaluation.verify_ms},
          {"measure_ms", evaluation.measure_ms}};
}

TrialResult evaluation_from(const Json& message) {
  TrialResult evaluation{.outcome = outcome_field(message),
                         .message = shown_text(message, "message"),
                         .time = {},
                         .worst_error = optional_double(message, "worst_error"),
                         .hot_ns = optional_double(message, "hot_ns"),
                         .clock_mhz = optional_double(message, "clock_mhz"),
                         .discarded = field<int>(message, "discarded"),
                         .power_capped = field<bool>(message, "power_capped"),
                         .resources = each_resources_from(message),
                         .verify_ms = field<double>(message, "verify_ms"),
                         .measure_ms = field<double>(message, "measure_ms")};
  const Json time = field<Json>(message, "time");
  if (!time.is_null()) evaluation.time = summary_from(time);
  if (evaluation.time.has_value() != (evaluation.outcome == Outcome::ok)) fail("time");
  return evaluation;
}

Json to_message(const backend::Sample& sample) {
  return {{"time_ns", sample.time_ns}, {"clock_mhz", optional(sample.clock_mhz)}};
}

backend::Sample sample_from(const Json& message) {
  return {.time_ns = field<double>(message, "time_ns"),
          .clock_mhz = optional_double(message, "clock_mhz")};
}

Json to_message(const measure::TransferTimes& times) {
  return {{"to_device_ns", times.to_device_ns},
          {"work_ns", times.work_ns},
          {"to_host_ns", times.to_host_ns}};
}

measure::TransferTimes trip_times_from(const Json& message) {
  return {.to_device_ns = field<double>(message, "to_device_ns"),
          .work_ns = field<double>(message, "work_ns"),
          .to_host_ns = field<double>(message, "to_host_ns")};
}

Json to_message(const StartUp& start_up) {
  return {{"device_ms", start_up.device_ms}, {"library_ms", start_up.library_ms}};
}

StartUp start_up_from(const Json& message) {
  return {.device_ms = field<double>(message, "device_ms"),
          .library_ms = field<double>(message, "library_ms")};
}

Json to_message(const Error& error) {
  return {{"code", static_cast<int>(error.code())}, {"message", error.what()}};
}

Error error_from(const Json& message) {
  return Error(static_cast<ErrorCode>(field<int>(message, "code")),
               field<std::string>(message, "message"));
}

Json to_message(const family::Family& family) {
  Json sources = Json::object();
  for (const family::Kernel& kernel : family.kernels)
    sources[kernel.name] = to_message(kernel.source);
  return {{"text", family.text}, {"path", family.path}, {"sources", std::move(sources)}};
}

family::Family family_from(const Json& message) {
  std::map<std::string, family::KernelSource> sources;
  const Json each_source = field<Json>(message, "sources");
  for (const auto& [kernel, source] : each_source.items()) sources[kernel] = source_from(source);
  return family::parse_family(field<std::string>(message, "text"),
                              field<std::string>(message, "path"), sources);
}

}  // namespace tuner::worker
