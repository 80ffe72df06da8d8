// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/observer.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace tuner::cli {

/// Tells of a run on stderr: on a terminal one line redrawn at most ten times a second,
/// elsewhere a plain line for every new best and one every 30 s; or a line for each trial. Quiet,
/// it says nothing.
class ProgressPrinter : public session::Observer {
 public:
  enum class Style { silent, plain, redrawn };
  enum class Trials { summarised, each };
  /// What suits stderr: redrawn on a terminal that is not "dumb" and outside CI.
  [[nodiscard]] static Style style_for_stderr();

  ProgressPrinter(Style style, Trials trials) : style_(style), trials_(trials) {}

  [[nodiscard]] bool shows_library() const override { return style_ != Style::silent; }
  void tell(const session::Event& event) override {
    std::visit([this](const auto& each) { on(each); }, event);
  }

 private:
  void on(const session::Opening& opening);
  void on(const session::SearchEstimate& estimate);
  void on(const verify::Coverage& coverage);
  void on(const session::Progress& progress);
  void on(const session::FinalBegan& final);
  void on(const session::RoundDone& round);
  void on(const session::EnergyBegan& energy);
  void on(const session::SizeResult& result);
  void on(const session::CardJoined& joined);
  void on(const session::CardDropped& dropped);
  [[nodiscard]] std::string line(const session::Progress& progress) const;
  /// "[1] " in a run on several cards, else nothing.
  [[nodiscard]] std::string on_card(std::string_view card) const;
  void announce(const std::string& text);  // a line that stays
  void announce_trial(const session::Progress& progress);
  void redraw(const std::string& text);  // a line that the next one replaces
  /// Whether the line may be drawn anew; then it counts as drawn.
  [[nodiscard]] bool may_redraw();

  using SteadyClock = std::chrono::steady_clock;
  Style style_;
  Trials trials_;
  std::string kernel_;               // what has been opened
  std::string library_;              // "cuBLAS"
  std::string final_;                // the final round that goes on
  std::set<std::string> told_gaps_;  // in the coverage of references
  // The line that is redrawn appears with the first trial, however soon that is over.
  SteadyClock::time_point last_ =
      style_ == Style::redrawn ? SteadyClock::time_point() : SteadyClock::now();
  bool line_is_open_ = false;
  space::Dimensions dims_;  // of what has been opened
  std::map<space::Size, double> best_ns_;
  std::map<std::string, std::uint64_t, std::less<>>
      cards_;               // trials by card, where there are several
  std::string first_card_;  // the name
};

}  // namespace tuner::cli
