// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/table_code.hpp"

#include "tuner/core/compressed.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ranges>
#include <utility>

namespace tuner::select {
namespace {

constexpr std::string_view kCodeFormat = "code/1";
/// An image beyond it is none of ours; the number is read before anything vouches for it.
constexpr std::size_t kMostImageBytes = std::size_t{256} << 20;

std::string checksum_of(const CodeOrigin& origin, const CodeKey& key,
                        const std::vector<std::string>& symbols, std::size_t size_bytes,
                        std::string_view packed) {
  const std::string size = std::to_string(size_bytes);
  std::vector<std::string_view> parts = {
      origin.architecture, origin.recipe, origin.compiler, key.kernel_hash,
      key.job_key,         size,          packed};
  parts.insert(parts.end(), symbols.begin(), symbols.end());
  return content_hash(parts);
}

/// The kernel hash, the compile key, and what CodeLine has, in this order.
std::string line_text(const CodeOrigin& origin, const CodeKey& key, const CompiledKernel& kernel) {
  const std::string packed = compressed(kernel.image, Compression::best);
  const Json head =
      Json::array({key.kernel_hash, key.job_key,
                   checksum_of(origin, key, kernel.symbols, kernel.image.size(), packed),
                   kernel.symbols, kernel.image.size()});
  const std::string text = head.dump();
  return fmt::format("{},\"{}\"]", std::string_view(text).substr(0, text.size() - 1), packed);
}

/// What a line has behind the key.
struct CodeLine {
  std::string checksum;
  std::vector<std::string> symbols;
  std::size_t size_bytes = 0;
  std::string_view packed;
};

/// The line without its long last element, closed, and that element.
std::optional<std::pair<std::string, std::string_view>> split(std::string_view line) {
  constexpr std::string_view kEnd = "\"]";
  if (line.ends_with(',')) line.remove_suffix(1);
  const std::size_t last = line.rfind(",\"");
  if (last == std::string_view::npos || !line.ends_with(kEnd) || last + 2 > line.size() - 2) {
    return std::nullopt;
  }
  return std::pair(std::string(line.substr(0, last)) + "]",
                   line.substr(last + 2, line.size() - last - 2 - kEnd.size()));
}

std::optional<CodeLine> read_line(std::string_view line) {
  const auto parts = split(line);
  if (!parts) return std::nullopt;
  try {
    const Json head = parse_json(parts->first, "compiled code");
    CodeLine result{.checksum = head.at(2),
                    .symbols = head.at(3),
                    .size_bytes = head.at(4),
                    .packed = parts->second};
    if (result.size_bytes > kMostImageBytes) return std::nullopt;
    return result;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Of the first two elements of a line, which are read without the rest.
std::optional<CodeKey> key_of(std::string_view line) {
  constexpr std::string_view kOpen = "[\"", kBetween = "\",\"";
  const std::size_t between = line.find(kBetween);
  if (!line.starts_with(kOpen) || between == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(between + kBetween.size());
  const std::size_t end = rest.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  return CodeKey{.kernel_hash = std::string(line.substr(kOpen.size(), between - kOpen.size())),
                 .job_key = std::string(rest.substr(0, end))};
}

}  // namespace

std::string code_text(const CodeOrigin& origin, const std::map<CodeKey, CompiledKernel>& kernels) {
  const auto literal = [](std::string_view text) { return Json(text).dump(); };
  std::string text = fmt::format(
      R"({{"format":{},"architecture":{},"recipe":{},"compiler":{},"count":{},"kernels":[)"
      "\n",
      literal(kCodeFormat), literal(origin.architecture), literal(origin.recipe),
      literal(origin.compiler), kernels.size());
  std::size_t left = kernels.size();
  for (const auto& [key, kernel] : kernels) {
    text += line_text(origin, key, kernel);
    text += --left == 0 ? "\n" : ",\n";
  }
  return text + "]}";
}

TableCode::Index TableCode::read(std::string_view section) {
  Index index;
  const std::size_t end = section.find('\n');
  try {
    const Json head =
        parse_json(std::string(section.substr(0, end)) + "]}", "the head of compiled code");
    if (head.at("format") != kCodeFormat) {
      index.problem =
          fmt::format("the table's compiled code has the format {}, this version reads {}",
                      head.at("format").dump(), kCodeFormat);
      return index;
    }
    index.origin = {.architecture = head.at("architecture"),
                    .recipe = head.at("recipe"),
                    .compiler = head.at("compiler")};
    std::string_view rest = end == std::string_view::npos ? "" : section.substr(end + 1);
    while (rest.starts_with('[')) {
      const std::size_t stop = std::min(rest.find('\n'), rest.size());
      if (auto key = key_of(rest)) index.lines.emplace(*std::move(key), rest.substr(0, stop));
      rest.remove_prefix(std::min(stop + 1, rest.size()));
    }
    const auto count = head.at("count").get<std::size_t>();
    if (index.lines.size() < count || !rest.starts_with("]}")) {
      index.problem =
          fmt::format("the table's compiled code is cut off: {} of {} kernels are there",
                      index.lines.size(), count);
    }
  } catch (const std::exception&) {
    index = {.problem = "the head of the table's compiled code is damaged"};
  }
  return index;
}

const TableCode::Index& TableCode::index() const {
  std::call_once(once_, [this] { index_ = read(section_); });
  return index_;
}

std::string TableCode::objection(std::string_view architecture, std::string_view recipe) const {
  const Index& known = index();
  if (!known.origin) return known.problem;
  if (known.origin->architecture != architecture) {
    return fmt::format("the table's compiled code is for {}, this device is {}",
                       known.origin->architecture, architecture);
  }
  if (known.origin->recipe != recipe)
    return "the table's compiled code is of another version of tuner";
  return "";
}

std::vector<CodeKey> TableCode::keys() const {
  const auto all = std::views::keys(index().lines);
  return {all.begin(), all.end()};
}

Expected<std::optional<CompiledKernel>, std::string> TableCode::find(const CodeKey& key) const {
  const Index& known = index();
  const auto found = known.lines.find(key);
  if (found == known.lines.end()) return std::optional<CompiledKernel>();
  const auto line = read_line(found->second);
  if (!line || checksum_of(*known.origin, key, line->symbols, line->size_bytes, line->packed) !=
                   line->checksum) {
    return Unexpected<std::string>("its code in the table is damaged (its checksum)");
  }
  auto image = decompressed(line->packed, line->size_bytes);
  if (!image) {
    return Unexpected<std::string>(
        "its code in the table cannot be decompressed: install zlib (libz.so.1)");
  }
  return std::optional(CompiledKernel{.image = *std::move(image), .symbols = line->symbols});
}

}  // namespace tuner::select
