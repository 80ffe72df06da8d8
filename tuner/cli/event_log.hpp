// SPDX-License-Identifier: Apache-2.0
// A run as a stream of events for programs.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/session/observer.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

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
  void opened(const session::Opening& opening) override;
  void estimated(std::chrono::milliseconds search) override;
  void covered(const verify::Coverage& coverage) override;
  void progressed(const session::Progress& progress) override;
  void final_began(const space::Size& size, std::size_t contenders,
                   session::LibraryPart library) override;
  void size_done(const session::SizeResult& result) override;
  void card_joined(const session::CardName& card) override;
  void card_dropped(const session::CardName& card, const std::string& reason) override;

 private:
  void write(const char* event, const Json& fields);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;  // null: stderr
  std::string kernel_;
  space::Dimensions dims_;
};

}  // namespace tuner::cli
