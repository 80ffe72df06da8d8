// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tuner::backend {

/// What the general registers of a thread hold, by their numbers in x86-64 instructions: rax, rcx,
/// rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
using Registers = std::array<std::uint64_t, 16>;

/// The register whose change by a multiple of 4096 changes where the x86-64 instruction at `code`
/// writes, by as much, and nothing else that it does: the base of its address. None where it does
/// not write at `address`, is none of the usual stores, or uses the register for more. Of memory
/// only bytes of the instruction are read.
[[nodiscard]] std::optional<unsigned> base_of_store(const std::uint8_t* code,
                                                    const Registers& registers,
                                                    std::uint64_t address);

}  // namespace tuner::backend
