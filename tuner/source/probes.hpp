// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/source/source.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::source {

/// A place of a source whose outcomes a probed copy notes.
struct Probe {
  enum class Kind {
    condition,  ///< of an if, a ternary or an operand of && or ||
    loop,
    choice,  ///< a switch
    label,   ///< of a switch
  };
  Kind kind = Kind::condition;
  std::string file = {};  ///< the source's name, or that of one of its headers
  std::uint64_t line = 0;
  std::string text = {};                  ///< as written, on one line: "if (x > 20)"
  std::optional<std::size_t> whole = {};  ///< the condition of an operand, the switch of a label
  std::vector<std::string> words = {};    ///< of the condition: identifiers, numbers
};

/// What a run of a probed source notes of one probe. An outcome that the compiler knows depends on
/// no input.
struct ProbeNotes {
  static constexpr std::size_t kBytes = 4;  ///< each is 1 where it happened
  enum Outcome : std::size_t { was_true, was_false, always_true, always_false };
};

/// Which conditions are probed. Without macros, ternaries and operands a probed source compiles
/// wherever statements can be told apart.
enum class ProbeExtent { everything, statements };

/// A source with probes, and with the kernel kReadNotes(unsigned char*) that copies what they
/// noted since the module was loaded, kBytes for each probe, by one block.
struct ProbedSource {
  static constexpr std::string_view kReadNotes = "tuner_read_notes";
  KernelSource source;
  std::vector<Probe> probes;  ///< none: the source has no condition, and no such kernel
};

/// Probes every condition of if, while, do and for, of ternaries, each operand of && and || in
/// these, and the labels of switch, in a source that is compiled with `options` and in its headers.
/// Conditions that declare a variable have none, nor have those that no input decides: `if
/// constexpr`, and what names nothing but template parameters, macros that are values, and
/// constexpr variables. A macro has the probes of its definition. Lines keep their numbers.
[[nodiscard]] ProbedSource with_probes(const KernelSource& source,
                                       std::span<const std::string> options, ProbeExtent extent);

}  // namespace tuner::source
