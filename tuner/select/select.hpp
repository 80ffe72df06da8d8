// SPDX-License-Identifier: Apache-2.0
// Which configuration to launch a kernel with, and why that one.
#pragma once

#include "tuner/select/catalogue.hpp"
#include "tuner/select/rank.hpp"

#include <optional>
#include <string>

namespace tuner::select {

struct Question {
  std::optional<std::string> device = {};  ///< exact name; absent: the device used last
  std::optional<std::string> kernel = {};  ///< at least one of kernel and family
  std::optional<std::string> family = {};  ///< without a kernel: whichever of its kernels is best
  std::string size = {};                   ///< as parse_size takes it: "4096,4096,64,TRANS_B=1"
  Policy policy = Policy::nearest;
  /// What the kernel would run with; absent: what the device was last tuned with.
  std::optional<space::EnvironmentInfo> environment = {};
};

/// The part of a database that a question is about. Throws Error(nothing_found), with a suggestion,
/// when there is none, and Error(usage) when the question has no kernel and no family, or a kernel
/// that several families have.
[[nodiscard]] Catalogue asked_catalogue(const store::Store& store, const Question& question);

/// The best answer of the database that is a configuration (see rank); its explanation is that of
/// the ranking.
///
/// Throws Error(nothing_found), with a suggestion or with all that was looked at, when there is no
/// answer; Error(usage) when the question has no kernel and no family, a kernel that several
/// families have, or a size that does not fit the family.
[[nodiscard]] Selection select_configuration(const store::Store& store, const Question& question);

/// The best answer of a catalogue, whatever its device and environment: of a kernel, or of a family
/// that it has. Throws likewise.
[[nodiscard]] Selection select_configuration(const Catalogue& known, const Question& question);

}  // namespace tuner::select
