// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/sweep_json.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace tuner::lab {
namespace {

/// Work per second, from the work of a size and the time of a run in nanoseconds.
void add_rates(Json& json, const Json& size, double median_ns, std::optional<double> clock_mhz) {
  for (const auto& [rate, work] : {std::pair{"flops_per_s", "flops"}, {"bytes_per_s", "bytes"}}) {
    const auto amount = size.at(work).get<double>();
    if (amount > 0) json[rate] = 1e9 * amount / median_ns;
  }
  if (clock_mhz) json["cycles"] = 1e-3 * *clock_mhz * median_ns;
}

Json time_json(const SweepTime& timing, const Json& sizes, const SweepSide& side) {
  Json json = {{"contender", timing.contender},
               {"size", timing.size},
               {"outcome", name(timing.outcome)},
               {"message", timing.message},
               {"kernel", timing.kernel},
               {"config", timing.config_json.empty() ? Json() : Json::parse(timing.config_json)},
               {"compile_ms", timing.compile_ms},
               {"worst_error", number_or_null(timing.worst_error)}};
  if (timing.time) {
    json["median_ns"] = timing.time->median_ns;
    json["q1_ns"] = timing.time->q1_ns;
    json["q3_ns"] = timing.time->q3_ns;
    json["samples"] = timing.time->samples;
    const auto counter_mhz =
        side.timestamp_mhz > 0 ? std::optional(side.timestamp_mhz) : std::nullopt;
    add_rates(json, sizes[timing.size], timing.time->median_ns,
              timing.clock_mhz ? timing.clock_mhz : counter_mhz);
  }
  return json;
}

Json transfer_json(const SweepTransfer& transfer) {
  Json json = {{"contender", transfer.contender},
               {"size", transfer.size},
               {"placement", transfer.placement},
               {"outcome", name(transfer.outcome)},
               {"message", transfer.message}};
  if (transfer.times) {
    json["allocate_ns"] = transfer.times->allocate_ns;
    json["to_device_ns"] = transfer.times->to_device_ns;
    json["kernel_ns"] = transfer.times->work_ns;
    json["to_host_ns"] = transfer.times->to_host_ns;
    json["free_ns"] = transfer.times->free_ns;
    json["total_ns"] = transfer.times->total_ns();
    json["pin_ns"] = transfer.times->pin_ns;
  }
  return json;
}

Json side_json(const SweepSide& side, const Json& sizes) {
  Json times = Json::array(), transfers = Json::array(), skipped = Json::array();
  for (const SweepTime& timing : side.result.times) times.push_back(time_json(timing, sizes, side));
  for (const SweepSkip& skip : side.result.skipped) {
    skipped.push_back({{"contender", skip.contender},
                       {"placement", skip.placement},
                       {"size", skip.size},
                       {"why", skip.why}});
  }
  for (const SweepTransfer& transfer : side.result.transfers)
    transfers.push_back(transfer_json(transfer));
  return {{"name", side.name},
          {"device", side.device.name},
          {"backend", side.device.backend},
          {"cores", side.device.attributes.sm_count},
          {"driver", side.environment.driver},
          {"compiler", side.environment.compiler},
          {"library", side.environment.library},
          {"start_up",
           {{"device_ms", side.start_up.device_ms},
            {"library_ms", side.start_up.library_ms},
            {"peak_bytes_per_s", side.start_up.peak_bytes_per_s}}},
          {"times", std::move(times)},
          {"transfers", std::move(transfers)},
          {"skipped", std::move(skipped)}};
}

/// The fastest contender's times.
SweepCurve kernels_of(const SweepSide& side, std::size_t sizes) {
  SweepCurve best{.name = side.name,
                  .times_ns = std::vector<std::optional<double>>(sizes),
                  .quartiles_ns = std::vector<std::optional<std::pair<double, double>>>(sizes)};
  for (const SweepTime& timing : side.result.times) {
    auto& known = best.times_ns[timing.size];
    if (!timing.time || (known && timing.time->median_ns >= *known)) continue;
    known = timing.time->median_ns;
    best.quartiles_ns[timing.size] = std::pair(timing.time->q1_ns, timing.time->q3_ns);
  }
  return best;
}

/// The transfers of the contender with the shortest at each size.
SweepCurve transfers_of(const SweepSide& side, const Placement& placement, std::string name,
                        std::size_t sizes) {
  SweepCurve totals{.name = std::move(name), .times_ns = std::vector<std::optional<double>>(sizes)};
  for (const SweepTransfer& transfer : side.result.transfers) {
    if (transfer.placement != placement.name || !transfer.times) continue;
    auto& known = totals.times_ns[transfer.size];
    known = std::min(known.value_or(transfer.times->total_ns()), transfer.times->total_ns());
  }
  return totals;
}

Json comparison(std::string of, const SweepCurve& one, const SweepCurve& other) {
  Json stretches = Json::array();
  for (const FasterStretch& stretch : faster_stretches(one, other)) {
    stretches.push_back(
        {{"faster", stretch.faster}, {"first", stretch.first}, {"last", stretch.last}});
  }
  return {{"of", std::move(of)}, {"between", {one.name, other.name}}, {"leads", stretches}};
}

/// Which is faster where: the devices with and without transfers, and the kinds of host memory.
Json comparisons(const SweepReport& report) {
  const std::size_t sizes = report.sizes.size();
  const SweepSide& last = report.sides.back();  // the device that data travel to
  Json all = Json::array();
  if (report.sides.size() > 1) {
    const SweepCurve host = kernels_of(report.sides.front(), sizes);
    all.push_back(comparison("the kernel alone", host, kernels_of(last, sizes)));
    for (const Placement& placement : report.placements) {
      all.push_back(comparison(fmt::format("with transfers, {}", placement.name), host,
                               transfers_of(last, placement, last.name, sizes)));
    }
  }
  for (std::size_t i = 1; i < report.placements.size(); ++i) {
    const Placement &first = report.placements.front(), &other = report.placements[i];
    all.push_back(comparison("with transfers", transfers_of(last, first, first.name, sizes),
                             transfers_of(last, other, other.name, sizes)));
  }
  return all;
}

/// Whether all devices computed the same exact results; null where only one did.
Json agreement(const SweepReport& report) {
  if (report.sides.size() < 2) return {};
  const auto& one = report.sides[0].result.exact_results;
  const auto& other = report.sides[1].result.exact_results;
  Json agree;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    if (one[i].empty() || other[i].empty()) continue;
    agree =
        agree.is_null() ? Json(one[i] == other[i]) : Json(agree.get<bool>() && one[i] == other[i]);
  }
  return agree;
}

Json placement_json(const SweepReport& report, const Placement& placement) {
  Json places = Json::object();
  std::size_t buffer = 0;
  for (const family::Argument& argument : report.family.arguments) {
    if (!std::holds_alternative<family::BufferArgument>(argument.what)) continue;
    places[argument.name] = measure::name(placement.places[buffer++]);
  }
  return {{"name", placement.name}, {"places", std::move(places)}};
}

/// What bounds a rate at each size: the fastest kernel of the bound's family, or a contender that
/// is faster and so shows that it was none.
SweepCurve bound_of(const SweepReport& report) {
  if (!report.bound) return {};
  SweepCurve bound = kernels_of(*report.bound, report.sizes.size());
  const SweepCurve own = kernels_of(report.sides.back(), report.sizes.size());
  for (std::size_t size = 0; size < bound.times_ns.size(); ++size) {
    auto& ns = bound.times_ns[size];
    if (ns && own.times_ns[size]) ns = std::min(*ns, *own.times_ns[size]);
  }
  return bound;
}

/// Adds to the times of a side what shares of the memory's peak and of the bound their rates are.
void add_shares(Json& side, const SweepReport& report) {
  const double peak = side["start_up"]["peak_bytes_per_s"].get<double>();
  const SweepCurve bound = bound_of(report);
  for (Json& timing : side["times"]) {
    if (!timing.contains("median_ns")) continue;
    if (peak > 0 && timing.contains("bytes_per_s")) {
      timing["of_peak"] = timing["bytes_per_s"].get<double>() / peak;
    }
    const auto size = timing["size"].get<std::size_t>();
    if (size < bound.times_ns.size() && bound.times_ns[size]) {
      timing["of_bound"] = *bound.times_ns[size] / timing["median_ns"].get<double>();
    }
  }
}

}  // namespace

Json sweep_json(const SweepReport& report) {
  Json sizes = Json::array(), placements = Json::array(), sides = Json::array();
  for (const space::Size& size : report.sizes) {
    sizes.push_back({{"size", space::canonical_size(size, report.family.problem.dims)},
                     {"label", space::display(size, report.family.problem.dims)},
                     {"flops", family::flops_at(report.family.problem, size)},
                     {"bytes", family::bytes_at(report.family.problem, size)}});
  }
  for (const Placement& each : report.placements)
    placements.push_back(placement_json(report, each));
  for (const SweepSide& side : report.sides) sides.push_back(side_json(side, sizes));
  Json bound = report.bound ? side_json(*report.bound, sizes) : Json();
  add_shares(sides.back(), report);
  if (report.bound) add_shares(bound, report);
  return {{"schema", "tune.sweep/2"},
          {"family", report.family.name},
          {"measured_at", fmt::format("{:%F}", std::chrono::system_clock::now())},
          {"vector_bits", report.vector_bits},
          {"sizes", std::move(sizes)},
          {"placements", std::move(placements)},
          {"sides", std::move(sides)},
          {"bound", std::move(bound)},
          {"agree", agreement(report)},
          {"comparisons", comparisons(report)}};
}

}  // namespace tuner::lab
