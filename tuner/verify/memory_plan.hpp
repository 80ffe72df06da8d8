// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/verify/check_parts.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::verify {

/// The elements of a buffer of `count` elements where results are checked: memory is compared in
/// words of 32 bits, so that smaller elements are rounded up to a whole number of words.
[[nodiscard]] std::int64_t in_whole_words(family::ElementType type, std::int64_t count);

/// A buffer argument of an instance and where all that belongs to it lies, as offsets in bytes:
/// `candidate` in the memory a candidate gets, the others in the reference memory. Of these, those
/// that have a value when the plan is made are needed, and get their place then.
struct CheckedData {
  std::string name = {};     ///< the argument's
  std::size_t argument = 0;  ///< its place among the family's arguments
  family::ElementType type;
  std::int64_t used = 1;    ///< elements that the family knows of
  std::int64_t count = 1;   ///< in_whole_words(used)
  std::int64_t offset = 0;  ///< elements from an aligned address to it, wherever it lies
  family::BufferRole role = family::BufferRole::input;
  bool starts_zero = false;  ///< an output's content before a launch; else `initial` or poison
  std::size_t candidate = 0;
  std::optional<std::size_t> expected = {};  ///< the right result of an output
  std::optional<std::size_t> allowed = {};   ///< the largest error allowed of each element
  std::optional<std::size_t> initial = {};   ///< what an output holds before a launch
  std::optional<std::size_t> repeat = {};    ///< what a candidate computed in an earlier launch
  /// Of an output that is not compared in place.
  std::optional<family::RecordLayout> records = {};
  std::optional<std::size_t> rows = {};  ///< the row of each record, where no other output has them

  [[nodiscard]] std::size_t size_bytes() const { return tuner::family::bytes_of(type, count); }
  /// Of the errors allowed, which are of tuner::family::error_type.
  [[nodiscard]] std::size_t errors_bytes() const {
    return tuner::family::bytes_of(tuner::family::error_type(type), count);
  }
  [[nodiscard]] std::size_t rows_bytes() const {
    return static_cast<std::size_t>(records ? records->records : 0) * kWordBytes;
  }
  [[nodiscard]] std::size_t offset_bytes() const { return tuner::family::bytes_of(type, offset); }
};

/// A guard zone: a place and a length in bytes.
struct GuardZone {
  std::size_t offset = 0, size_bytes = 0;
};

/// Where the memory of an instance goes. A candidate's data lie in one allocation with a guard zone
/// before, between and behind them: at their offset from a multiple of 256 bytes, as an allocation
/// is aligned, and each followed by its zone at once, so that one element too far already lies
/// there. Zones hold at least an eighth of the largest data, within 4 KiB and 1 MiB: a row or slab
/// too far in a large problem is met, and small problems are not slow to check.
struct MemoryPlan {
  std::vector<CheckedData> data;
  std::vector<GuardZone> zones;  ///< zones[i] lies before data[i], the last one behind all
                                 ///< data; each is two parts, poisoned like their neighbours
  std::size_t candidate_bytes = 0;
  std::size_t reference_bytes = 0;
  /// All that a check looks at: outputs first, those in place before others, then repetitions,
  /// inputs, the reference, zones.
  std::vector<CheckPart> parts;
};

[[nodiscard]] MemoryPlan plan_memory(std::vector<CheckedData> data);

/// "wrote C[42], beyond the end of its 42 elements; 1 word of the guard zone changed": what the
/// report on a guard zone, a part of the plan, says of the buffer nearest to what changed.
[[nodiscard]] std::string overrun_text(const MemoryPlan& plan, const CheckPart& guard,
                                       const PartReport& report);

}  // namespace tuner::verify
