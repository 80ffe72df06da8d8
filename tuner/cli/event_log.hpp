// SPDX-License-Identifier: Apache-2.0
// A run as a stream of events for programs.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/session/observer.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <variant>

namespace tuner::cli {

/// Writes each event of a run as one line of JSON (docs/reference/command-line.md). Lines that
/// cannot be written stop nothing.
class EventLog : public session::Observer {
 public:
  /// On stderr.
  EventLog();
  /// Appends to a file. Throws Error(failure) when it cannot be opened.
  explicit EventLog(const std::filesystem::path& path);

  [[nodiscard]] bool shows_library() const override { return true; }
  void tell(const session::Event& event) override {
    std::visit([this](const auto& each) { on(each); }, event);
  }

 private:
  void on(const session::Opening& opening);
  void on(const session::SearchEstimate& estimate);
  void on(const verify::Coverage& coverage);
  void on(const session::Progress& progress);
  void on(const session::FinalBegan& final);
  void on(const session::RoundDone&) {}
  void on(const session::EnergyBegan&) {}
  void on(const session::SizeResult& result);
  void on(const session::CardJoined& joined);
  void on(const session::CardDropped& dropped);
  void write(const char* event, const Json& fields);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;  // null: stderr
  std::string kernel_;
  space::Dimensions dims_;
};

}  // namespace tuner::cli
