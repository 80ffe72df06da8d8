// SPDX-License-Identifier: Apache-2.0
#include "tuner/capture/captured_family.hpp"

#include "tuner/capture/capture_folder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <variant>

namespace tuner::capture {
namespace {

/// An argument with what the launch gave for it. Its result, where it has one, goes into `results`.
void capture_argument(Json& entry, const family::Argument& argument, const FamilyLaunch& launch,
                      CaptureFolder& folder, Json& results) {
  const std::string& name = argument.name;
  if (const auto real = launch.reals.find(name); real != launch.reals.end()) {
    entry["value"] = real->second;
  }
  if (const auto number = launch.integers.find(name); number != launch.integers.end()) {
    entry["value"] = number->second;
  }
  const auto found = launch.arrays.find(name);
  if (found == launch.arrays.end()) return;
  const CapturedArray& array = found->second;
  entry.erase("fill");
  entry.erase("laws");
  const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
  const bool is_written = buffer != nullptr && buffer->is_written();
  if (!is_written || buffer->initial == family::InitialContent::input) {
    entry["fill"] = {{"npy", folder.add_array(name, array.type, array.before)}};
  }
  if (!is_written) return;
  results[name] = folder.add_array(name + "_after", array.type, array.after);
}

/// What is checked, whatever the inputs are.
Json captured_check(const Json& check, const Json& results, const Json& size) {
  Json captured = {{"reference", {{"npy", results}, {"size", size}}}};
  for (const char* key : {"compute", "deterministic", "exact", "tolerance"}) {
    if (check.contains(key)) captured[key] = check[key];
  }
  return captured;
}

}  // namespace

std::filesystem::path write_capture(const std::filesystem::path& path, const family::Family& family,
                                    const std::vector<const family::Kernel*>& kernels,
                                    const FamilyLaunch& launch) {
  CaptureFolder folder(path);
  Json space = parse_json(family.text, family.path);
  space.erase("include");
  space.erase("$schema");
  const Json size = space::size_json(launch.size, family.problem.dims);
  space["problem"]["sizes"] = {{"default", Json::array({size})}};
  const bool has_margin = family.check.exact || family.check.tolerance;
  Json results = Json::object();
  for (std::size_t i = 0; i < family.arguments.size(); ++i) {
    const family::Argument& argument = family.arguments[i];
    Json& entry = space["arguments"][i];
    capture_argument(entry, argument, launch, folder, results);
    if (has_margin || !results.contains(argument.name) || entry.contains("tolerance")) continue;
    const CapturedArray& array = launch.arrays.at(argument.name);
    Json tolerance = tolerance_of(array.type, array.after);
    if (!tolerance.is_null()) entry["tolerance"] = std::move(tolerance);
  }
  space["check"] = captured_check(space["check"], results, size);
  Json stored = Json::object();
  for (const family::Kernel* kernel : kernels) {
    Json& entry = stored[kernel->name] = space["kernels"][kernel->name];
    entry["source"] = folder.add_source(kernel->name, kernel->source);
    entry.erase("check_sizes");
  }
  space["kernels"] = std::move(stored);
  return folder.finish(space);
}

}  // namespace tuner::capture
