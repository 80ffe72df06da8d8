// SPDX-License-Identifier: Apache-2.0
// A family whose kernels are never compiled and a device that takes the time it is told to take:
// what a run does is then known in advance.
#pragma once

#include "tests/support/scripted_backend.hpp"
#include "tuner/family/family.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::session {

inline const auto kNeverStop = [] { return false; };

}  // namespace tuner::session

namespace tuner::session::toy {

/// Twelve configurations toy<TILE,DEPTH>; the default is toy<2,1>.
inline constexpr std::string_view kDocument = R"json({
  "format": "space/1",
  "family": "toy",
  "problem": {"dims": ["N"], "flops": "2*N*N*N", "bytes": "12*N*N"},
  "arguments": [
    {"name": "A", "type": "float*", "count": "N*N"},
    {"name": "B", "type": "float*", "count": "N*N"},
    {"name": "C", "type": "float*", "count": "N*N", "role": "output"}
  ],
  "check": {
    "reference": {"op": "gemm", "m": "N", "n": "N", "k": "N", "a": "A", "b": "B", "c": "C"},
    "accumulates": "N"
  },
  "kernels": {
    "toy": {
      "source": "toy.cu",
      "entry": "toy<${TILE},${DEPTH}>",
      "parameters": {
        "TILE": {"values": [1, 2, 3, 4], "default": 2},
        "DEPTH": {"values": [1, 2, 3], "default": 1}
      },
      "constraints": [{"expr": "TILE*DEPTH <= 12", "why": "a limit"}],
      "launch": {"grid": ["ceil_div(N, TILE)"], "block": ["32"], "dynamic_shared_bytes": "4*TILE"}
    }
  }
})json";

/// The family with one piece of its document replaced by another.
[[nodiscard]] inline family::Family family_with(std::string_view piece, std::string_view other) {
  std::string text(kDocument);
  text.replace(text.find(piece), piece.size(), other);
  return family::parse_family(
      text, "toy.json", {{"toy", {.name = "toy.cu", .text = "// never compiled", .headers = {}}}});
}

/// The family, its one constraint replaced.
[[nodiscard]] inline family::Family family(std::string_view constraint = "TILE*DEPTH <= 12") {
  return family_with("TILE*DEPTH <= 12", constraint);
}

/// A configuration of the family: "TILE=3,DEPTH=2", or "" for the default.
[[nodiscard]] inline space::Config config(const family::Family& family, std::string_view text) {
  return space::config_from_text(*family.kernels.front().space, text);
}

/// How a kernel behaves.
struct Behaviour {
  double time_ns = 1000;
  std::optional<Outcome> failure = {};
  backend::Resources resources = {};
};

/// A device on which a kernel behaves as `behaviours` says of its entry, else as Behaviour{}. What
/// is no candidate, the kernels that check, just succeeds.
class Device : public testing_support::ScriptedBackend {
 public:
  Device() : ScriptedBackend([this](const backend::Work& work) { return answer(work); }) {}

  Expected<backend::Binary, Failure> compile(const family::CompileJob& job) const override {
    if (!is_candidate(job.entries.front())) return ScriptedBackend::compile(job);
    {
      const std::scoped_lock lock(mutex_);
      compiled_.push_back(job.entries.front());
    }
    if (on_compile) on_compile(job.entries.front());
    if (behaviour(job.entries.front()).failure == Outcome::compile_error) {
      return Unexpected(Failure{Outcome::compile_error, job.entries.front() + " does not compile"});
    }
    return ScriptedBackend::compile(job);
  }
  Expected<std::vector<backend::Sample>, Failure> time(const backend::Work& work,
                                                       const backend::SamplePlan& plan) override {
    if (library_failure && !std::holds_alternative<backend::Launch>(work)) {
      return Unexpected(Failure{*library_failure, "the library fails"});
    }
    return ScriptedBackend::time(work, plan);
  }
  std::vector<backend::Resources> resources(backend::KernelId kernel) const override {
    return {behaviour(symbol(kernel)).resources};
  }
  /// Reading the reports of an inspection, the output's first, after a candidate that computes
  /// nonsense, finds it.
  void read(backend::Region, std::span<std::byte> data) const override {
    constexpr std::array<std::uint64_t, 3> kOneWrong{1, 0, 0};
    if (wrong_ && data.size() >= sizeof kOneWrong) {
      std::memcpy(data.data(), kOneWrong.data(), sizeof kOneWrong);
    }
  }

  /// The entries compiled, in order, repeated ones too.
  [[nodiscard]] std::vector<std::string> compiled() const {
    const std::scoped_lock lock(mutex_);
    return compiled_;
  }

  std::map<std::string, Behaviour> behaviours;  ///< by entry
  double library_ns = 1000;
  std::map<std::string, double> algorithm_ns;          ///< of the library, by algorithm
  std::optional<Outcome> library_failure;              ///< when it is timed
  std::map<std::string, int> launches;                 ///< of candidates, by entry
  std::function<void(const std::string&)> on_launch;   ///< if set, called with a candidate's entry
  std::function<void(const std::string&)> on_compile;  ///< the same, while it is compiled

 private:
  static bool is_candidate(const std::string& entry) { return entry.starts_with("toy<"); }

  [[nodiscard]] Behaviour behaviour(const std::string& entry) const {
    const auto found = behaviours.find(entry);
    return found == behaviours.end() ? Behaviour{} : found->second;
  }

  Expected<double, Failure> answer(const backend::Work& work) {
    const auto* launch = std::get_if<backend::Launch>(&work);
    if (const auto* call = std::get_if<backend::LibraryCall>(&work)) {
      const auto known = algorithm_ns.find(call->algorithm);
      return known == algorithm_ns.end() ? library_ns : known->second;
    }
    if (launch == nullptr) return library_ns;
    const std::string entry = symbol(launch->kernel);
    if (!is_candidate(entry)) return 1.0;
    ++launches[entry];
    if (on_launch) on_launch(entry);
    const auto [time_ns, failure, resources] = behaviour(entry);
    wrong_ = failure == Outcome::wrong_result;
    if (failure && !wrong_) return Unexpected(Failure{*failure, entry + " fails"});
    return time_ns;
  }

  mutable std::mutex mutex_;  // of what compiling threads touch
  mutable std::vector<std::string> compiled_;
  bool wrong_ = false;
};

}  // namespace tuner::session::toy
