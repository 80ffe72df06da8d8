// SPDX-License-Identifier: Apache-2.0
// Any text as a table of tuned configurations: one that can be written again and asked, or one
// Error(usage).
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/rank.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
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
    fuzz::require(error.code() == ErrorCode::usage || error.code() == ErrorCode::nothing_found,
                  "a bad file is the user's to mend");
  }
  return 0;
}
