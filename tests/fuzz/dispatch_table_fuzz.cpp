// SPDX-License-Identifier: Apache-2.0
// Any text as a table of tuned configurations, as it is and under the checksum that it would have:
// one that can be written again and asked, or one Error(usage).
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/rank.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace tuner;

void require_usage(const Error& error) {
  fuzz::require(error.code() == ErrorCode::usage || error.code() == ErrorCode::nothing_found,
                "a bad file is the user's to fix");
}

/// The same with the checksum of what follows its first line, without compiled code, where its head
/// is that of a table that was written.
std::string with_checksum(std::string_view text) {
  constexpr std::string_view kBegin = R"({"format":"dispatch/1","checksum":)";
  const std::size_t end = text.find('\n');
  const std::size_t next = text.find(',', kBegin.size());
  if (!text.starts_with(kBegin) || end == std::string_view::npos || next > end) return {};
  const std::string_view rest = text.substr(end + 1);
  const std::size_t code = rest.find(fmt::format("\n]{}", select::kCodeBegin));
  const std::string_view kernels = code == std::string_view::npos ? rest : rest.substr(0, code + 2);
  return fmt::format("{}{}{}", kBegin, Json(content_hash({kernels})).dump(), text.substr(next));
}

void read_trusted(std::string text) {
  try {
    select::CatalogueOutline table = select::outline_catalogue(std::move(text), "fuzz");
    for (std::size_t i = 0; i < table.unread.size(); ++i) {
      if (table.unread[i].empty()) continue;
      select::read_results(table.known.kernels[i], table.unread[i], table.known.device.attributes);
    }
    if (table.code != nullptr) {
      static_cast<void>(table.code->objection("sm_90", "any"));
      for (const select::CodeKey& key : table.code->keys()) {
        static_cast<void>(table.code->find(key));
      }
    }
    static_cast<void>(select::rank(
        table.known, {.family = table.known.kernels.front().record->family, .size = "64,64"}));
  } catch (const Error& error) {
    require_usage(error);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (std::string text = with_checksum(fuzz::text_of(data, size)); !text.empty()) {
    read_trusted(std::move(text));
  }
  try {
    const select::Catalogue table = select::parse_catalogue(fuzz::text_of(data, size), "fuzz");
    select::CatalogueOutline again =
        select::outline_catalogue(select::catalogue_json(table), "again");
    fuzz::require(again.known.kernels.size() == table.kernels.size(), "no kernel is lost");
    for (std::size_t i = 0; i < again.unread.size(); ++i) {
      fuzz::require(!again.unread[i].empty(), "it is as it was written");
      select::read_results(again.known.kernels[i], again.unread[i], table.device.attributes);
    }
    static_cast<void>(
        select::rank(table, {.family = table.kernels.front().record->family, .size = "64,64"}));
  } catch (const Error& error) {
    require_usage(error);
  }
  return 0;
}
