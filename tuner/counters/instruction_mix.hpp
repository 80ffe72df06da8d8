// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tuner::counters {

/// How many instructions of each kind the machine code of a kernel has: as it is in memory, not as
/// it is executed. An instruction that fills the end of the code (NOP) does not count.
struct InstructionMix {
  bool operator==(const InstructionMix&) const = default;

  std::int64_t fma = 0;              ///< fused multiply-adds of floating-point numbers
  std::int64_t tensor = 0;           ///< tensor cores
  std::int64_t global_memory = 0;    ///< loads, stores, atomics, asynchronous copies
  std::int64_t shared_memory = 0;    ///< loads, stores, atomics, matrices of them
  std::int64_t local_memory = 0;     ///< spills and local arrays
  std::int64_t synchronization = 0;  ///< barriers and fences
  std::int64_t other = 0;            ///< addresses, conditions, all other arithmetic

  [[nodiscard]] std::int64_t total() const;
};

/// A kind of instruction: its name in documents, in sentences, and where it is kept.
struct InstructionField {
  std::string_view name;
  std::string_view label;
  std::int64_t InstructionMix::*member;
};
[[nodiscard]] std::span<const InstructionField> instruction_fields();

/// The mix of all functions in what `cuobjdump -sass` printed; none where it lists no instruction.
[[nodiscard]] std::optional<InstructionMix> instruction_mix(std::string_view listing);

/// "1,480 instructions: FMA 69 %, shared memory 13 %, others 18 %".
[[nodiscard]] std::string instructions_sentence(const InstructionMix& mix);

}  // namespace tuner::counters
