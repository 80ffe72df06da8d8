// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of the cache; and whatever is kept comes back, unless a bit of it changed.
#include "input.hpp"
#include "tuner/backend/cache_entry.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace {

/// What lies between zero bytes, which no symbol has.
std::vector<std::string> symbols_in(std::string_view bytes) {
  std::vector<std::string> symbols;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\0'), bytes.size());
    symbols.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return symbols;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  const std::string_view bytes = fuzz::text_of(data, size);
  static_cast<void>(backend::decode_cache_entry("key", bytes));

  const std::size_t symbol_bytes = size == 0 ? 0 : data[0] % size;
  const auto image = std::as_bytes(std::span(bytes.substr(symbol_bytes)));
  const backend::Binary binary{.image = {image.begin(), image.end()},
                               .symbols = symbols_in(bytes.substr(0, symbol_bytes))};
  std::string entry = backend::encode_cache_entry("key", binary);
  const auto decoded = backend::decode_cache_entry("key", entry);
  fuzz::require(decoded && decoded->image == binary.image && decoded->symbols == binary.symbols,
                "what is kept comes back");
  const std::size_t changed = size < 2 ? 0 : (data[0] * 256U + data[1]) % entry.size();
  entry[changed] = static_cast<char>(entry[changed] ^ 1);
  fuzz::require(!backend::decode_cache_entry("key", entry), "a changed bit is noticed");
  return 0;
}
