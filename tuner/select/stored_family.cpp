// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/stored_family.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/json_reason.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/select/ranked_kernel.hpp"
#include "tuner/source/source.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <string>

namespace tuner::select {
namespace {

/// Printed code includes it by its name.
void require_file_name(const store::KernelRecord& record) {
  const std::string& name = record.source_name;
  if (printable(name) == name && name.find_first_of("\"\\/\n\t") == std::string::npos) return;
  throw Error(ErrorCode::usage,
              fmt::format("kernel {}: {} is not the name of a source file: it must not contain "
                          "quotes, slashes or control characters",
                          in_quotes(record.kernel), in_quotes(name)));
}

source::KernelSource source_of(const store::KernelRecord& record) {
  require_file_name(record);
  source::KernelSource source{
      .name = record.source_name, .text = record.source_text, .headers = {}};
  const std::string origin = fmt::format("the stored headers of {}", record.kernel);
  for (const Json& header : parse_json(record.headers_json, origin)) {
    source.headers.push_back({.name = header.at("name").get<std::string>(),
                              .text = header.at("text").get<std::string>()});
  }
  return source;
}

std::map<std::string, source::KernelSource> sources_of(
    std::span<const store::KernelRecord* const> kernels, const store::KernelRecord& record,
    const std::string& origin) {
  std::map<std::string, source::KernelSource> sources;
  const Json document = parse_json(record.space_text, origin);
  for (const auto& [name, value] : document.at("kernels").items()) {
    sources[name] = {.name = record.source_name, .text = {}, .headers = {}};
  }
  for (const store::KernelRecord* kernel : kernels) {
    if (kernel->space_text == record.space_text) sources[kernel->kernel] = source_of(*kernel);
  }
  return sources;
}

}  // namespace

family::Family stored_family(std::span<const store::KernelRecord* const> kernels,
                             const store::KernelRecord& record) {
  const std::string origin = fmt::format("the stored space file of {}", record.family);
  try {
    return family::parse_family(record.space_text, origin, sources_of(kernels, record, origin));
  } catch (const Json::exception& exception) {
    throw Error(ErrorCode::usage, fmt::format("{}: is damaged: {}: tune the kernel again", origin,
                                              json_reason(exception.what())));
  }
}

family::Family stored_family(const store::KernelRecord& record) {
  return stored_family(std::array{&record}, record);
}

void require_own_code(const store::KernelRecord& record, const family::Family& family) {
  const std::string title =
      fmt::format("kernel {} of family {}", in_quotes(record.kernel), in_quotes(record.family));
  if (family.name != record.family) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: its stored space file is of the family {}", title, family.name));
  }
  const std::string& hash = family.kernel(record.kernel).hash;
  if (hash == record.hash) return;
  throw Error(ErrorCode::usage,
              fmt::format("{}: the stored code is not what was tuned: its hash is {}, the results "
                          "are of {}: it was changed since, or tuned by an older version: tune it "
                          "again",
                          title, hash, in_quotes(record.hash)));
}

void require_own_code(const store::KernelRecord& record) {
  if (has_space(record)) require_own_code(record, stored_family(record));
}

}  // namespace tuner::select
