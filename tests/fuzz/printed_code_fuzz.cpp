// SPDX-License-Identifier: Apache-2.0
// Any text as the space file of a stored kernel, under the hash that its code would have, printed
// as C++: either it is refused, or what is printed defines one function of the kernel's name and
// nothing more, from the words of the space file.
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/report/snippet.hpp"
#include "tuner/select/stored_family.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace tuner;

/// A text of C++ without comments and what is between quotes, as a compiler reads it.
std::string without_comments(std::string_view text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("//")) {
      std::size_t end = text.find('\n', at);
      while (end != std::string_view::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
      at = std::min(end, text.size());
    } else if (text[at] == '"') {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2U : 1U;
      fuzz::require(end < text.size(), "a text ends");
      fuzz::require(text.substr(at, end - at).find('\n') == std::string_view::npos,
                    "a text is in one line");
      code += "\"\"";
      at = end + 1;
    } else {
      fuzz::require(!text.substr(at).starts_with("/*"), "nobody printed such a comment");
      code += text[at++];
    }
  }
  return code;
}

/// What stands outside of all braces, each pair of them as "{}".
std::string outermost(std::string_view code) {
  std::string result;
  int depth = 0;
  for (const char c : code) {
    if (c == '{') ++depth;
    fuzz::require(c != '}' || depth > 0, "no brace is closed that was not opened");
    if (depth == 0) result += c;
    if (c == '}' && --depth == 0) result += "{}";
  }
  fuzz::require(depth == 0, "all braces are closed");
  return result;
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++found;
  return found;
}

/// "#define WIDTH 4", "#undef WIDTH".
bool is_definition_of_a_word(std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string directive, name, value, rest;
  words >> directive >> name >> value >> rest;
  const auto is_plain = [](const std::string& word) {
    return !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-';
    });
  };
  return is_plain(name) && rest.empty() &&
         ((directive == "#define" && is_plain(value)) || (directive == "#undef" && value.empty()));
}

void require_one_function(const std::string& printed, const std::string& kernel) {
  const std::string code = without_comments(printed);
  const std::string outside = outermost(code);
  fuzz::require(count(outside, "[[maybe_unused]] static cudaError_t launch_" + kernel + "(") == 1,
                "the function has the kernel's name");
  // A map of tensors and an array by value each bring a struct, the map a function, too.
  const std::size_t structs =
      count(outside, "struct AnyTensorMap {}") + count(outside, "struct AnyArray {}");
  const std::size_t functions = count(outside, "CUresult make_tensor_map(");
  fuzz::require(count(outside, "{}") == 1 + structs + functions, "nothing else is defined");
  fuzz::require(count(outside, ";") == structs, "nor declared");
  std::size_t begin = 0;
  for (std::size_t end; (end = printed.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view line = std::string_view(printed).substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t");
    const bool directs = first != std::string_view::npos && line[first] == '#';
    fuzz::require(!directs || line.starts_with("#include <") || line.starts_with("#include \"") ||
                      is_definition_of_a_word(line),
                  "the preprocessor is asked for headers and plain macros only");
  }
}

void print(store::KernelRecord record) {
  const family::Family family = select::stored_family(record);
  const family::Kernel& kernel = family.kernel(record.kernel);
  record.family = family.name;
  record.hash = kernel.hash;
  std::vector<std::optional<std::int64_t>> numbers(family.problem.dims.size());
  std::fill_n(numbers.begin(), family.problem.dims.required(), 64);
  const auto size = family.problem.dims.complete(numbers);
  if (!size) return;
  const auto device = space::device_profile("h200");
  const space::Space space(kernel.space, device->attributes, *size);
  if (space.size() == 0) return;
  const std::string config = space::canonical_json(*kernel.space, space.at(0));
  require_one_function(report::Snippet(record, *device, config, *size).cpp(), record.kernel);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  try {
    const Json document = parse_json(text, "fuzz");
    for (const auto& kernel : document.at("kernels").items()) {
      print({.family = "any",
             .kernel = kernel.key(),
             .hash = "",
             .space_text = text,
             .source_name = "kernel.cu",
             .source_text = "__global__ void run() {}\n",
             .headers_json = "[]"});
    }
  } catch (const Json::exception&) {  // of a document that is no space file at all
  } catch (const Error& error) {
    fuzz::require(error.what()[0] != '\0', "an Error says what");
  }
  return 0;
}
