// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/elf_symbols.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace tuner {
namespace {

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

ElfSymbol::Kind kind_of(const Elf64_Sym& symbol) {
  using enum ElfSymbol::Kind;
  if (symbol.st_shndx == SHN_UNDEF) return other;
  switch (ELF64_ST_TYPE(symbol.st_info)) {
    case STT_OBJECT:
      return variable;
    case STT_TLS:
      return thread_local_variable;
    default:
      return other;
  }
}

}  // namespace

std::vector<ElfSymbol> elf_symbols(std::span<const std::byte> image) {
  const auto header = structures<Elf64_Ehdr>(piece(image, 0, sizeof(Elf64_Ehdr)));
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto sections = structures<Elf64_Shdr>(
      piece(image, header[0].e_shoff, std::uint64_t{header[0].e_shnum} * sizeof(Elf64_Shdr)));
  const auto table = std::ranges::find(sections, Elf64_Word{SHT_SYMTAB}, &Elf64_Shdr::sh_type);
  if (table == sections.end() || table->sh_link >= sections.size()) return {};
  const auto text_of = [&](const Elf64_Shdr& strings) {
    return piece(image, strings.sh_offset, strings.sh_size);
  };
  const Image names = text_of(sections[table->sh_link]);
  const Image section_names =
      header[0].e_shstrndx < sections.size() ? text_of(sections[header[0].e_shstrndx]) : Image();
  std::vector<ElfSymbol> symbols;
  for (const auto& symbol : structures<Elf64_Sym>(piece(image, table->sh_offset, table->sh_size))) {
    ElfSymbol& made = symbols.emplace_back();
    made = {.name = name_at(names, symbol.st_name),
            .section = {},
            .kind = kind_of(symbol),
            .value = symbol.st_value,
            .size_bytes = symbol.st_size};
    if (symbol.st_shndx >= sections.size()) continue;
    const Elf64_Shdr& section = sections[symbol.st_shndx];
    made.section = name_at(section_names, section.sh_name);
    made.is_writable = (section.sh_flags & SHF_WRITE) != 0;
  }
  return symbols;
}

}  // namespace tuner
