// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/compiled_signature.hpp"

#include "tuner/core/elf_symbols.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <optional>

namespace tuner::source {
namespace {

constexpr std::string_view kMangled = "_ZN5tuner9SignatureI", kPlain = "tuner::Signature<";

std::string demangled(std::string_view symbol) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, nullptr), &std::free);
  return text ? text.get() : "";
}

/// The parts of a list of types, which may have commas in brackets of their own.
std::vector<std::string> separated(std::string_view list) {
  constexpr std::string_view kOpen = "(<[{", kClosed = ")>]}";
  std::vector<std::string> parts;
  std::size_t depth = 0, begin = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const bool is_end = at == list.size() || (list[at] == ',' && depth == 0);
    if (is_end) {
      std::string_view part = list.substr(begin, at - begin);
      if (part.starts_with(' ')) part.remove_prefix(1);
      if (!part.empty()) parts.emplace_back(part);
      begin = at + 1;
      continue;
    }
    if (kOpen.find(list[at]) != std::string_view::npos) ++depth;
    if (kClosed.find(list[at]) != std::string_view::npos && depth > 0) --depth;
  }
  return parts;
}

struct PlacedSignature {
  std::size_t place = 0;
  std::vector<std::string> parameters;
};

/// Of "tuner::Signature<0, void (*)(float const*, int)>".
std::optional<PlacedSignature> read_signature(std::string_view text) {
  if (!text.starts_with(kPlain)) return std::nullopt;
  text.remove_prefix(kPlain.size());
  PlacedSignature signature;
  const auto [behind, error] =
      std::from_chars(text.data(), text.data() + text.size(), signature.place);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(behind - text.data()));
  constexpr std::string_view kFunction = ", void (*)(";
  if (!text.starts_with(kFunction)) return std::nullopt;
  text.remove_prefix(kFunction.size());
  std::size_t depth = 1, end = 0;
  for (; end < text.size(); ++end) {
    if (text[end] == '(') ++depth;
    if (text[end] == ')' && --depth == 0) break;
  }
  if (end == text.size()) return std::nullopt;
  signature.parameters = separated(text.substr(0, end));
  return signature;
}

}  // namespace

std::string signature_expression(std::size_t place, std::string_view entry) {
  return fmt::format("&tuner::Signature<{}, decltype(&{})>", place, entry);
}

bool is_signature(std::string_view symbol) {
  return symbol.starts_with(kMangled);
}

std::map<std::size_t, std::vector<std::string>> compiled_signatures(
    std::span<const std::byte> image) {
  std::map<std::size_t, std::vector<std::string>> signatures;
  for (const ElfSymbol& symbol : elf_symbols(image)) {
    if (!is_signature(symbol.name)) continue;
    auto signature = read_signature(demangled(symbol.name));
    if (signature) signatures.emplace(signature->place, std::move(signature->parameters));
  }
  return signatures;
}

}  // namespace tuner::source
