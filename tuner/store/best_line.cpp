// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/best_line.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/space/size.hpp"
#include "tuner/store/json_fields.hpp"
#include "tuner/store/possible_best.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <type_traits>
#include <utility>

namespace tuner::store {
namespace {

/// Whether a text is a size as it is stored, of whatever dimensions.
bool is_canonical_size(const std::string& text) {
  try {
    return space::normalised_size(text) == text;
  } catch (const Error&) {
    return false;
  }
}

constexpr const char* kFormat1 = "tune.best/1";
constexpr const char* kFormat2 = "tune.best/2";

/// The key of a time in an object whose name states the unit: "median_ns" → "median".
std::string_view without_unit(std::string_view name) {
  return name.ends_with("_ns") ? name.substr(0, name.size() - 3) : name;
}

/// The object in a line that a field is in, and its key there: "library.ratio".
std::pair<std::string_view, std::string_view> split(std::string_view place) {
  const std::size_t dot = place.find('.');
  if (dot == std::string_view::npos) return {"", place};
  return {place.substr(0, dot), place.substr(dot + 1)};
}

template <class T>
SortedJson value_json(const T& value) {
  return value;
}
SortedJson value_json(const std::optional<double>& value) {
  return value ? SortedJson(*value) : SortedJson();
}
SortedJson value_json(const TimeSummary& time) {
  SortedJson object;
  for_each_field<TimeSummary>([&](const auto& field) {
    object[std::string(without_unit(field.name))] = time.*field.member;
  });
  return object;
}

/// What is written of a best by the names of its fields.
void write_fields(const BestRecord& best, SortedJson& document) {
  for_each_field<BestRecord>([&](const auto& field) {
    if (field.use.line.empty()) return;
    SortedJson value = value_json(best.*field.member);
    if (value.is_null() && field.use.is_omitted) return;
    const auto [object, key] = split(field.use.line);
    SortedJson& in = object.empty() ? document : document[std::string(object)];
    in[std::string(key)] = std::move(value);
  });
}

SortedJson device_json(const space::DeviceInfo& device) {
  SortedJson attributes;
  for (const space::AttributeField& field : space::attribute_fields()) {
    attributes[std::string(field.name)] = device.attributes.*field.member;
  }
  return {{"backend", device.backend},
          {"name", device.name},
          {"architecture", device.architecture},
          {"attributes", attributes}};
}

SortedJson environment_json(const space::EnvironmentInfo& environment) {
  SortedJson object;
  for_each_field<space::EnvironmentInfo>(
      [&](const auto& field) { object[std::string(field.name)] = environment.*field.member; });
  return object;
}

/// Everything but the checksum.
SortedJson document_of(const StoredBest& stored) {
  const Subject& subject = *stored.subject;
  const BestRecord& best = stored.best;
  SortedJson document = {
      {"format", kFormat2},
      {"device", device_json(subject.device)},
      {"environment", environment_json(subject.environment)},
      {"family", subject.kernel.family},
      {"kernel", subject.kernel.kernel},
      {"kernel_hash", subject.kernel.hash},
      {"problem", best.problem},
      {"config", SortedJson::parse(parse_json(best.config_json, "a stored configuration").dump())},
      {"provenance",
       {{"session", best.run_uuid},
        {"recorded_at", best.recorded_at},
        {"tool", subject.environment.tool},
        {"origin", published_origin(best)}}}};
  write_fields(best, document);
  return document;
}

space::DeviceInfo device_of(JsonFields fields) {
  space::DeviceInfo device{.backend = fields.name("backend"),
                           .name = fields.name("name"),
                           .uuid = {},
                           .architecture = fields.text("architecture"),
                           .attributes = {}};
  JsonFields attributes = fields.object("attributes");
  for (const space::AttributeField& field : space::attribute_fields()) {
    device.attributes.*field.member = attributes.whole(field.name, 0);
  }
  attributes.finish();
  fields.finish();
  return device;
}

space::EnvironmentInfo environment_of(JsonFields fields) {
  space::EnvironmentInfo environment;
  for_each_field<space::EnvironmentInfo>(
      [&](const auto& field) { environment.*field.member = fields.text(field.name); });
  fields.finish();
  return environment;
}

void read_value(JsonFields& fields, std::string_view key, double below,
                std::optional<double>& value) {
  value = fields.optional_positive(key, below);
}
void read_value(JsonFields& fields, std::string_view key, double below, double& value) {
  value = fields.at_least_zero(key, below);
}
void read_value(JsonFields& fields, std::string_view key, double, int& value) {
  value = fields.count(key, 0);
}
void read_value(JsonFields& fields, std::string_view key, double, std::string& value) {
  value = fields.text(key);
}
void read_value(JsonFields& fields, std::string_view key, double below, TimeSummary& time) {
  JsonFields times = fields.object(key);
  for_each_field<TimeSummary>([&]<class F>(const F& field) {
    if constexpr (std::is_same_v<typename F::Type, double>) {
      time.*field.member = times.positive(without_unit(field.name), below);
    } else {
      time.*field.member = times.count(field.name, 1);
    }
  });
  if (time.min_ns > time.q1_ns || time.q1_ns > time.median_ns || time.median_ns > time.q3_ns) {
    times.fail("the times are not in order: min <= q1 <= median <= q3");
  }
  times.finish();
}

/// What write_fields wrote.
void read_fields(JsonFields& fields, BestRecord& best) {
  std::map<std::string_view, JsonFields> objects;
  for_each_field<BestRecord>([&]<class F>(const F& field) {
    if constexpr (!std::is_same_v<typename F::Type, bool>) {  // lines have no flags
      const auto [object, key] = split(field.use.line);
      if (key.empty()) return;
      JsonFields& in = object.empty()
                           ? fields
                           : objects.try_emplace(object, fields.object(object)).first->second;
      if (field.use.is_omitted && !in.has(key)) return;
      read_value(in, key, field.use.below, best.*field.member);
    }
  });
  for (const auto& [name, object] : objects) object.finish();
}

/// A flat object of numbers, booleans and texts, in canonical form.
std::string config_of(JsonFields& fields) {
  const SortedJson& config = fields.value("config");
  if (!config.is_object()) fields.fail("'config' is not an object");
  for (const auto& [name, value] : config.items()) {
    if (value.is_structured() || value.is_null()) {
      fields.fail(fmt::format("'config.{}' is not a plain value", name));
    }
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (printable_name(name) != name || printable_name(text) != text) {
      fields.fail(fmt::format("'config.{}' holds a control character", name));
    }
  }
  return config.dump();
}

std::string invented_uuid(const Subject& subject) {
  const auto& [device, environment, kernel, check] = subject;  // a line says nothing of its check
  return "line-" + content_hash({device.backend, device.name, device.architecture,
                                 environment.driver, environment.compiler, environment.library,
                                 environment.tool, kernel.family, kernel.kernel, kernel.hash});
}

void read_provenance(JsonFields& fields, StoredBest& stored) {
  if (fields.text("format") == kFormat1) {
    stored.best.recorded_at = fields.date("recorded_at");
    stored.best.run_uuid = invented_uuid(*stored.subject);
    return;
  }
  JsonFields provenance = fields.object("provenance");
  stored.best.run_uuid = provenance.name("session");
  stored.best.recorded_at = provenance.date("recorded_at");
  stored.best.origin = provenance.text("origin");
  if (provenance.text("tool") != stored.subject->environment.tool) {
    provenance.fail("'provenance.tool' is not 'environment.tool'");
  }
  provenance.finish();
}

std::shared_ptr<const Subject> subject_of(JsonFields& fields) {
  auto subject = std::make_shared<Subject>();
  subject->device = device_of(fields.object("device"));
  subject->environment = environment_of(fields.object("environment"));
  subject->kernel.family = fields.name("family");
  subject->kernel.kernel = fields.name("kernel");
  subject->kernel.hash = fields.name("kernel_hash");
  return subject;
}

StoredBest best_of(JsonFields fields) {
  StoredBest stored{.subject = subject_of(fields), .best = {}};
  BestRecord& best = stored.best;
  best.problem = fields.name("problem");
  if (!is_canonical_size(best.problem)) {
    fields.fail("'problem' must be a size such as 4096,4096,4096 or 4096,4096,64,TRANS_B=1");
  }
  best.config_json = config_of(fields);
  read_fields(fields, best);
  best.verified = false;
  read_provenance(fields, stored);
  fields.finish();
  return stored;
}

/// Throws for the files that are most often taken for lines of `tune export`.
void refuse_other_files(std::string_view text, std::string_view origin) {
  constexpr std::size_t kBeginning = 4096;
  const std::string_view beginning = text.substr(0, kBeginning);
  std::string_view is;
  if (beginning.find("\"dispatch/1\"") != std::string_view::npos) {
    is = "a dispatch table, which applications open";
  } else if (beginning.find("\"tune_params\"") != std::string_view::npos) {
    is = "a cache file of Kernel Tuner: `tune replay` and `tune export --from` read it";
  }
  if (is.empty()) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("{}: is {}; `tune import` reads lines that `tune export` wrote", origin, is));
}

StoredBest parse_line(std::string_view line, const std::string& where) {
  // Read with the rules for documents from outside, then put into the order of the keys.
  SortedJson document = SortedJson::parse(parse_json(line, where).dump());
  JsonFields fields(document, where, "");
  const std::string format = document.is_object() ? fields.text("format") : "";
  if (format == kFormat2) {
    const std::string checksum = fields.text("checksum");
    document.erase("checksum");
    if (checksum != content_hash({document.dump()})) {
      fields.fail("the checksum does not match: the line was changed after `tune export` wrote it");
    }
  } else if (format != kFormat1) {
    fields.fail(fmt::format("is not a line of `tune export`: 'format' must be {} or {}", kFormat2,
                            kFormat1));
  }
  StoredBest stored = best_of(JsonFields(document, where, ""));
  if (const auto why = why_impossible(stored)) {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", where, *why));
  }
  return stored;
}

}  // namespace

std::string best_line(const StoredBest& stored) {
  SortedJson document = document_of(stored);
  document["checksum"] = content_hash({document.dump()});
  return document.dump();
}

std::string published_origin(const BestRecord& best) {
  return printable_name(std::filesystem::path(best.origin).filename().string());
}

std::vector<StoredBest> parse_best_lines(std::string_view text, std::string_view origin) {
  refuse_other_files(text, origin);
  std::vector<StoredBest> bests;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string place = fmt::format("{}, line {}", origin, number);
    if (end == std::string_view::npos && line.starts_with('{') && !line.ends_with('}')) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: ends in the middle of the line: it was cut off", place));
    }
    bests.push_back(parse_line(line, place));
  }
  if (bests.empty()) throw Error(ErrorCode::usage, fmt::format("{}: the file is empty", origin));
  return bests;
}

}  // namespace tuner::store
