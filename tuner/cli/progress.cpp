// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/progress.hpp"

#include "tuner/cli/coverage.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/session/side_by_side_timer.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <unistd.h>

namespace tuner::cli {
namespace {

/// The first line, of a compiler's output the first with an error: g++ begins with the function.
std::string telling_line(const std::string& message) {
  const std::size_t error = message.find("error: ");
  const std::size_t begin = error == std::string::npos ? 0 : message.rfind('\n', error) + 1;
  return message.substr(begin, message.find('\n', begin) - begin);
}

}  // namespace

ProgressPrinter::Style ProgressPrinter::style_for_stderr() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  if (::isatty(STDERR_FILENO) == 0 || dumb || std::getenv("CI") != nullptr) return Style::plain;
  return Style::redrawn;
}

void ProgressPrinter::announce(const std::string& text) {
  if (style_ == Style::silent) return;
  if (line_is_open_) draw("\r\x1b[K");
  cli::tell(text + "\n");
  line_is_open_ = false;
}

void ProgressPrinter::redraw(const std::string& text) {
  // A line that the terminal breaks would not be replaced.
  const std::size_t width = Terminal(STDERR_FILENO, ColorChoice::never).width();
  const bool is_cut = text_width(text) >= width;
  draw(fmt::format("\r{:.{}}{}\x1b[K", text, is_cut ? width - 4 : width, is_cut ? "…" : ""));
  line_is_open_ = true;
}

bool ProgressPrinter::may_redraw() {
  const auto now = SteadyClock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return false;
  last_ = now;
  return true;
}

void ProgressPrinter::on(const session::Opening& opening) {
  kernel_ = opening.kernel->name;
  dims_ = opening.kernel->space->dims;
  const std::string& library = opening.environment.library;
  library_ = library.empty() ? "the library" : library.substr(0, library.find(' '));
  cards_.clear();
  first_card_ = opening.cards.front().name;
  if (opening.cards.size() > 1 || !opening.cards.front().host.empty()) {
    for (const session::CardName& card : opening.cards) cards_[card.name];
  }
  announce(fmt::format("{} on {}{} ({}, {}, {})", opening.kernel->name,
                       cards_.empty() ? "" : fmt::format("{} × ", cards_.size()),
                       opening.device.name, opening.device.architecture,
                       opening.environment.compiler, opening.environment.library));
  if (!cards_.empty()) {
    for (const session::CardName& card : opening.cards) {
      announce(fmt::format("  device {}: {}", card.name, format_card(card)));
    }
  }
  for (const session::Opening::SizePlan& size : opening.sizes) {
    std::string text =
        fmt::format("  {}: {} valid of {} configurations, {} to evaluate",
                    space::display(size.size, dims_), quantity::count(size.valid),
                    quantity::count(opening.cartesian), quantity::count(size.planned));
    if (size.known > 0) {
      text += fmt::format("; resuming: {} {} already in the database (--fresh runs {} again)",
                          quantity::count(size.known, "result"), size.known == 1 ? "is" : "are",
                          size.known == 1 ? "it" : "them");
    }
    announce(text);
  }
  announce(fmt::format("  compiling on {} thread{}; Ctrl-C ends the search and keeps all results",
                       opening.compile_threads, opening.compile_threads == 1 ? "" : "s"));
}

void ProgressPrinter::on(const session::SearchEstimate& estimate) {
  announce(fmt::format("  estimated search time: {}", quantity::duration(estimate.search)));
}

void ProgressPrinter::on(const verify::Coverage& coverage) {
  constexpr std::size_t kMostShown = 3;
  const std::vector<std::string> lines = coverage_warning(coverage, kMostShown);
  // A family has the same gaps on another device, and with another kernel.
  if (lines.empty() || !told_gaps_.insert(lines.back()).second) return;
  announce("warning: " + lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) announce(lines[i]);
}

std::string ProgressPrinter::line(const session::Progress& progress) const {
  std::string text = fmt::format("  {}: {}/{}", kernel_, progress.evaluated, progress.planned);
  if (const auto best = best_ns_.find(progress.size); best != best_ns_.end()) {
    text += fmt::format("  {}: best {}", space::display(progress.size, dims_),
                        quantity::time(best->second));
    if (progress.flops > 0 || progress.bytes > 0) {
      text += fmt::format(" ({})", format_rate(progress.flops, progress.bytes, best->second));
    }
    if (progress.library_ns) {
      text += fmt::format(" {} {}", format_ratio(*progress.library_ns / best->second), library_);
    }
  }
  if (progress.remaining) text += fmt::format("  {} left", quantity::duration(*progress.remaining));
  text += fmt::format("  failed: {}", format_failures(progress.outcomes));
  for (const auto& [card, trials] : cards_) text += fmt::format("  [{}] {}", card, trials);
  return text;
}

void ProgressPrinter::announce_trial(const session::Progress& progress) {
  const store::TrialRecord& trial = *progress.trial;
  announce(printable(fmt::format(
      "  {}{} {}: {}{}", on_card(progress.card), space::display(progress.size, dims_),
      trial.config_json,
      trial.time ? quantity::time(trial.time->median_ns) : std::string(name(trial.outcome)),
      trial.message.empty() ? "" : ": " + telling_line(trial.message))));
}

void ProgressPrinter::on(const session::Progress& progress) {
  if (style_ == Style::silent) return;
  if (const auto card = cards_.find(progress.card); card != cards_.end()) ++card->second;
  if (progress.new_best) best_ns_[progress.size] = *progress.ranking_ns;
  if (trials_ == Trials::each && !progress.reused) announce_trial(progress);
  if (style_ == Style::redrawn) {
    if (may_redraw()) redraw(line(progress));
    return;
  }
  const auto now = SteadyClock::now();
  const bool is_news = progress.new_best && !progress.reused;
  if (!is_news && now - last_ < std::chrono::seconds(30)) return;
  announce(line(progress));
  last_ = now;
}

void ProgressPrinter::on(const session::FinalBegan& final) {
  final_ =
      fmt::format("re-timing {}{}", quantity::count(final.contenders, "finalist"),
                  final.library == session::LibraryPart::excluded ? "" : " against " + library_);
  announce(fmt::format("  {}: final round: {}", space::display(final.size, dims_), final_));
  // It may be over before the next redraw is due.
  if (style_ == Style::redrawn) last_ = {};
}

void ProgressPrinter::on(const session::RoundDone& round) {
  if (style_ != Style::redrawn || !may_redraw()) return;
  redraw(fmt::format("  {}: {}: repetition {} of at most {}: {}", kernel_,
                     space::display(round.size, dims_), round.rounds, round.most, final_));
}

void ProgressPrinter::on(const session::EnergyBegan& energy) {
  announce(fmt::format("  {}: measuring the energy of {}, {} (--no-energy leaves it out)",
                       space::display(energy.size, dims_),
                       quantity::count(energy.contenders, "contender"),
                       quantity::duration(std::chrono::duration<double>(energy.seconds))));
}

void ProgressPrinter::on(const session::SizeResult& result) {
  if (result.evaluated == 0) return;  // not reached: the table says so
  if (!result.best) {
    announce(fmt::format("  {}: no configuration ended ok ({})", space::display(result.size, dims_),
                         format_failures(result.outcomes)));
    return;
  }
  std::string text = quantity::time(store::ranking_ns(*result.best));
  const bool is_back_to_back = store::is_back_to_back(*result.best);
  if (is_back_to_back) text += " back to back";
  if (result.finalists.empty()) text += " (by search times)";
  if (result.best->ratio_to_library) {
    text += fmt::format(", {} {}", format_ratio(result.best->ratio_to_library), library_);
  }
  if (const auto gain = store::cold_gain(*result.best)) {
    text += fmt::format(", {} default{}", format_ratio(gain), is_back_to_back ? " (cold)" : "");
  }
  if (!result.winner_display.empty()) text += ": " + result.winner_display;
  announce(fmt::format("  {}{}: {}", on_card(result.card.name), space::display(result.size, dims_),
                       text));
}

void ProgressPrinter::on(const session::CardJoined& joined) {
  const session::CardName& card = joined.card;
  for (const std::string& name : {first_card_, card.name}) cards_[name];
  announce(fmt::format("  device {} joins: {}", card.name, format_card(card)));
}

void ProgressPrinter::on(const session::CardDropped& dropped) {
  announce(
      printable(fmt::format("  device {} {} is dropped, its sizes continue on other devices: {}",
                            dropped.card.name, format_card(dropped.card), dropped.reason)));
}

std::string ProgressPrinter::on_card(std::string_view card) const {
  return cards_.empty() ? "" : fmt::format("[{}] ", card);
}

}  // namespace tuner::cli
