// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/double_precision.hpp"

#include "tuner/core/hash.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <variant>

namespace tuner::verify {
namespace {

/// Each f of these is the function of doubles without the f.
constexpr std::array<std::string_view, 40> kFunctions = {
    "acosf", "acoshf",    "asinf",  "asinhf",  "atan2f", "atanf", "atanhf",     "cbrtf",
    "ceilf", "copysignf", "cosf",   "coshf",   "erfcf",  "erff",  "exp10f",     "exp2f",
    "expf",  "expm1f",    "fabsf",  "fdimf",   "floorf", "fmaf",  "fmaxf",      "fminf",
    "fmodf", "hypotf",    "log10f", "log1pf",  "log2f",  "logf",  "nearbyintf", "powf",
    "rintf", "roundf",    "rsqrtf", "sincosf", "sinf",   "sinhf", "sqrtf",      "tanhf"};

/// What depends on the size or the bits of a float, or can.
constexpr std::array<std::string_view, 9> kForbidden = {
    "include", "reinterpret_cast",   "union", "asm", "sizeof", "memcpy", "half",
    "half2",   "cudaTextureObject_t"};
constexpr std::array<std::string_view, 10> kForbiddenBeginnings = {
    "float1", "float2",      "float3",   "float4",    "__float",
    "__half", "__nv_bfloat", "__int_as", "__uint_as", "tex"};
/// Parts of a source without blank space that depend on them. A parameter's type has a name behind
/// it.
constexpr std::array<std::string_view, 6> kForbiddenParts = {
    "extern__shared__", "int*)", "unsigned*)", "char*)", "short*)", "long*)"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Calls `visit(word)` for each identifier, keyword and number of a source.
template <class Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at) visit(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

bool depends_on_float(std::string_view text) {
  bool found = false;
  for_each_word(text, [&](std::string_view word) {
    found = found || std::ranges::count(kForbidden, word) > 0 ||
            std::ranges::any_of(kForbiddenBeginnings, [&](std::string_view beginning) {
              return word.starts_with(beginning);
            });
  });
  if (found) return true;
  std::string dense(text);
  std::erase_if(dense, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  return std::ranges::any_of(kForbiddenParts, [&](std::string_view part) {
    return dense.find(part) != std::string::npos;
  });
}

std::string with_double(std::string_view entry) {
  std::string changed(entry);
  for (std::size_t at = changed.find("float"); at != std::string::npos;
       at = changed.find("float", at + 1)) {
    const bool is_whole_word = (at == 0 || !is_word(changed[at - 1])) &&
                               (at + 5 == changed.size() || !is_word(changed[at + 5]));
    if (is_whole_word) changed.replace(at, 5, "double");
  }
  return changed;
}

}  // namespace

bool has_double_form(const family::Family& family) {
  using family::ElementType;
  return std::ranges::all_of(family.arguments, [](const family::Argument& argument) {
    if (const auto* buffer = std::get_if<family::BufferArgument>(&argument.what)) {
      return std::ranges::all_of(buffer->type.all(), [](ElementType type) {
        return type == ElementType::f32 || !family::is_floating(type);
      });
    }
    if (const auto* array = std::get_if<family::ArrayArgument>(&argument.what)) {
      return std::ranges::none_of(array->type.all(), family::is_floating);
    }
    return true;
  });
}

std::optional<family::CompileJob> in_double(const family::Family& family,
                                            const family::Kernel& kernel, family::CompileJob job) {
  if (!has_double_form(family) || !kernel.tensor_maps.empty() || !job.source.headers.empty() ||
      depends_on_float(job.source.text)) {
    return std::nullopt;
  }
  std::string text = "#define float double\n";
  for (const std::string_view function : kFunctions) {
    text += "#define " + std::string(function) + " " +
            std::string(function.substr(0, function.size() - 1)) + "\n";
  }
  job.source.text = text + job.source.text;
  for (std::string& entry : job.entries) entry = with_double(entry);
  job.key = content_hash({"in double", job.key});
  return job;
}

}  // namespace tuner::verify
