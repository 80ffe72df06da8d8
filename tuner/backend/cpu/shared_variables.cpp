// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/shared_variables.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string>
#include <string_view>

namespace tuner::backend {
namespace {

constexpr std::string_view kContext = "_ZN5tunerL7contextE";  // tuner::context

using Image = std::span<const std::byte>;

/// A piece of the image; empty where it has none.
Image piece(Image image, std::uint64_t offset, std::uint64_t size_bytes) {
  if (offset > image.size() || size_bytes > image.size() - offset) return {};
  return image.subspan(offset, size_bytes);
}

/// The structures of a piece.
template <class T>
std::vector<T> structures(Image bytes) {
  std::vector<T> read(bytes.size() / sizeof(T));
  if (!read.empty()) std::memcpy(read.data(), bytes.data(), read.size() * sizeof(T));
  return read;
}

std::string_view name_at(Image names, std::size_t offset) {
  const Image rest = names.subspan(std::min(offset, names.size()));
  const auto end = std::ranges::find(rest, std::byte{0});
  return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

/// Whether the compiler made the variable, to know what it has initialised.
bool is_guard(std::string_view name) {
  return name.starts_with("_ZGV") || name.starts_with("__tls_guard");
}

}  // namespace

std::vector<SharedVariable> shared_variables(std::span<const std::byte> image) {
  const auto header = structures<Elf64_Ehdr>(piece(image, 0, sizeof(Elf64_Ehdr)));
  if (header.empty()) return {};
  const auto sections = structures<Elf64_Shdr>(
      piece(image, header[0].e_shoff, std::uint64_t{header[0].e_shnum} * sizeof(Elf64_Shdr)));
  const auto table = std::ranges::find(sections, Elf64_Word{SHT_SYMTAB}, &Elf64_Shdr::sh_type);
  if (table == sections.end() || table->sh_link >= sections.size()) return {};
  const Elf64_Shdr& strings = sections[table->sh_link];
  const Image names = piece(image, strings.sh_offset, strings.sh_size);

  std::optional<std::ptrdiff_t> context;
  std::vector<SharedVariable> variables;
  for (const auto& symbol : structures<Elf64_Sym>(piece(image, table->sh_offset, table->sh_size))) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) continue;
    const auto offset = static_cast<std::ptrdiff_t>(symbol.st_value);
    const std::string_view name = name_at(names, symbol.st_name);
    if (name == kContext) {
      context = offset;
    } else if (!is_guard(name)) {
      variables.push_back({.offset_bytes = offset, .size_bytes = symbol.st_size});
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
