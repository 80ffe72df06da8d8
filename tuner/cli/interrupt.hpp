// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>
#include <optional>

namespace tuner::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is a request to stop soon, the second ends
/// the process at once, and its workers with it. A signal that this process was started to ignore,
/// as by nohup, stays ignored. One at a time; any thread may ask it.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] bool requested() const;
  /// 128 + the signal's number once requested.
  [[nodiscard]] std::optional<int> exit_code() const;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace tuner::cli
