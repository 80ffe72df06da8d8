// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/loaded_image.hpp"

#include "tuner/backend/cpu/block_runner.hpp"
#include "tuner/backend/cpu/interleaved_image.hpp"
#include "tuner/backend/launch_error.hpp"
#include "tuner/core/elf_symbols.hpp"
#include "tuner/core/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace tuner::backend {
namespace {

/// The number of 64-bit words that hold these bytes.
std::size_t words(std::size_t size_bytes) {
  return (size_bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

/// Whether a symbol is a variable of the kernel, none of what a linker puts into every image.
bool is_variable(const ElfSymbol& symbol) {
  if (symbol.kind != ElfSymbol::Kind::variable || symbol.size_bytes == 0) return false;
  if (!symbol.section.starts_with(".data") && !symbol.section.starts_with(".bss")) return false;
  return symbol.is_writable && !symbol.section.starts_with(".data.rel.ro") &&
         symbol.name != "__dso_handle" && !symbol.name.starts_with("completed.");
}

}  // namespace

void LoadedImage::Close::operator()(void* library) const {
  ::dlclose(library);
}

Expected<LoadedImage, Failure> LoadedImage::load(const Binary& binary,
                                                 const std::filesystem::path& scratch) {
  write_file(scratch, {reinterpret_cast<const char*>(binary.image.data()), binary.image.size()});
  LoadedImage image;
  image.library_.reset(::dlopen(scratch.c_str(), RTLD_NOW | RTLD_LOCAL));
  const std::string reason = image.library_ ? "" : ::dlerror();
  std::error_code ignored;
  std::filesystem::remove(scratch, ignored);
  if (!image.library_) return launch_error("the kernel's image cannot be loaded: " + reason);
  for (const std::string& name : binary.symbols) {
    const void* symbol = ::dlsym(image.library_.get(), name.c_str());
    if (symbol == nullptr) {
      return launch_error(fmt::format("the kernel's image has no symbol '{}'", name));
    }
    image.functions_.push_back(static_cast<const KernelImage*>(symbol));
  }
  image.variables_ = image.loaded_variables(binary.image);
  if (image.functions_.front()->context_place != nullptr) {
    image.shared_ = shared_variables(binary.image);
    if (const std::size_t size_bytes = image.static_shared_bytes();
        size_bytes > kMaxStaticSharedBytes) {
      return Unexpected(Failure{
          Outcome::compile_error,
          fmt::format("its __shared__ variables have {} bytes, all of a block can have {}; more "
                      "are \"dynamic_shared_bytes\" of the space file's \"launch\"",
                      size_bytes, kMaxStaticSharedBytes)});
    }
  }
  return image;
}

std::optional<LoadedImage> LoadedImage::load_interleaved(const Binary& binary,
                                                         const std::filesystem::path& scratch) {
  const std::span<const std::byte> part = interleaved_part(binary.image).image;
  if (part.empty()) return std::nullopt;
  auto image = load({.image = {part.begin(), part.end()}, .symbols = binary.symbols}, scratch);
  return image ? std::optional(std::move(*image)) : std::nullopt;
}

std::vector<LoadedImage::Variable> LoadedImage::loaded_variables(
    std::span<const std::byte> image) const {
  struct link_map* map = nullptr;
  if (::dlinfo(library_.get(), RTLD_DI_LINKMAP, &map) != 0) return {};
  std::vector<Variable> found;
  for (const ElfSymbol& symbol : elf_symbols(image)) {
    if (!is_variable(symbol)) continue;
    auto* const place = reinterpret_cast<std::byte*>(map->l_addr + symbol.value);
    found.push_back({.place = place, .loaded = {place, place + symbol.size_bytes}});
  }
  return found;
}

bool LoadedImage::has_changed_variables() const {
  return std::ranges::any_of(variables_, [](const Variable& variable) {
    return !std::ranges::equal(variable.loaded, std::span(variable.place, variable.loaded.size()));
  });
}

void LoadedImage::restore_variables() const {
  for (const Variable& variable : variables_) std::ranges::copy(variable.loaded, variable.place);
}

/// The image has what its functions reach, and does not tell which of several reaches a variable.
std::size_t LoadedImage::static_shared_bytes() const {
  std::size_t sum = 0, largest = 0;
  for (const SharedVariable& variable : shared_) {
    if (variable.size_bytes == sizeof(void*)) continue;  // may point to dynamic shared memory
    sum += variable.size_bytes;
    largest = std::max(largest, variable.size_bytes);
  }
  return functions_.size() == 1 ? sum : largest;
}

std::vector<std::span<std::byte>> LoadedImage::variables() const {
  struct Search {
    const link_map* image = nullptr;
    std::vector<std::span<std::byte>> segments = {};
  } search;
  if (::dlinfo(library_.get(), RTLD_DI_LINKMAP, &search.image) != 0) return {};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& found = *static_cast<Search*>(data);
        if (info->dlpi_addr != found.image->l_addr) return 0;
        for (const ElfW(Phdr) & each : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
          if (each.p_type != PT_LOAD || (each.p_flags & PF_W) == 0) continue;
          found.segments.emplace_back(reinterpret_cast<std::byte*>(info->dlpi_addr + each.p_vaddr),
                                      each.p_memsz);
        }
        return 1;
      },
      &search);
  return search.segments;
}

Expected<void, Failure> LoadedImage::write(const SymbolValue& symbol) {
  void* const variable = ::dlsym(library_.get(), symbol.image_name.c_str());
  Dl_info where{};
  void* entry = nullptr;  // of the image's table of symbols
  if (variable == nullptr || ::dladdr1(variable, &where, &entry, RTLD_DL_SYMENT) == 0 ||
      entry == nullptr) {
    return launch_error(
        fmt::format("the source has no __constant__ variable '{}'; a kernel without it lists the "
                    "array in its \"arguments\" and takes it by value",
                    symbol.name));
  }
  const std::size_t size_bytes = static_cast<const ElfW(Sym)*>(entry)->st_size;
  const std::vector<std::byte>& bytes = symbol.value.bytes;
  if (bytes.size() > size_bytes) {
    return launch_error(fmt::format("the variable '{}' has {} bytes, the space file gives it {}",
                                    symbol.name, size_bytes, bytes.size()));
  }
  std::memcpy(variable, bytes.data(), bytes.size());
  const auto kept =
      std::ranges::find(variables_, static_cast<std::byte*>(variable), &Variable::place);
  if (kept != variables_.end()) std::ranges::copy(bytes, kept->loaded.begin());
  return {};
}

void ArgumentList::push(const family::Scalar& value) {
  std::visit([this](auto number) { push(&number, sizeof number); }, value);
}

void ArgumentList::push(void* pointer) {
  push(static_cast<const void*>(&pointer), sizeof pointer);
}

void ArgumentList::push(const ArrayValue& array) {
  push(array.bytes.data(), array.bytes.size());
}

void ArgumentList::push(const TensorMapValue& map) {
  push(map.bytes.data(), map.bytes.size());
}

void ArgumentList::push(const void* value, std::size_t size_bytes) {
  const std::size_t first = words_.size();
  words_.resize(first + words(size_bytes));
  std::memcpy(&words_[first], value, size_bytes);
  sizes_.push_back(size_bytes);
}

void* const* ArgumentList::addresses() {
  addresses_.clear();
  std::uint64_t* word = words_.data();
  for (const std::size_t size_bytes : sizes_) {
    addresses_.push_back(word);
    word += words(size_bytes);
  }
  return addresses_.data();
}

}  // namespace tuner::backend
