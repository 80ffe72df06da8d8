// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/catalogue_json.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace tuner {
namespace {

constexpr std::string_view kFormat = "dispatch/1";

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::usage, what);
}

Json optional(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

double positive(const Json& json) {
  const double value = json.get<double>();
  if (!std::isfinite(value) || value <= 0 || value >= 1e30) fail("a number is out of range");
  return value;
}

std::optional<double> optional_positive(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return positive(json);
}

Json device_json(const DeviceInfo& device) {
  Json attributes = Json::object();
  for (const AttributeField& field : attribute_fields()) {
    attributes[std::string(field.name)] = device.attributes.*field.member;
  }
  return {{"backend", device.backend},
          {"name", device.name},
          {"architecture", device.architecture},
          {"attributes", attributes}};
}

DeviceInfo read_device(const Json& json) {
  DeviceInfo device{.backend = json.at("backend"),
                    .name = json.at("name"),
                    .uuid = {},
                    .architecture = json.at("architecture"),
                    .attributes = {}};
  for (const AttributeField& field : attribute_fields()) {
    const auto value = json.at("attributes").at(std::string(field.name)).get<std::int64_t>();
    if (value < 0 || value > (std::int64_t{1} << 50)) fail("a device attribute is out of range");
    device.attributes.*field.member = value;
  }
  return device;
}

Json environment_json(const EnvironmentInfo& it) {
  return {
      {"driver", it.driver}, {"compiler", it.compiler}, {"library", it.library}, {"tool", it.tool}};
}

EnvironmentInfo read_environment(const Json& json) {
  return {.driver = json.at("driver"),
          .compiler = json.at("compiler"),
          .library = json.at("library"),
          .tool = json.at("tool")};
}

Json entry_json(const Entry& entry) {
  const BestRecord& best = entry.best;
  return {{"size", entry.size.text},
          {"config", entry.config},
          {"median_ns", best.time.median_ns},
          {"flops", best.flops},
          {"ratio_to_library", optional(best.ratio_to_library)},
          {"library", best.library_name},
          {"recorded_at", best.recorded_at},
          {"verified", best.verified},
          {"shared", best.shared},
          {"origin", best.origin},
          {"environment", environment_json(entry.environment)}};
}

KnownSize read_size(const Json& json, const CatalogueKernel& kernel) {
  auto size = known_size(json.get<std::string>(), kernel);
  if (!size) fail(fmt::format("{} is no size of {}", json.dump(), kernel.record->kernel));
  return *std::move(size);
}

Entry read_entry(const Json& json, const CatalogueKernel& kernel) {
  Entry entry;
  entry.size = read_size(json.at("size"), kernel);
  entry.config = json.at("config").get<std::size_t>();
  if (entry.config >= kernel.configs.size()) fail("an entry has no configuration");
  entry.environment = read_environment(json.at("environment"));
  BestRecord& best = entry.best;
  best.problem = entry.size.text;
  best.config_json = kernel.configs[entry.config].json;
  best.time.median_ns = positive(json.at("median_ns"));
  best.flops = json.at("flops").get<double>();
  best.ratio_to_library = optional_positive(json.at("ratio_to_library"));
  best.library_name = json.at("library");
  best.recorded_at = json.at("recorded_at");
  best.verified = json.at("verified");
  best.shared = json.at("shared");
  best.origin = json.at("origin");
  return entry;
}

Json config_json(const KnownConfig& config) {
  Json timings = Json::array();
  for (const Timing& it : config.timings) {
    timings.push_back(Json::array({it.size, it.median_ns, it.registers}));
  }
  return {{"values", config.json}, {"verified", config.verified}, {"timings", timings}};
}

KnownConfig read_config(const Json& json, const CatalogueKernel& kernel) {
  KnownConfig config = known_config(json.at("values").get<std::string>(), kernel);
  config.verified = json.at("verified");
  for (const Json& it : json.at("timings")) {
    const Timing timing{.size = it.at(0).get<std::size_t>(),
                        .median_ns = positive(it.at(1)),
                        .registers = it.at(2).get<int>()};
    if (timing.size >= kernel.sizes.size()) fail("a time has no size");
    if (timing.registers < 0 || timing.registers > 65536) fail("registers are out of range");
    config.timings.push_back(timing);
  }
  return config;
}

Json kernel_json(const CatalogueKernel& kernel) {
  const KernelRecord& record = *kernel.record;
  Json json = {{"family", record.family},
               {"kernel", record.kernel},
               {"hash", record.hash},
               {"space", record.space_text},
               {"source_name", record.source_name},
               {"source", record.source_text},
               {"headers", record.headers_json}};
  for (const char* list : {"sizes", "configs", "entries"}) json[list] = Json::array();
  for (const KnownSize& size : kernel.sizes) json["sizes"].push_back(size.text);
  for (const KnownConfig& config : kernel.configs) json["configs"].push_back(config_json(config));
  for (const Entry& entry : kernel.entries) json["entries"].push_back(entry_json(entry));
  return json;
}

CatalogueKernel read_kernel(const Json& json, const DeviceAttributes& device) {
  CatalogueKernel kernel;
  auto record = std::make_shared<KernelRecord>(KernelRecord{.family = json.at("family"),
                                                            .kernel = json.at("kernel"),
                                                            .hash = json.at("hash"),
                                                            .space_text = json.at("space"),
                                                            .source_name = json.at("source_name"),
                                                            .source_text = json.at("source"),
                                                            .headers_json = json.at("headers")});
  if (has_space(*record)) {
    kernel.stored = std::make_shared<const StoredKernel>(stored_kernel(*record));
  }
  kernel.record = std::move(record);
  for (const Json& it : json.at("sizes")) kernel.sizes.push_back(read_size(it, kernel));
  for (const Json& it : json.at("configs")) kernel.configs.push_back(read_config(it, kernel));
  for (const Json& it : json.at("entries")) kernel.entries.push_back(read_entry(it, kernel));
  fit_model(kernel, device);
  return kernel;
}

Catalogue read_catalogue(const Json& json) {
  if (json.at("format") != kFormat) fail(fmt::format("its format is not {}", kFormat));
  Catalogue catalogue;
  catalogue.device = read_device(json.at("device"));
  for (const Json& it : json.at("kernels")) {
    catalogue.kernels.push_back(read_kernel(it, catalogue.device.attributes));
  }
  if (catalogue.kernels.empty()) fail("it has no kernels");
  catalogue.explanation = {fmt::format("device: {}, that of the table", catalogue.device.name)};
  return in_environment(std::move(catalogue), read_environment(json.at("environment")));
}

}  // namespace

std::string catalogue_json(const Catalogue& catalogue) {
  Json json = {{"format", kFormat},
               {"device", device_json(catalogue.device)},
               {"environment", environment_json(catalogue.environment)},
               {"kernels", Json::array()}};
  for (const CatalogueKernel& kernel : catalogue.kernels) {
    json["kernels"].push_back(kernel_json(kernel));
  }
  return json.dump() + "\n";
}

Catalogue parse_catalogue(std::string_view text, std::string_view origin) {
  const auto refuse = [&](const char* why) -> Error {
    return {ErrorCode::usage,
            fmt::format("{}: is no table of tuned configurations: {}; write one with `tune export "
                        "--format json`",
                        origin, why)};
  };
  const Json json = parse_json(text, origin);
  try {
    return read_catalogue(json);
  } catch (const Json::exception& exception) {
    throw refuse(exception.what());
  } catch (const Error& error) {
    throw refuse(error.what());
  }
}

}  // namespace tuner
