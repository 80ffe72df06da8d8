// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/json_reason.hpp"
#include "tuner/dispatch/family_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner {
namespace {

KernelSource source_of(const KernelRecord& record) {
  KernelSource source{.name = record.source_name, .text = record.source_text, .headers = {}};
  const std::string origin = fmt::format("the stored headers of {}", record.kernel);
  for (const Json& header : parse_json(record.headers_json, origin)) {
    source.headers.push_back({.name = header.at("name").get<std::string>(),
                              .text = header.at("text").get<std::string>()});
  }
  return source;
}

/// A space file names all kernels of its family. Those that are not known here, or come from
/// another version of the file, get a source that is never compiled.
std::map<std::string, KernelSource> sources_of(std::span<const CatalogueKernel* const> kernels,
                                               const KernelRecord& record,
                                               const std::string& origin) {
  std::map<std::string, KernelSource> sources;
  const Json document = parse_json(record.space_text, origin);
  for (const auto& [name, value] : document.at("kernels").items()) {
    sources[name] = {.name = record.source_name, .text = {}, .headers = {}};
  }
  for (const CatalogueKernel* kernel : kernels) {
    if (kernel->record->space_text != record.space_text) continue;
    sources[kernel->record->kernel] = source_of(*kernel->record);
  }
  return sources;
}

}  // namespace

Family stored_family(std::span<const CatalogueKernel* const> kernels, const KernelRecord& record) {
  const std::string origin = fmt::format("the stored space file of {}", record.family);
  try {
    return parse_family(record.space_text, origin, sources_of(kernels, record, origin));
  } catch (const Json::exception& exception) {
    throw Error(ErrorCode::usage, fmt::format("{}: is damaged: {}: tune the kernel again", origin,
                                              json_reason(exception.what())));
  }
}

}  // namespace tuner
