// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/recording_file.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/interop/entry_document.hpp"
#include "tuner/interop/python_value.hpp"
#include "tuner/interop/recording_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <system_error>

namespace tuner::interop {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20;

/// A limit for reading a file that may grow meanwhile: memory is taken up to it.
std::size_t reading_limit(const std::filesystem::path& path) {
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  if (none) return kLargestFile;
  return std::min<std::uintmax_t>(kLargestFile, 2 * size + (std::size_t{1} << 20));
}

/// Kernel Tuner appends to its cache while it tunes, and closes it at the end: the file of a run
/// that was stopped, or goes on, ends in the comma of its last entry or with the opening brace.
std::string closed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return std::string(text);
  if (text[end] == ',') return std::string(text.substr(0, end)) + "}\n}";
  if (text[end] == '{') return std::string(text) + "}\n}";
  return std::string(text);
}

}  // namespace

Recording parse_recording(std::string_view text, std::string_view origin) {
  constexpr std::array<std::string_view, 3> kLists = {"cache", "results", "Results"};
  const auto refuse = [&](std::string_view why) {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", origin, why));
  };
  if (text.starts_with("\x1f\x8b")) refuse("is compressed; unpack it first: gunzip FILE");
  const EntryDocument document = parse_entry_document(closed(text), kLists, origin);
  if (document.list == "cache") return read_cache(document, origin);
  if (document.list == "results") return read_t4(document, origin);
  if (document.list == "Results") return read_ktt(document, origin);
  refuse(
      "holds no measured configurations: a Kernel Tuner cache file has 'cache', a T4 file "
      "'results', KTT's output 'Results'");
  return {};
}

Recording read_recording(const std::filesystem::path& path) {
  return parse_recording(read_file(path, reading_limit(path)), path.string());
}

std::string cache_key(const space::SpaceDefinition& definition, const space::Config& config) {
  std::string key;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    if (i > 0) key += ',';
    key += python_text(definition.parameters[i], config.choice[i]);
  }
  return key;
}

}  // namespace tuner::interop
