// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/space/bound_definition.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::space {

/// How many configurations are left after a constraint, of those its predecessors left.
struct WaterfallStep {
  std::string expression;
  std::string why;
  std::uint64_t removed = 0;
  std::uint64_t left = 0;
};

struct Waterfall {
  std::uint64_t cartesian = 0;  ///< the product of the numbers of values
  std::uint64_t collapsed = 0;  ///< removed because `when` makes them duplicates
  std::vector<WaterfallStep> steps;
};

/// Which valid configurations are neighbours of one.
enum class Neighbourhood {
  hamming,   ///< exactly one parameter differs
  adjacent,  ///< one parameter differs and has the nearest value, below or above in the file's
             ///< order, that is valid with the others as they are
  hamming2,  ///< exactly two parameters differ
};

class SharedDiagrams;

/// A definition bound to a device and a problem size: the set of valid configurations.
///
/// Parameters that no constraint ties together form independent groups. A group's valid partial
/// configurations are a decision diagram in which equal subtrees are kept once, and the space is
/// the product of the groups, never formed (docs/decisions.md). Random
/// access, sampling and membership cost O(parameters) searches among a parameter's values;
/// membership allocates nothing.
class Space : public BoundDefinition {
 public:
  /// Without a size, a constraint that mentions a dimension is an Error(usage). Throws Error(usage)
  /// when one group's diagram has more than 2^25 edges (512 MiB), when finding them takes more than
  /// 2^27 operations, or when the count leaves 64 bits.
  Space(std::shared_ptr<const SpaceDefinition> definition, const DeviceAttributes& device,
        std::span<const std::int64_t> size);

  /// As above. What no extent of the size influences is taken from `shared`, or put there, so
  /// that the spaces of further sizes cost little. `shared` must be of this definition and device;
  /// threads may use one at the same time.
  Space(std::shared_ptr<const SpaceDefinition> definition, const DeviceAttributes& device,
        std::span<const std::int64_t> size, SharedDiagrams& shared);

  /// The space of exactly these configurations, each with a choice for every parameter, as a
  /// recording of measured ones gives it; duplicates count once. Nothing depends on a device or
  /// size here.
  Space(std::shared_ptr<const SpaceDefinition> definition, std::vector<Config> configs);

  /// Number of valid configurations.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The configuration at a position; positions enumerate the space without repetition.
  [[nodiscard]] Config at(std::uint64_t position) const;
  /// The position of a configuration; none when it is not in the space.
  [[nodiscard]] std::optional<std::uint64_t> position(const Config& config) const;
  /// A configuration drawn uniformly. The space must not be empty.
  [[nodiscard]] Config sample(std::mt19937_64& random) const;
  /// The neighbours of a configuration, which need not be valid itself: in order of parameter and
  /// value when one parameter differs, else sorted.
  [[nodiscard]] std::vector<Config> neighbours(const Config& config,
                                               Neighbourhood kind = Neighbourhood::hamming) const;
  /// One of them, drawn uniformly without listing them where that is many; none when there is none.
  [[nodiscard]] std::optional<Config> random_neighbour(const Config& config, Neighbourhood kind,
                                                       std::mt19937_64& random) const;

  /// How many configurations each constraint removes, in file order. Throws Error(usage) when the
  /// space without some of its constraints is beyond the constructor's limits.
  [[nodiscard]] Waterfall waterfall() const;

 private:
  struct Group;
  template <class Visit>
  class AtDistance;
  [[nodiscard]] std::optional<Config> draw_neighbour(const Config& config, std::size_t distance,
                                                     std::mt19937_64& random) const;

  std::vector<Group> groups_;
  std::uint64_t size_ = 0;

 public:
  Space(const Space&);
  Space(Space&&) noexcept;
  Space& operator=(Space&&) noexcept;
  ~Space();
};

/// A configuration as a JSON object with its keys sorted, without spaces: the form that is stored
/// and hashed, e.g. {"BLOCK_X":16,"LAYOUT":"nt"}.
[[nodiscard]] std::string canonical_json(const SpaceDefinition& definition, const Config& config);

/// Reads such an object, or any with the same keys in any order. Parameters that the object lacks
/// take their defaults (a space may grow). Throws Error(usage) on an unknown parameter or value.
[[nodiscard]] Config config_from_json(const SpaceDefinition& definition, std::string_view json);

/// Reads "BM=64,BN=128,…" as typed by a user; the rest take their defaults. Throws Error(usage).
[[nodiscard]] Config config_from_text(const SpaceDefinition& definition, std::string_view text);

/// "BM=64 BN=128 …" for people, in the file's order; parameters with a single value are left out.
[[nodiscard]] std::string display(const SpaceDefinition& definition, const Config& config);

/// Narrows a definition: keeps only the listed values of one parameter ("BM" → {"64","128"}), as
/// `--set BM=64,128` asks. The default becomes the first kept value when it is not among them.
/// Throws Error(usage) on an unknown parameter or value.
void restrict_parameter(SpaceDefinition& definition, std::string_view parameter,
                        std::span<const std::string> values);

}  // namespace tuner::space
