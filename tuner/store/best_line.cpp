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
constexpr double kMostNs = 1e15;  // as the schema
constexpr double kMostRatio = 1e9;
constexpr double kMostWork = 1e30;

SortedJson optional(const std::optional<double>& value) {
  return value ? SortedJson(*value) : SortedJson();
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

/// Everything but the checksum.
SortedJson document_of(const StoredBest& stored) {
  const Subject& subject = *stored.subject;
  const BestRecord& best = stored.best;
  SortedJson document = {
      {"format", kFormat2},
      {"device", device_json(subject.device)},
      {"environment",
       {{"driver", subject.environment.driver},
        {"compiler", subject.environment.compiler},
        {"library", subject.environment.library},
        {"tool", subject.environment.tool}}},
      {"family", subject.kernel.family},
      {"kernel", subject.kernel.kernel},
      {"kernel_hash", subject.kernel.hash},
      {"problem", best.problem},
      {"config", SortedJson::parse(parse_json(best.config_json, "a stored configuration").dump())},
      {"time_ns",
       {{"median", best.time.median_ns},
        {"q1", best.time.q1_ns},
        {"q3", best.time.q3_ns},
        {"min", best.time.min_ns},
        {"samples", best.time.samples}}},
      {"library",
       {{"name", best.library_name},
        {"median_ns", optional(best.library_ns)},
        {"ratio", optional(best.ratio_to_library)},
        {"ratio_low", optional(best.ratio_to_library_low)},
        {"ratio_high", optional(best.ratio_to_library_high)}}},
      {"default",
       {{"median_ns", optional(best.default_ns)}, {"ratio", optional(best.ratio_to_default)}}},
      {"ties", best.ties},
      {"flops", best.flops},
      {"bytes", best.bytes},
      {"provenance",
       {{"session", best.run_uuid},
        {"recorded_at", best.recorded_at},
        {"tool", subject.environment.tool},
        {"origin", published_origin(best)}}}};
  if (best.sustained_ns) document["back_to_back_ns"] = *best.sustained_ns;
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
  space::EnvironmentInfo environment{.driver = fields.text("driver"),
                                     .compiler = fields.text("compiler"),
                                     .library = fields.text("library"),
                                     .tool = fields.text("tool")};
  fields.finish();
  return environment;
}

TimeSummary time_of(JsonFields fields) {
  const TimeSummary time{.median_ns = fields.positive("median", kMostNs),
                         .q1_ns = fields.positive("q1", kMostNs),
                         .q3_ns = fields.positive("q3", kMostNs),
                         .min_ns = fields.positive("min", kMostNs),
                         .samples = fields.count("samples", 1)};
  if (time.min_ns > time.q1_ns || time.q1_ns > time.median_ns || time.median_ns > time.q3_ns) {
    fields.fail("the times are not in order: min <= q1 <= median <= q3");
  }
  fields.finish();
  return time;
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

void read_comparisons(JsonFields& fields, BestRecord& best) {
  JsonFields library = fields.object("library");
  best.library_name = library.text("name");
  best.library_ns = library.optional_positive("median_ns", kMostNs);
  best.ratio_to_library = library.optional_positive("ratio", kMostRatio);
  best.ratio_to_library_low = library.optional_positive("ratio_low", kMostRatio);
  best.ratio_to_library_high = library.optional_positive("ratio_high", kMostRatio);
  library.finish();
  JsonFields by_default = fields.object("default");
  best.default_ns = by_default.optional_positive("median_ns", kMostNs);
  best.ratio_to_default = by_default.optional_positive("ratio", kMostRatio);
  by_default.finish();
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
  best.time = time_of(fields.object("time_ns"));
  if (fields.has("back_to_back_ns")) {
    best.sustained_ns = fields.positive("back_to_back_ns", kMostNs);
  }
  read_comparisons(fields, best);
  best.ties = fields.count("ties", 0);
  best.flops = fields.at_least_zero("flops", kMostWork);
  best.bytes = fields.at_least_zero("bytes", kMostWork);
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
    bests.push_back(parse_line(line, fmt::format("{}, line {}", origin, number)));
  }
  if (bests.empty()) throw Error(ErrorCode::usage, fmt::format("{}: the file is empty", origin));
  return bests;
}

}  // namespace tuner::store
