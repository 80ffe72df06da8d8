// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/observer.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

namespace tuner::cli {

/// Rewrites the report's page of a run's device while it runs: after trials, every five seconds at
/// most and in a twentieth of the time, and after each size. A page that cannot be written is
/// reported once.
class LiveReport final : public session::Observer {
 public:
  /// Reads `database` itself; `where` is that of report::page_path.
  LiveReport(std::filesystem::path database, std::filesystem::path where)
      : database_(std::move(database)), where_(std::move(where)) {}

  void tell(const session::Event& event) override;

 private:
  using Clock = std::chrono::steady_clock;
  void write();

  std::filesystem::path database_, where_;
  std::string device_;
  Clock::time_point next_ = Clock::now();
  bool told_ = false;
};

}  // namespace tuner::cli
