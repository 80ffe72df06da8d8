// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/json_reason.hpp"
#include "tuner/dispatch/family_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::dispatch {
namespace {

family::KernelSource source_of(const store::KernelRecord& record) {
  family::KernelSource source{
      .name = record.source_name, .text = record.source_text, .headers = {}};
  const std::string origin = fmt::format("the stored headers of {}", record.kernel);
  for (const Json& header : parse_json(record.headers_json, origin)) {
    source.headers.push_back({.name = header.at("name").get<std::string>(),
                              .text = header.at("text").get<std::string>()});
  }
  return source;
}

/// A space file names all kernels of its family. Those that are not known here, or come from
/// another version of the file, get a source that is never compiled.
std::map<std::string, family::KernelSource> sources_of(
    std::span<const select::CatalogueKernel* const> kernels, const store::KernelRecord& record,
    const std::string& origin) {
  std::map<std::string, family::KernelSource> sources;
  const Json document = parse_json(record.space_text, origin);
  for (const auto& [name, value] : document.at("kernels").items()) {
    sources[name] = {.name = record.source_name, .text = {}, .headers = {}};
  }
  for (const select::CatalogueKernel* kernel : kernels) {
    if (kernel->record->space_text != record.space_text) continue;
    sources[kernel->record->kernel] = source_of(*kernel->record);
  }
  return sources;
}

}  // namespace

family::Family stored_family(std::span<const select::CatalogueKernel* const> kernels,
                             const store::KernelRecord& record) {
  const std::string origin = fmt::format("the stored space file of {}", record.family);
  try {
    return family::parse_family(record.space_text, origin, sources_of(kernels, record, origin));
  } catch (const Json::exception& exception) {
    throw Error(ErrorCode::usage, fmt::format("{}: is damaged: {}: tune the kernel again", origin,
                                              json_reason(exception.what())));
  }
}

}  // namespace tuner::dispatch
