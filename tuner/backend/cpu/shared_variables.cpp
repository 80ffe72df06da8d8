// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/shared_variables.hpp"

#include "tuner/core/elf_symbols.hpp"

#include <cstring>
#include <optional>
#include <string_view>

namespace tuner::backend {
namespace {

constexpr std::string_view kContext = "_ZN5tunerL7contextE";  // tuner::context

/// Whether the compiler made the variable, to know what it has initialised.
bool is_guard(std::string_view name) {
  return name.starts_with("_ZGV") || name.starts_with("__tls_guard");
}

}  // namespace

std::vector<SharedVariable> shared_variables(std::span<const std::byte> image) {
  std::optional<std::ptrdiff_t> context;
  std::vector<SharedVariable> variables;
  for (const ElfSymbol& symbol : elf_symbols(image)) {
    if (symbol.kind != ElfSymbol::Kind::thread_local_variable) continue;
    const auto offset = static_cast<std::ptrdiff_t>(symbol.value);
    if (symbol.name == kContext) {
      context = offset;
    } else if (!is_guard(symbol.name)) {
      variables.push_back({.offset_bytes = offset, .size_bytes = symbol.size_bytes});
    }
  }
  if (!context) return {};
  for (SharedVariable& variable : variables) variable.offset_bytes -= *context;
  return variables;
}

void fill(const StaticShared& shared, std::uint32_t content, const void* dynamic_shared) {
  if (shared.variables.empty()) return;
  auto* const context = reinterpret_cast<std::byte*>(shared.context_place());
  for (const auto& [offset_bytes, size_bytes] : shared.variables) {
    std::byte* const variable = context + offset_bytes;
    if (size_bytes == sizeof dynamic_shared &&
        std::memcmp(variable, &dynamic_shared, sizeof dynamic_shared) == 0) {
      continue;
    }
    const std::size_t whole = size_bytes / sizeof content * sizeof content;
    for (std::size_t at = 0; at < whole; at += sizeof content) {
      std::memcpy(variable + at, &content, sizeof content);
    }
    std::memcpy(variable + whole, &content, size_bytes - whole);
  }
}

}  // namespace tuner::backend
