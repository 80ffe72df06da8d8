// SPDX-License-Identifier: Apache-2.0
// All answers to a question, best first.
#pragma once

#include "tuner/select/catalogue.hpp"
#include "tuner/select/rung.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tuner::select {

/// How far from the question an answer may be.
enum class Policy {
  exact,    ///< only what was tuned for the very size: the rungs exact and stale
  nearest,  ///< every rung
};

struct RankQuestion {
  std::string family;
  std::optional<std::string> kernel = {};  ///< absent: any of the family, and the library
  std::string size = {};                   ///< as parse_size takes it: "4096,4096,64,TRANS_B=1"
  Policy policy = Policy::nearest;
};

/// One answer: a kernel's configuration, or the library.
struct Selection {
  Rung rung = Rung::default_config;
  space::DeviceInfo device;
  std::string family;
  std::shared_ptr<const store::KernelRecord> kernel;  ///< null: the library
  std::shared_ptr<const RankedKernel> stored;         ///< null where it came without its space file
  std::string size_text;                              ///< the asked size, canonical
  space::Size size;                    ///< its numbers; empty where the dimensions are not known
  std::string config_json;             ///< canonical; empty for the library
  std::string library_algorithm = {};  ///< on the rung library_tuned: BestRecord::library_algorithm
  std::optional<Entry> entry;          ///< what answered; of the library what it was timed beside
  std::optional<double> expected_ns;   ///< at the asked size; absent where nothing tells
  /// Of the answer of select_configuration(): the library is before it in the ranking.
  bool library_is_first = false;
  /// On the rung nearest: the largest |ln(asked / tuned)| over the dimensions. Otherwise 0.
  double distance = 0;
  /// In order, why it stands where it does.
  std::vector<std::string> explanation;
};

struct Ranking {
  std::vector<Selection> answers;
  /// How many of the answers on the rung nearest are members of a portfolio; where any is, all are.
  std::size_t members = 0;
  /// All that was looked at, in order, until an answer was found: what was there and why it was
  /// taken or not.
  std::vector<std::string> explanation;
  /// The size of the product alone, where answers for it answer for a product that something
  /// follows; empty else.
  std::string product_alone = {};
};

/// Answers from the catalogue alone; never with an entry of a source that has changed since. What
/// was tuned for the very size comes first, the fastest of it before the others; then the members
/// of the portfolio for such sizes, or where there is none what was tuned for other sizes, as far
/// as valid at this one; last the default configuration. The library, when the family has one and
/// no kernel is asked for by name, stands where its time puts it; it is never after the default. By
/// an algorithm that was found for the very size it stands before the library's own choice, unless
/// that was another version of the library. A product that a bias, an activation or a residual
/// follows is answered, where none of this kind was tuned, by what answers for the product alone:
/// what follows takes a kernel and the library as little time.
///
/// No answers when nothing is valid. Throws Error(nothing_found) when the catalogue has no such
/// family or kernel, Error(usage) when the size does not fit the family.
[[nodiscard]] Ranking rank(const Catalogue& catalogue, const RankQuestion& question);

}  // namespace tuner::select
