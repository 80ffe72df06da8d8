// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/instruction_mix.hpp"

#include "tuner/core/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tuner::counters {
namespace {

constexpr std::array kInstructionFields = {
    InstructionField{"fma", "FMA", &InstructionMix::fma},
    InstructionField{"tensor", "tensor cores", &InstructionMix::tensor},
    InstructionField{"global_memory", "global memory", &InstructionMix::global_memory},
    InstructionField{"shared_memory", "shared memory", &InstructionMix::shared_memory},
    InstructionField{"local_memory", "local memory", &InstructionMix::local_memory},
    InstructionField{"synchronization", "synchronization", &InstructionMix::synchronization},
    InstructionField{"other", "others", &InstructionMix::other}};

struct Opcode {
  std::string_view name;
  std::int64_t InstructionMix::*kind;
};

// The instruction sets of compute capability 7.x to 12.x in the CUDA Binary Utilities.
constexpr std::array kOpcodes = {Opcode{"FFMA", &InstructionMix::fma},
                                 Opcode{"FFMA2", &InstructionMix::fma},
                                 Opcode{"DFMA", &InstructionMix::fma},
                                 Opcode{"HFMA2", &InstructionMix::fma},
                                 Opcode{"HMMA", &InstructionMix::tensor},
                                 Opcode{"IMMA", &InstructionMix::tensor},
                                 Opcode{"DMMA", &InstructionMix::tensor},
                                 Opcode{"QMMA", &InstructionMix::tensor},
                                 Opcode{"HGMMA", &InstructionMix::tensor},
                                 Opcode{"IGMMA", &InstructionMix::tensor},
                                 Opcode{"QGMMA", &InstructionMix::tensor},
                                 Opcode{"BGMMA", &InstructionMix::tensor},
                                 Opcode{"LD", &InstructionMix::global_memory},
                                 Opcode{"ST", &InstructionMix::global_memory},
                                 Opcode{"LDG", &InstructionMix::global_memory},
                                 Opcode{"STG", &InstructionMix::global_memory},
                                 Opcode{"LDGSTS", &InstructionMix::global_memory},
                                 Opcode{"ATOM", &InstructionMix::global_memory},
                                 Opcode{"ATOMG", &InstructionMix::global_memory},
                                 Opcode{"RED", &InstructionMix::global_memory},
                                 Opcode{"REDG", &InstructionMix::global_memory},
                                 Opcode{"TEX", &InstructionMix::global_memory},
                                 Opcode{"TLD", &InstructionMix::global_memory},
                                 Opcode{"UBLKCP", &InstructionMix::global_memory},
                                 Opcode{"UTMALDG", &InstructionMix::global_memory},
                                 Opcode{"UTMASTG", &InstructionMix::global_memory},
                                 Opcode{"UTMAREDG", &InstructionMix::global_memory},
                                 Opcode{"LDS", &InstructionMix::shared_memory},
                                 Opcode{"STS", &InstructionMix::shared_memory},
                                 Opcode{"LDSM", &InstructionMix::shared_memory},
                                 Opcode{"STSM", &InstructionMix::shared_memory},
                                 Opcode{"ATOMS", &InstructionMix::shared_memory},
                                 Opcode{"LDL", &InstructionMix::local_memory},
                                 Opcode{"STL", &InstructionMix::local_memory},
                                 Opcode{"BAR", &InstructionMix::synchronization},
                                 Opcode{"UCGABAR_ARV", &InstructionMix::synchronization},
                                 Opcode{"UCGABAR_WAIT", &InstructionMix::synchronization},
                                 Opcode{"SYNCS", &InstructionMix::synchronization},
                                 Opcode{"WARPSYNC", &InstructionMix::synchronization},
                                 Opcode{"WARPGROUP", &InstructionMix::synchronization},
                                 Opcode{"DEPBAR", &InstructionMix::synchronization},
                                 Opcode{"LDGDEPBAR", &InstructionMix::synchronization},
                                 Opcode{"MEMBAR", &InstructionMix::synchronization},
                                 Opcode{"FENCE", &InstructionMix::synchronization},
                                 Opcode{"UTMACMDFLUSH", &InstructionMix::synchronization}};

std::string_view without_blanks_before(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

/// The opcode, without modifiers, of a line such as `/*0250*/  @!P0 LDG.E.128 R4, [R2] ;`; empty
/// where the line has none, such as one of labels or of code words.
std::string_view opcode_of(std::string_view line) {
  constexpr std::string_view kBegin = "/*", kEnd = "*/";
  line = without_blanks_before(line);
  const std::size_t end = line.find(kEnd);
  if (!line.starts_with(kBegin) || end == std::string_view::npos) return {};
  const std::string_view address = line.substr(kBegin.size(), end - kBegin.size());
  if (address.empty() || address.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return {};
  }
  line = without_blanks_before(line.substr(end + kEnd.size()));
  if (line.starts_with('@')) {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    line = without_blanks_before(line);
  }
  return line.substr(0, line.find_first_of(" .;\t"));
}

}  // namespace

std::int64_t InstructionMix::total() const {
  std::int64_t sum = 0;
  for (const InstructionField& field : kInstructionFields) sum += this->*field.member;
  return sum;
}

std::span<const InstructionField> instruction_fields() {
  return kInstructionFields;
}

std::optional<InstructionMix> instruction_mix(std::string_view listing) {
  InstructionMix mix;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find('\n'), listing.size());
    const std::string_view opcode = opcode_of(listing.substr(0, end));
    listing.remove_prefix(std::min(end + 1, listing.size()));
    if (opcode.empty() || opcode == "NOP") continue;
    const auto* const known = std::ranges::find(kOpcodes, opcode, &Opcode::name);
    ++(mix.*(known == kOpcodes.end() ? &InstructionMix::other : known->kind));
  }
  if (mix.total() == 0) return std::nullopt;
  return mix;
}

std::string instructions_sentence(const InstructionMix& mix) {
  const auto total = static_cast<double>(mix.total());
  std::string sentence = quantity::count(static_cast<std::uint64_t>(mix.total()), "instruction");
  std::string_view separator = ": ";
  for (const InstructionField& field : kInstructionFields) {
    const auto count = static_cast<double>(mix.*field.member);
    if (count == 0) continue;
    sentence += fmt::format("{}{} {:.0f} %", separator, field.label, 100 * count / total);
    separator = ", ";
  }
  return sentence;
}

}  // namespace tuner::counters
