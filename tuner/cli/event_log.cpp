// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/event_log.hpp"

#include "tuner/cli/coverage.hpp"
#include "tuner/core/file.hpp"
#include "tuner/session/side_by_side_timer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <utility>

namespace tuner::cli {
namespace {

Json card_json(const session::CardName& card) {
  Json json = {{"card", card.name}, {"uuid", card.uuid}};
  if (!card.host.empty()) json["host"] = card.host;
  return json;
}

/// UTC, to a millisecond.
std::string now() {
  const auto time = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (time - seconds).count());
}

}  // namespace

EventLog::EventLog() = default;

EventLog::EventLog(const std::filesystem::path& path) : file_(open_to_append(path)) {}

void EventLog::write(const char* event, const Json& fields) {
  Json line = {{"event", event}, {"at", now()}, {"kernel", kernel_}};
  line.update(fields);
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::FILE* const file = file_ == nullptr ? stderr : file_.get();
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

void EventLog::on(const session::Opening& opening) {
  kernel_ = opening.kernel->name;
  dims_ = opening.kernel->space->dims;
  Json sizes = Json::array();
  for (const session::Opening::SizePlan& size : opening.sizes) {
    sizes.push_back({{"size", space::canonical_size(size.size, dims_)},
                     {"valid", size.valid},
                     {"planned", size.planned},
                     {"known", size.known}});
  }
  Json cards = Json::array();
  for (const session::CardName& card : opening.cards) {
    cards.push_back(card_json(card));
  }
  write("opened", {{"device", opening.device.name},
                   {"cards", std::move(cards)},
                   {"driver", opening.environment.driver},
                   {"compiler", opening.environment.compiler},
                   {"library", opening.environment.library},
                   {"sizes", std::move(sizes)}});
}

void EventLog::on(const session::SearchEstimate& estimate) {
  write("estimated", {{"search_s", static_cast<double>(estimate.search.count()) / 1e3}});
}

void EventLog::on(const verify::Coverage& coverage) {
  write("coverage", coverage_json(coverage));
}

void EventLog::on(const session::Progress& progress) {
  const store::TrialRecord& trial = *progress.trial;
  write("trial", {{"size", trial.problem},
                  {"config", parse_json(trial.config_json, "a configuration")},
                  {"outcome", name(trial.outcome)},
                  {"message", trial.message},
                  {"median_ns", trial.time ? Json(trial.time->median_ns) : Json()},
                  {"library_ns", number_or_null(progress.library_ns)},
                  {"card", progress.card},
                  {"reused", progress.reused},
                  {"new_best", progress.new_best},
                  {"ranking_ns", number_or_null(progress.ranking_ns)},
                  {"evaluated", progress.evaluated},
                  {"planned", progress.planned}});
}

void EventLog::on(const session::FinalBegan& final) {
  write("final", {{"size", space::canonical_size(final.size, dims_)},
                  {"finalists", final.contenders},
                  {"library", final.library != session::LibraryPart::excluded}});
}

void EventLog::on(const session::SizeResult& result) {
  Json fields = {{"size", space::canonical_size(result.size, dims_)},
                 {"card", result.card.name},
                 {"config", nullptr}};
  if (result.best) {
    fields["config"] = parse_json(result.best->config_json, "a configuration");
    fields["median_ns"] = result.best->time.median_ns;
    fields["ratio_to_library"] = number_or_null(result.best->ratio_to_library);
    fields["ratio_to_default"] = number_or_null(store::cold_gain(*result.best));
  }
  write("size", fields);
}

void EventLog::on(const session::CardJoined& joined) {
  write("joined", card_json(joined.card));
}

void EventLog::on(const session::CardDropped& dropped) {
  Json fields = card_json(dropped.card);
  fields["reason"] = dropped.reason;
  write("dropped", fields);
}

}  // namespace tuner::cli
