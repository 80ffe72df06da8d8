// SPDX-License-Identifier: Apache-2.0
// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2.
#include "tuner/backend/cpu/store_instruction.hpp"

#include <cstring>
#include <string_view>

namespace tuner::backend {
namespace {

constexpr unsigned kRax = 0, kRsp = 4, kRbp = 5;

/// What stands before ModRM.
struct Opcode {
  unsigned map = 0;  ///< 0: one byte; 1: behind 0F
  std::uint8_t byte = 0;
  bool has_rex = false, is_vector = false, scales_displacement = false;
  unsigned extend_reg = 0, extend_index = 0, extend_base = 0;  ///< 8 or 0
};

/// Where an instruction with ModRM keeps its memory operand.
struct MemoryOperand {
  unsigned reg = 0;  ///< of ModRM: the other operand, or a part of the opcode
  unsigned base = 0;
  std::optional<unsigned> index;
  unsigned shift = 0;
  bool is_scaled = false;  ///< the displacement counts vectors or elements
  std::int64_t displacement = 0;
};

constexpr unsigned eight_if(unsigned bit) {
  return bit != 0 ? 8 : 0;
}

/// Takes the prefixes and the opcode from `code`.
Opcode take_opcode(const std::uint8_t*& code) {
  constexpr std::string_view kPrefixes = "\x66\xF0\xF2\xF3";  // others change the address
  while (kPrefixes.find(static_cast<char>(*code)) != std::string_view::npos) ++code;
  Opcode opcode;
  const std::uint8_t first = *code++;
  if (first == 0xC5 || first == 0xC4 || first == 0x62) {
    const std::uint8_t flags = *code++;
    opcode.is_vector = true;
    opcode.extend_reg = eight_if(~flags & 0x80U);
    opcode.map = 1;
    if (first != 0xC5) {
      opcode.extend_index = eight_if(~flags & 0x40U);
      opcode.extend_base = eight_if(~flags & 0x20U);
      opcode.map = first == 0xC4 ? flags & 0x1FU : flags & 0x07U;
      code += first == 0xC4 ? 1 : 2;
    }
    opcode.scales_displacement = first == 0x62;
    opcode.byte = *code++;
    return opcode;
  }
  opcode.byte = first;
  if ((first & 0xF0U) == 0x40) {
    opcode.has_rex = true;
    opcode.extend_reg = eight_if(first & 4U);
    opcode.extend_index = eight_if(first & 2U);
    opcode.extend_base = eight_if(first & 1U);
    opcode.byte = *code++;
  }
  if (opcode.byte == 0x0F) {
    opcode.map = 1;
    opcode.byte = *code++;
  }
  return opcode;
}

bool is_one_of(std::uint8_t byte, std::string_view bytes) {
  return bytes.find(static_cast<char>(byte)) != std::string_view::npos;
}

/// movups, movlps, movhps, movaps, movntps, movd, movdqa, movq, movntdq and their kin.
bool stores_vector(const Opcode& opcode) {
  return opcode.map == 1 && is_one_of(opcode.byte, "\x11\x13\x17\x29\x2B\x7E\x7F\xD6\xE7");
}

/// add, or, adc, sbb, and, sub, xor, xchg, mov; cmpxchg, xadd.
bool stores_register(const Opcode& opcode) {
  if (opcode.is_vector) return false;
  if (opcode.map == 1) return is_one_of(opcode.byte, "\xB0\xB1\xC0\xC1");
  return (opcode.byte < 0x32 && (opcode.byte & 7U) < 2) ||
         is_one_of(opcode.byte, "\x86\x87\x88\x89");
}

/// add, or, adc, sbb, and, sub, xor, cmp, mov with a number, inc, dec: ModRM says which.
bool stores_number(const Opcode& opcode) {
  return !opcode.is_vector && opcode.map == 0 &&
         is_one_of(opcode.byte, "\x80\x81\x83\xC6\xC7\xFE\xFF");
}

std::optional<MemoryOperand> take_operand(const Opcode& opcode, const std::uint8_t*& code) {
  const unsigned modrm = *code++;
  const unsigned mode = modrm >> 6U;
  if (mode == 3) return std::nullopt;  // a register
  MemoryOperand operand{.reg = (modrm >> 3U & 7U) | opcode.extend_reg, .index = {}};
  unsigned base = modrm & 7U;
  if (base == kRsp) {
    const unsigned sib = *code++;
    const unsigned index = (sib >> 3U & 7U) | opcode.extend_index;
    if (index != kRsp) operand.index = index;
    operand.shift = sib >> 6U;
    base = sib & 7U;
  }
  if (base == kRbp && mode == 0) return std::nullopt;  // no register, or that of the instruction
  operand.base = base | opcode.extend_base;
  if (mode == 1) {
    operand.displacement = static_cast<std::int8_t>(*code++);
    operand.is_scaled = opcode.scales_displacement;
  } else if (mode == 2) {
    std::int32_t displacement = 0;
    std::memcpy(&displacement, code, sizeof displacement);
    code += sizeof displacement;
    operand.displacement = displacement;
  }
  return operand;
}

bool is_at(const MemoryOperand& operand, const Registers& registers, std::uint64_t address) {
  std::uint64_t place = registers[operand.base];
  if (operand.index) place += registers[*operand.index] << operand.shift;
  constexpr std::int64_t kLongest = 64;
  for (std::int64_t factor = 1; factor <= (operand.is_scaled ? kLongest : 1); factor *= 2) {
    if (place + static_cast<std::uint64_t>(operand.displacement * factor) == address) return true;
  }
  return false;
}

/// Whether the register is also what is stored or compared, or a part of it (ah is of rax).
bool is_used_as_value(unsigned base, const Opcode& opcode, const MemoryOperand& operand) {
  if (!stores_register(opcode)) return false;
  const bool is_exchange = opcode.map == 1 && opcode.byte < 0xC0;
  const bool has_high_bytes = !opcode.has_rex && opcode.byte % 2 == 0 && operand.reg >= 4;
  return operand.reg == base || (is_exchange && base == kRax) ||
         (has_high_bytes && operand.reg - 4 == base);
}

}  // namespace

std::optional<unsigned> base_of_store(const std::uint8_t* code, const Registers& registers,
                                      std::uint64_t address) {
  const Opcode opcode = take_opcode(code);
  if (!stores_vector(opcode) && !stores_register(opcode) && !stores_number(opcode)) {
    return std::nullopt;
  }
  const auto operand = take_operand(opcode, code);
  if (!operand || operand->base == kRsp || operand->index == operand->base ||
      is_used_as_value(operand->base, opcode, *operand) || !is_at(*operand, registers, address)) {
    return std::nullopt;
  }
  return operand->base;
}

}  // namespace tuner::backend
