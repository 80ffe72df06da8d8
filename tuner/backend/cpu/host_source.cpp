// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_source.hpp"

#include <fmt/format.h>

#include <regex>

namespace tuner::backend {
namespace {

// An alignment specifier, whose argument may itself hold parentheses.
constexpr std::string_view kAlignment = R"((?:__align__|alignas)\s*\((?:[^()]|\([^()]*\))*\))";

std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

}  // namespace

std::string host_source(std::string_view cuda_source) {
  // One declarator on one line: extern __shared__ [alignment] TYPE NAME[];
  static const std::regex dynamic_array(fmt::format(
      R"(\bextern\s+(?:{0}\s+)?__shared__\s+(?:{0}\s+)?([^;\n/=(){{}}\[\]]+?)\s*\b(\w+)\s*\[\s*\]\s*;)",
      kAlignment));
  static const std::regex alignment_behind(fmt::format(R"(\b__shared__\s+({}))", kAlignment));
  const std::string text(cuda_source);
  // Valid inside a function as well as at namespace scope.
  const std::string with_pointers = std::regex_replace(
      text, dynamic_array,
      "thread_local $1* const $2 = static_cast<$1*>(::tuner::context->dynamic_shared);");
  // A variable of constant memory is found by its name, as in a GPU's image.
  static const std::regex static_constant(R"(\bstatic\s+__constant__\b|\b__constant__\s+static\b)");
  const std::string aligned = std::regex_replace(with_pointers, alignment_behind, "$1 __shared__");
  return std::regex_replace(aligned, static_constant, "__constant__");
}

std::vector<std::string> exported_names(const family::CompileJob& job) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < job.entries.size(); ++i) {
    names.push_back(fmt::format("tuner_kernel_{}", i));
  }
  return names;
}

std::string host_unit(const family::CompileJob& job) {
  std::string unit = fmt::format("#line 1 {}\n{}\n", string_literal(job.source.name),
                                 host_source(job.source.text));
  const std::vector<std::string> names = exported_names(job);
  for (std::size_t i = 0; i < names.size(); ++i) {
    unit += fmt::format("#line 1 \"kernel entry\"\nTUNER_EXPORT_KERNEL({}, {})\n", names[i],
                        job.entries[i]);
  }
  return unit;
}

}  // namespace tuner::backend
