// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tuner::cli {
namespace {

/// Keys sorted at every level: the same result is the same line.
using SortedJson = nlohmann::json;

SortedJson optional(const std::optional<double>& value) {
  return value ? SortedJson(*value) : SortedJson();
}

SortedJson device_json(const DeviceInfo& device) {
  SortedJson attributes;
  for (const AttributeField& field : attribute_fields()) {
    attributes[std::string(field.name)] = device.attributes.*field.member;
  }
  return {{"backend", device.backend},
          {"name", device.name},
          {"architecture", device.architecture},
          {"attributes", attributes}};
}

std::string line(const StoredBest& stored) {
  const auto& [subject, best] = stored;
  const SortedJson document = {
      {"format", "tune.best/1"},
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
      {"config", SortedJson::parse(best.config_json)},
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
      {"recorded_at", best.recorded_at}};
  return document.dump() + "\n";
}

}  // namespace

int export_bests(const CommonOptions& common, const ExportOptions& options) {
  const Store store(database_path(common), Store::Mode::read_only);
  ResultFilter filter;
  if (!options.device.empty()) filter.device = options.device;
  std::vector<std::string> lines;
  for (const StoredBest& stored : store.bests(filter)) lines.push_back(line(stored));
  if (lines.empty()) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("{}: nothing to export{}", store.path().string(),
                    options.device.empty() ? "" : fmt::format(" for device '{}'", options.device)));
  }
  std::ranges::sort(lines);
  const std::string text = fmt::format("{}", fmt::join(lines, ""));
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_file(options.output, text);
  }
  return 0;
}

}  // namespace tuner::cli
