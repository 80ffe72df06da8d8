// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/application.hpp"
#include "tuner/cublas/product.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace tuner::cublas {

/// Counts the products that a program asks cuBLAS for, and now and then times one on the device.
/// What it costs is at most 2 % of the program's time. What was counted is written to the settings'
/// folder every few seconds and at the end, for `tune record`.
class Recorder {
 public:
  /// As the settings say. Throws Error where there is no driver, or the folder is not named.
  Recorder();
  /// Files go to `folder`.
  Recorder(std::unique_ptr<backend::Application> application, std::filesystem::path folder)
      : application_(std::move(application)), folder_(std::move(folder)) {}

  /// Notes a call; the begin of its time where it is to be timed.
  [[nodiscard]] std::optional<backend::StreamMark> begin(const ProductCall& call,
                                                         backend::StreamHandle stream,
                                                         std::optional<PassReason> objection);
  void end(const backend::StreamMark& mark, backend::StreamHandle stream);
  /// Writes what is known by now. Never fails.
  void write() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  using Key = std::array<std::int64_t, 16>;
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  /// Of equal calls.
  struct Row {
    std::string_view function;
    std::uint64_t count = 0;
    std::uint64_t captured = 0;  ///< of them: into graphs, whose runs are not seen
    std::uint64_t timed = 0;
    double timed_ns = 0;
  };

  [[nodiscard]] static Key key_of(const ProductCall& call, std::optional<PassReason> objection);
  void take_times();

  std::unique_ptr<backend::Application> application_;
  std::filesystem::path folder_;
  std::mutex mutex_;  // of what follows
  std::unordered_map<Key, Row, Hash> rows_;
  std::string device_;
  Clock::time_point last_timed_;
  Clock::time_point last_written_ = Clock::now();
};

}  // namespace tuner::cublas
