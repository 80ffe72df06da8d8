// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/elf_symbols.hpp"

#include "tuner/core/file.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace tuner {
// In the symbol table of this program.
int counted_by_nobody = 3;
thread_local int counted_by_each_thread = 4;
namespace {

std::string program() {
  return read_file("/proc/self/exe", std::size_t{1} << 30);
}

TEST(ElfSymbols, NamesVariablesWithTheirSectionsAndSizes) {
  const std::string image = program();
  const std::vector<ElfSymbol> symbols = elf_symbols(std::as_bytes(std::span(image)));
  const auto find = [&](std::string_view name) {
    return *std::ranges::find(symbols, name, &ElfSymbol::name);
  };
  const ElfSymbol variable = find("_ZN5tuner17counted_by_nobodyE");
  EXPECT_EQ(variable.kind, ElfSymbol::Kind::variable);
  EXPECT_EQ(variable.section, ".data");
  EXPECT_TRUE(variable.is_writable);
  EXPECT_EQ(variable.size_bytes, sizeof counted_by_nobody);
  EXPECT_EQ(find("_ZN5tuner22counted_by_each_threadE").kind,
            ElfSymbol::Kind::thread_local_variable);
  EXPECT_EQ(find("main").kind, ElfSymbol::Kind::other);
}

TEST(ElfSymbols, OfWhatIsNoImageThereAreNone) {
  std::string image = program();
  const auto symbols = [&] { return elf_symbols(std::as_bytes(std::span(image))); };
  image.resize(image.size() / 2);
  EXPECT_TRUE(symbols().empty()) << "its table of sections is missing";
  image = "not an image";
  EXPECT_TRUE(symbols().empty());
  image.clear();
  EXPECT_TRUE(symbols().empty());
}

}  // namespace
}  // namespace tuner
