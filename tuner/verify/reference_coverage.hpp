// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/source/probes.hpp"
#include "tuner/verify/coverage.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tuner::verify {

/// Collects which parts of a family's reference kernel launches of a probed copy of it reach.
class ReferenceCoverage {
 public:
  /// The family must outlive it.
  explicit ReferenceCoverage(const family::Family& family);

  /// Whether another launch could show more.
  [[nodiscard]] bool is_open() const;
  /// Nothing more is collected.
  void close() { closed_ = true; }

  /// The reference's compilation with probes: another kernel behind its own takes a buffer of
  /// notes_bytes().
  [[nodiscard]] family::CompileJob probed(const family::CompileJob& job);
  /// The probed copy does not compile: whether it is to be tried with fewer probes.
  [[nodiscard]] bool retry_with_fewer();
  [[nodiscard]] std::size_t notes_bytes() const { return notes_.size(); }
  /// The launch of the kernel behind.
  [[nodiscard]] static backend::StepLaunch reading(backend::Region notes);
  /// What a launch noted; notes_bytes().
  void add(std::span<const std::byte> notes);
  /// The probed copy cannot run.
  void fail(const Failure& failure);

  [[nodiscard]] Coverage coverage() const;

 private:
  [[nodiscard]] bool was(std::size_t probe, source::ProbeNotes::Outcome outcome) const;
  /// Whether a condition or a label was reached whose outcome may depend on inputs.
  [[nodiscard]] bool is_seen(std::size_t probe) const;
  /// Whether a condition was seen, but not with this value.
  [[nodiscard]] bool lacks(std::size_t probe, bool value) const;
  /// Whether an operand of it lacks the value.
  [[nodiscard]] bool operand_lacks(std::size_t probe, bool value) const;
  [[nodiscard]] std::vector<Unseen> unseen(std::size_t probe) const;
  [[nodiscard]] std::string advice(const source::Probe& probe, Unseen unseen) const;

  const family::Family& family_;
  source::ProbeExtent extent_ = source::ProbeExtent::everything;
  std::vector<source::Probe> probes_;
  std::vector<std::byte> notes_;  // of all launches
  bool has_notes_ = false;
  std::string problem_;
  bool closed_ = false;
};

}  // namespace tuner::verify
