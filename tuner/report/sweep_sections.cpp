// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/sweep_sections.hpp"

#include "tuner/core/error.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tuner::report {
namespace {

std::string text(const Json& object, const char* key) {
  return object.at(key).get<std::string>();
}

std::optional<double> number(const Json& object, const char* key) {
  return object.contains(key) ? std::optional(object.at(key).get<double>()) : std::nullopt;
}

std::string size_label(const Json& sweep, const Json& index) {
  return format_size(text(sweep.at("sizes").at(index.get<std::size_t>()), "size"));
}

/// "CPU naive": who ran where.
std::string contender_label(const Json& side, const Json& timing) {
  return fmt::format("{} {}", text(side, "name"), text(timing, "contender"));
}

/// "CPU from 64×64×64 to 128×128×128, then GPU from 256×256×256 to 4096×4096×4096".
std::string leads_text(const Json& sweep, const Json& leads) {
  std::string sentence;
  for (const Json& lead : leads) {
    const std::string first = size_label(sweep, lead.at("first"));
    const std::string last = size_label(sweep, lead.at("last"));
    sentence +=
        fmt::format("{}{} {}", sentence.empty() ? "" : ", then ", text(lead, "faster"),
                    first == last ? "at " + first : fmt::format("from {} to {}", first, last));
  }
  return sentence;
}

/// What the comparisons whose subject `is_subject` accepts say, a sentence each behind a space.
template <class IsSubject>
std::string comparisons_text(const Json& sweep, const IsSubject& is_subject) {
  std::string sentences;
  for (const Json& each : sweep.at("comparisons")) {
    if (!is_subject(text(each, "of")) || each.at("leads").empty()) continue;
    const auto name = [&](std::size_t i) { return each.at("between").at(i).get<std::string>(); };
    sentences += fmt::format(" {} or {}, {}: faster is {}.", name(0), name(1), text(each, "of"),
                             leads_text(sweep, each.at("leads")));
  }
  return sentences;
}

/// "Skipped: CPU naive from 2048×2048×2048."
std::string skipped_text(const Json& sweep) {
  std::map<std::string, std::size_t> first;
  for (const Json& side : sweep.at("sides")) {
    for (const Json& skip : side.value("skipped", Json::array())) {
      if (!text(skip, "placement").empty()) continue;
      const std::string who = text(skip, "contender").empty()
                                  ? text(side, "name") + " every contender"
                                  : contender_label(side, skip);
      first.try_emplace(who, skip.at("size").get<std::size_t>());
    }
  }
  std::string sentence;
  for (const auto& [who, size] : first) {
    sentence += fmt::format("{}{} from {}", sentence.empty() ? " Skipped: " : ", ", who,
                            size_label(sweep, size));
  }
  return sentence.empty() ? "" : sentence + ".";
}

/// Times over sizes, a column for each of those that have one.
class CurvesTable {
 public:
  explicit CurvesTable(const Json& sweep)
      : table_(make_table({{"size", "Size", "text"}, {"extent", kMeanOfDimensions, "number"}})) {
    for (const Json& size : sweep.at("sizes")) {
      table_["rows"].push_back(
          {format_size(text(size, "size")), rounded(mean_extent(text(size, "size")))});
    }
  }

  /// Without a time there is only the column.
  void add(const std::string& label, const Json& size, const std::optional<double>& time_ns) {
    const auto [column, is_new] = column_of_.try_emplace(label, table_["columns"].size());
    if (is_new) {
      table_["columns"].push_back(Json{{"key", label}, {"label", label}, {"kind", "time"}});
      for (Json& row : table_["rows"]) row.push_back(nullptr);
    }
    if (time_ns) table_["rows"].at(size.get<std::size_t>()).at(column->second) = rounded(*time_ns);
  }
  void add_times(const Json& side) {
    for (const Json& timing : side.at("times")) {
      add(contender_label(side, timing), timing.at("size"), number(timing, "median_ns"));
    }
  }

  [[nodiscard]] Json table() && { return std::move(table_); }

 private:
  Json table_;
  std::map<std::string, std::size_t> column_of_;
};

/// Every contender's time at every size.
Json curves_section(const Json& sweep) {
  CurvesTable curves(sweep);
  for (const Json& side : sweep.at("sides")) curves.add_times(side);
  const auto is_kernel = [](const std::string& of) { return of == "the kernel alone"; };
  return make_section(
      "curves", "Fastest contender over sizes",
      "The kernel's time." + comparisons_text(sweep, is_kernel) + skipped_text(sweep),
      std::move(curves).table());
}

/// Curves of times with the transfers to the device and back, for one way to keep data on the host.
Json transfer_curves_section(const Json& sweep, const std::string& placement) {
  CurvesTable curves(sweep);
  const Json& device = sweep.at("sides").back();
  for (const Json& side : sweep.at("sides")) {
    if (&side != &device) curves.add_times(side);
  }
  for (const Json& transfer : device.at("transfers")) {
    if (text(transfer, "placement") != placement) continue;
    curves.add(contender_label(device, transfer), transfer.at("size"),
               number(transfer, "total_ns"));
  }
  const auto is_this = [&](const std::string& of) {
    return of == fmt::format("with transfers, {}", placement);
  };
  return make_section("curves", fmt::format("With transfers, {}", placement),
                      "Allocation, copies, kernel and free." + comparisons_text(sweep, is_this),
                      std::move(curves).table());
}

/// What a transfer's parts take.
Json split_section(const Json& sweep) {
  Json table = make_table({{"size", "Size", "text"},
                           {"transfer", "Contender, host memory", "text"},
                           {"allocate_ns", "Allocation", "time"},
                           {"to_device_ns", "To the device", "time"},
                           {"kernel_ns", "Kernel", "time"},
                           {"to_host_ns", "To the host", "time"},
                           {"free_ns", "Free", "time"},
                           {"total_ns", "Total", "time"}});
  for (const Json& side : sweep.at("sides")) {
    for (const Json& transfer : side.at("transfers")) {
      if (!transfer.contains("total_ns")) continue;
      Json row = {size_label(sweep, transfer.at("size")),
                  fmt::format("{}, {}", text(transfer, "contender"), text(transfer, "placement"))};
      for (const char* const part :
           {"allocate_ns", "to_device_ns", "kernel_ns", "to_host_ns", "free_ns", "total_ns"}) {
        row.push_back(cell(number(transfer, part)));
      }
      table["rows"].push_back(std::move(row));
    }
  }
  const auto is_total = [](const std::string& of) { return of == "with transfers"; };
  return make_section(
      "split", "Parts of a transfer",
      "Medians of five repetitions after one warm-up." + comparisons_text(sweep, is_total),
      std::move(table));
}

/// The shortest time at a size of those in a list that `takes_part` accepts.
template <class TakesPart>
std::optional<double> shortest(const Json& list, const char* key, std::size_t size,
                               const TakesPart& takes_part) {
  std::optional<double> best;
  for (const Json& each : list) {
    const auto time_ns = number(each, key);
    if (!time_ns || each.at("size") != size || !takes_part(each)) continue;
    best = std::min(best.value_or(*time_ns), *time_ns);
  }
  return best;
}

/// How many times the fastest on the device is faster than the fastest on the processor.
Json ratios_section(const Json& sweep) {
  const Json& host = sweep.at("sides").front();
  const Json& device = sweep.at("sides").back();
  Json table = make_table({{"size", "Size", "text"}, {"kernel", "Kernel alone", "factor"}});
  for (const Json& placement : sweep.at("placements")) {
    const std::string name = text(placement, "name");
    table["columns"].push_back(
        Json{{"key", name}, {"label", "With transfers, " + name}, {"kind", "factor"}});
  }
  const auto any = [](const Json&) { return true; };
  std::string answer;
  for (std::size_t i = 0; i < sweep.at("sizes").size(); ++i) {
    const auto host_ns = shortest(host.at("times"), "median_ns", i, any);
    const auto over = [&](const std::optional<double>& device_ns) {
      return cell(host_ns && device_ns ? std::optional(*host_ns / *device_ns) : std::nullopt);
    };
    Json row = {size_label(sweep, i), over(shortest(device.at("times"), "median_ns", i, any))};
    for (const Json& placement : sweep.at("placements")) {
      row.push_back(over(shortest(device.at("transfers"), "total_ns", i, [&](const Json& transfer) {
        return transfer.at("placement") == placement.at("name");
      })));
    }
    if (!row[1].is_null()) {
      answer = fmt::format("At {} the fastest on {} is {} as fast as the fastest on {}.",
                           size_label(sweep, i), text(device, "name"),
                           format_factor(row[1].get<double>()), text(host, "name"));
    }
    table["rows"].push_back(std::move(row));
  }
  return make_section("ratios", fmt::format("{} over {}", text(device, "name"), text(host, "name")),
                      answer, std::move(table));
}

/// By how much each is faster than the slowest at the same size.
Json speedups_section(const Json& sweep) {
  struct Time {
    std::string label;
    double median_ns = 0;
    Json rate, cycles;
  };
  std::vector<std::vector<Time>> sizes(sweep.at("sizes").size());
  for (const Json& side : sweep.at("sides")) {
    for (const Json& timing : side.at("times")) {
      if (!timing.contains("median_ns")) continue;
      const auto size = timing.at("size").get<std::size_t>();
      const auto median_ns = timing.at("median_ns").get<double>();
      const auto flops = sweep.at("sizes").at(size).at("flops").get<double>();
      sizes.at(size).push_back({.label = contender_label(side, timing),
                                .median_ns = median_ns,
                                .rate = flops > 0 ? Json(rounded(flops / median_ns)) : Json(),
                                .cycles = cell(number(timing, "cycles"))});
    }
  }
  Json table = make_table({{"size", "Size", "text"},
                           {"contender", "Contender", "text"},
                           {"median_ns", "Cold median", "time"},
                           {"rate", "GFLOP/s", "number"},
                           {"cycles", "Cycles", "number"},
                           {"speedup", "Over the slowest", "factor"}});
  std::string answer;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto& times = sizes[i];
    if (times.empty()) continue;
    std::ranges::sort(times, {}, &Time::median_ns);
    const double slowest_ns = times.back().median_ns;
    for (const Time& time : times) {
      table["rows"].push_back({size_label(sweep, i), time.label, rounded(time.median_ns), time.rate,
                               time.cycles, rounded(slowest_ns / time.median_ns)});
    }
    answer =
        fmt::format("At {} {} is {:.0f} times as fast as {}.", size_label(sweep, i),
                    times.front().label, slowest_ns / times.front().median_ns, times.back().label);
  }
  return make_section("speedups", "Speed-up", answer, std::move(table));
}

Json start_up_section(const Json& sweep) {
  Json table = make_table({{"what", "Paid once", "text"}, {"time_ns", "Time", "time"}});
  const auto add = [&](const std::string& what, double time_ms) {
    table["rows"].push_back({what, rounded(1e6 * time_ms)});
  };
  for (const Json& side : sweep.at("sides")) {
    const std::string name = text(side, "name");
    add(name + " opening the device", side.at("start_up").at("device_ms").get<double>());
    add(name + " the library's first call", side.at("start_up").at("library_ms").get<double>());
    for (const Json& timing : side.at("times")) {
      const double compile_ms = timing.at("compile_ms").get<double>();
      if (compile_ms <= 0) continue;
      add(fmt::format("compiling {} at {}", text(timing, "contender"),
                      size_label(sweep, timing.at("size"))),
          compile_ms);
    }
  }
  std::map<std::string, std::pair<std::string, double>> pinned;  // by placement, the largest size
  for (const Json& transfer : sweep.at("sides").back().at("transfers")) {
    const double pin_ns = number(transfer, "pin_ns").value_or(0);
    if (pin_ns > 0) {
      pinned[text(transfer, "placement")] = {size_label(sweep, transfer.at("size")), pin_ns};
    }
  }
  for (const auto& [placement, size_and_time] : pinned) {
    add(fmt::format("host memory, {}, at {}", placement, size_and_time.first),
        1e-6 * size_and_time.second);
  }
  return make_section("start_up", "One-time costs",
                      "Opening includes loading the library and the compiler.", std::move(table));
}

std::string verdict(const Json& sweep) {
  std::string sentence;
  for (const Json& side : sweep.at("sides")) {
    const std::string threads =
        space::runs_on_host(side.at("backend").get<std::string>())
            ? fmt::format(", {} threads, vectors of {} bits", side.at("cores").get<int>(),
                          sweep.at("vector_bits").get<int>())
            : "";
    sentence += fmt::format("{}: {}{} ({}, {}). ", text(side, "name"), text(side, "device"),
                            threads, text(side, "compiler"), text(side, "library"));
  }
  if (sweep.at("agree") == true) sentence += "All computed the same on whole numbers, bit for bit.";
  return sentence;
}

}  // namespace

Json parse_sweep(std::string_view text, std::string_view origin) {
  Json sweep = parse_json(text, origin);
  try {
    if (sweep.at("schema") == "tune.sweep/2" && !sweep.at("sides").empty()) {
      static_cast<void>(sweep_part(sweep));
      return sweep;
    }
  } catch (const Json::exception&) {
    // Something is missing, or is not what it should be.
  }
  throw Error(ErrorCode::usage,
              fmt::format("{}: is not what `tune bench --range … --json` writes", origin));
}

std::string sweep_device(const Json& sweep) {
  return text(sweep.at("sides").back(), "device");
}

Json sweep_part(const Json& sweep) {
  Json sections = {curves_section(sweep)};
  Json split = split_section(sweep);
  const bool has_trips = !split.at("table").at("rows").empty();
  if (has_trips) {
    for (const Json& placement : sweep.at("placements")) {
      sections.push_back(transfer_curves_section(sweep, text(placement, "name")));
    }
    sections.push_back(std::move(split));
  }
  if (sweep.at("sides").size() > 1) sections.push_back(ratios_section(sweep));
  sections.push_back(speedups_section(sweep));
  sections.push_back(start_up_section(sweep));
  return {{"family", text(sweep, "family")},
          {"verdict", verdict(sweep)},
          {"sections", std::move(sections)}};
}

Json sweep_document(const std::string& device_name, std::span<const Json> sweeps) {
  Json document = {
      {"format", "tune.report/3"}, {"device", device_name},   {"backend", ""},
      {"families", Json::array()}, {"facts", Json::array()},  {"period", ""},
      {"kernels", Json::array()},  {"sweeps", Json::array()}, {"comparisons", Json::array()}};
  for (const Json& sweep : sweeps) {
    if (sweep_device(sweep) != device_name) continue;
    const Json& side = sweep.at("sides").back();
    document["backend"] = side.at("backend");
    document["period"] = sweep.value("measured_at", "");
    document["facts"] = Json::array();
    for (const auto& [label, key] :
         {std::pair{"Driver", "driver"}, {"Compiler", "compiler"}, {"Library", "library"}}) {
      if (!text(side, key).empty()) document["facts"].push_back({label, side.at(key)});
    }
    document["sweeps"].push_back(sweep_part(sweep));
  }
  return document;
}

}  // namespace tuner::report
