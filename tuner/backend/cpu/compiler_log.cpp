// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/compiler_log.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tuner::backend {
namespace {

constexpr std::string_view kError = "error: ";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

bool names_export(std::string_view line) {
  return contains(line, " macro ") && contains(line, "TUNER_EXPORT_KERNEL");
}

/// What says where the lines behind it belong, in code of ours.
bool is_place_of_export(std::string_view line) {
  return line.starts_with("In file included from <command-line>") ||
         line.starts_with("kernel entry: In function") ||
         line.starts_with("kernel entry: At global scope");
}

/// What of our code a mistake in the entry reminds the compiler of.
bool is_note_of_export(std::string_view line) {
  return line.starts_with("kernel entry:") && contains(line, " note: ");
}

bool is_error_of_entry(std::string_view line) {
  return line.starts_with("kernel entry:") && contains(line, kError);
}

}  // namespace

std::string without_export(std::string_view log) {
  const std::vector<std::string_view> lines = lines_of(log);
  std::vector<std::string_view> kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool in_ours = line.starts_with("cuda_on_cpu.hpp:") && i + 1 < lines.size() &&
                         contains(lines[i + 1], "in expansion") && names_export(lines[i + 1]);
    if (in_ours || names_export(line) || is_place_of_export(line) || is_note_of_export(line)) {
      continue;
    }
    // The exported code contains the entry several times: its first error causes others there.
    if (is_error_of_entry(line) && std::ranges::any_of(kept, is_error_of_entry)) continue;
    kept.push_back(line);
  }
  const auto is_error = [](std::string_view line) { return contains(line, kError); };
  if (std::ranges::none_of(kept, is_error)) return std::string(log);
  std::string result;
  for (const std::string_view line : kept) result.append(line).append("\n");
  return result;
}

}  // namespace tuner::backend
