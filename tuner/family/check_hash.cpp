// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/family/data_files.hpp"
#include "tuner/family/family.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string_view>
#include <variant>
#include <vector>

namespace tuner::family {
namespace {

namespace fs = std::filesystem;

/// The version of the checks themselves (tuner/verify): where a change of them can change a
/// verdict, another number has everything judged anew.
constexpr std::string_view kVerification = "verification 3";

/// Its objects keep their keys sorted: how a file orders them says nothing.
using SortedJson = nlohmann::json;

/// What is written for people alone. A member of that name that is no text is an argument's.
void drop_texts(SortedJson& json) {
  if (json.is_object()) {
    for (const char* key : {"doc", "why"}) {
      if (const auto found = json.find(key); found != json.end() && found->is_string()) {
        json.erase(found);
      }
    }
  }
  for (SortedJson& each : json) {
    if (each.is_structured()) drop_texts(each);
  }
}

/// The member of an object, without texts for people, on one line; "null" where there is none.
std::string part(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return "null";
  SortedJson json = SortedJson::parse(found->dump());
  drop_texts(json);
  return json.dump();
}

/// The files that are named under a key "npy", alone or for each of several arguments.
void find_files(const Json& json, std::vector<std::string>& names) {
  for (const auto& [key, value] : json.items()) {
    const bool named = json.is_object() && key == "npy";
    if (named && value.is_string()) names.push_back(value.get<std::string>());
    if (named && value.is_object()) {
      for (const Json& file : value) {
        if (file.is_string()) names.push_back(file.get<std::string>());
      }
    }
    if (value.is_structured()) find_files(value, names);
  }
}

/// The content of each of them, hashed; one that is not there says so when it is needed.
void add_files(const Json& json, const fs::path& space_file, std::vector<std::string>& parts) {
  std::vector<std::string> names;
  find_files(json, names);
  for (const std::string& name : names) {
    const fs::path path = npy_file(space_file, name);
    const bool there = fs::is_regular_file(path);
    parts.push_back(there ? content_hash_of_file(path) : "none");
  }
}

}  // namespace

std::string check_hash(const Family& family, const Kernel& kernel) {
  const Json document = parse_json(family.text, family.path);
  std::vector<std::string> parts = {std::string(kVerification)};
  for (const std::string_view key : {"check", "arguments"}) {
    parts.push_back(part(document, key));
    if (const auto found = document.find(key); found != document.end()) {
      add_files(*found, family.path, parts);
    }
  }
  for (const space::Dimension& dimension : family.problem.dims) {
    for (const auto& [of, types] : dimension.types) {
      for (std::size_t i = 0; i < types.size(); ++i) {
        parts.push_back(fmt::format("{} {} {}", dimension.value_names[i], of, name(types[i])));
      }
    }
  }
  parts.push_back(part(document.at("kernels").at(kernel.name), "check_sizes"));
  if (const auto* reference = std::get_if<KernelReference>(&family.check.reference)) {
    const Kernel& correct = family.kernel(reference->kernel);
    space::Config by_default;
    for (const space::Parameter& parameter : correct.space->parameters) {
      by_default.choice.push_back(static_cast<std::uint32_t>(parameter.default_index));
      if (parameter.default_at) parts.push_back(parameter.default_at->text());
    }
    parts.insert(parts.end(), {correct.hash, space::canonical_json(*correct.space, by_default)});
  }
  if (std::holds_alternative<ResultsReference>(family.check.reference)) {
    parts.push_back(results_identity(results_folder(family)));
  }
  return content_hash(std::vector<std::string_view>(parts.begin(), parts.end()));
}

}  // namespace tuner::family
