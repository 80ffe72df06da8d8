// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/sweep_text.hpp"

#include "tuner/cli/table.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string_view>

namespace tuner::cli {
namespace {

using Align = Table::Align;

constexpr const char* kNone = "–";

std::string text(const Json& object, const char* key) {
  return object.at(key).get<std::string>();
}

std::string label(const Json& sweep, const Json& index) {
  return text(sweep["sizes"][index.get<std::size_t>()], "label");
}

std::string time_cell(const Json& timing) {
  return timing.contains("median_ns") ? quantity::time(timing["median_ns"].get<double>())
                                      : text(timing, "outcome");
}

/// A number in a unit; empty where there is none.
std::string scaled_cell(const Json& timing, const char* key, double unit) {
  return timing.contains(key) ? quantity::number(timing[key].get<double>() / unit, 3) : "";
}

/// A row for each size, a column for each contender of a device; without numbers nothing.
template <class Cell>
std::string by_size(const Json& sweep, const Json& side, std::string_view what, const Cell& cell,
                    const Terminal& terminal) {
  std::vector<Table::Column> columns = {{fmt::format("{}: {}", text(side, "name"), what)}};
  std::map<std::string, std::size_t> column_of;
  for (const Json& timing : side["times"]) {
    const std::string name = text(timing, "contender");
    if (column_of.try_emplace(name, columns.size()).second) columns.push_back({name, Align::right});
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& size : sweep["sizes"]) {
    rows.emplace_back(columns.size(), kNone).front() = text(size, "label");
  }
  bool is_empty = true;
  for (const Json& timing : side["times"]) {
    const std::string content = cell(timing);
    if (content.empty()) continue;
    is_empty = false;
    rows[timing["size"].get<std::size_t>()][column_of.at(text(timing, "contender"))] = content;
  }
  if (is_empty) return "";
  Table table(columns);
  for (std::vector<std::string>& row : rows) table.add(std::move(row));
  return table.text(terminal);
}

std::string cycles_cell(const Json& timing) {
  return timing.contains("cycles")
             ? quantity::count(static_cast<std::uint64_t>(timing["cycles"].get<double>()))
             : "";
}

/// The rate that counts for a family: of its arithmetic, or of its memory.
struct Rate {
  const char* unit;
  const char* key;
};

Rate rate_of(const Json& sweep) {
  const auto has_flops = [](const Json& size) { return size["flops"].get<double>() > 0; };
  return std::ranges::any_of(sweep["sizes"], has_flops) ? Rate{"GFLOP/s", "flops_per_s"}
                                                        : Rate{"GB/s", "bytes_per_s"};
}

/// A row for each contender: many names are no columns of a terminal.
std::string by_contender(const Json& sweep, const Json& side, const Terminal& terminal) {
  const Rate rate = rate_of(sweep);
  Table table({{fmt::format("{}: {}", text(side, "name"), label(sweep, 0))},
               {"cold median", Align::right},
               {rate.unit, Align::right},
               {"cycles", Align::right}});
  for (const Json& timing : side["times"]) {
    table.add({text(timing, "contender"), time_cell(timing), scaled_cell(timing, rate.key, 1e9),
               cycles_cell(timing)});
  }
  return table.text(terminal);
}

std::string times_text(const Json& sweep, const Json& side, const Terminal& terminal) {
  if (sweep["sizes"].size() == 1) return by_contender(sweep, side, terminal);
  const Rate rate = rate_of(sweep);
  std::string all = by_size(sweep, side, "cold median", time_cell, terminal);
  for (const std::string& table :
       {by_size(
            sweep, side, rate.unit,
            [&](const Json& timing) { return scaled_cell(timing, rate.key, 1e9); }, terminal),
        by_size(sweep, side, "cycles", cycles_cell, terminal)}) {
    if (!table.empty()) all += "\n" + table;
  }
  return all;
}

/// Of each size the kernels with their rates, the fastest first, beside the peak and the bound.
std::string shares_text(const Json& sweep, const Terminal& terminal) {
  if (sweep["bound"].is_null()) return "";
  const auto percent = [](const Json& timing, const char* key) {
    const std::string number = scaled_cell(timing, key, 0.01);
    return number.empty() ? std::string(kNone) : number + " %";
  };
  std::string all;
  for (std::size_t size = 0; size < sweep["sizes"].size(); ++size) {
    std::vector<Json> times;
    for (const Json* side : {&sweep["sides"].back(), &sweep["bound"]}) {
      for (const Json& timing : (*side)["times"]) {
        if (timing["size"] != size || !timing.contains("median_ns")) continue;
        times.push_back(timing);
        if (side == &sweep["bound"])
          times.back()["contender"] = "bound: " + text(timing, "contender");
      }
    }
    std::ranges::sort(times, {},
                      [](const Json& timing) { return timing["median_ns"].get<double>(); });
    Table table({{label(sweep, size)},
                 {"time", Align::right},
                 {"GB/s", Align::right},
                 {"% of peak", Align::right},
                 {"% of bound", Align::right}});
    for (const Json& timing : times) {
      table.add({text(timing, "contender"), time_cell(timing),
                 scaled_cell(timing, "bytes_per_s", 1e9), percent(timing, "of_peak"),
                 percent(timing, "of_bound")});
    }
    all += "\n" + table.text(terminal);
  }
  return all;
}

std::string transfers_text(const Json& sweep, const Json& side, const Terminal& terminal) {
  if (side["transfers"].empty()) return "";
  Table table({{fmt::format("{}: with transfers", text(side, "name"))},
               {"contender"},
               {"host memory"},
               {"allocation", Align::right},
               {"to the device", Align::right},
               {"kernel", Align::right},
               {"to the host", Align::right},
               {"free", Align::right},
               {"total", Align::right},
               {"pinning, once", Align::right}});
  for (const Json& transfer : side["transfers"]) {
    std::vector<std::string> row = {label(sweep, transfer["size"]), text(transfer, "contender"),
                                    text(transfer, "placement")};
    for (const char* const part : {"allocate_ns", "to_device_ns", "kernel_ns", "to_host_ns",
                                   "free_ns", "total_ns", "pin_ns"}) {
      row.push_back(transfer.contains(part) ? quantity::time(transfer[part].get<double>())
                                            : text(transfer, "outcome"));
    }
    table.add(std::move(row));
  }
  return "\n" + table.text(terminal);
}

/// Who is left out where, and why at the first of these sizes.
std::string skipped_text(const Json& sweep, const Json& side) {
  struct Skips {
    std::size_t first = 0, last = 0, sizes = 0;
    std::string why;
  };
  std::vector<std::pair<std::string, Skips>> all;
  for (const Json& skip : side["skipped"]) {
    const std::string contender = text(skip, "contender"), placement = text(skip, "placement");
    const std::string who = (contender.empty() ? "every contender" : contender) +
                            (placement.empty() ? "" : " with transfers, " + placement);
    const auto size = skip["size"].get<std::size_t>();
    const auto known = std::ranges::find_if(
        all, [&](const auto& each) { return each.first == who && each.second.last + 1 == size; });
    if (known == all.end()) {
      all.emplace_back(who,
                       Skips{.first = size, .last = size, .sizes = 1, .why = text(skip, "why")});
    } else {
      known->second.last = size;
      ++known->second.sizes;
    }
  }
  std::string lines;
  for (const auto& [who, skips] : all) {
    lines += fmt::format("{} skips {} {}: {}\n", text(side, "name"), who,
                         skips.sizes == 1 ? "at " + label(sweep, skips.first)
                                          : fmt::format("from {} to {}", label(sweep, skips.first),
                                                        label(sweep, skips.last)),
                         printable(skips.why));
  }
  return lines.empty() ? "" : "\n" + lines;
}

/// What is paid once: in all for a device, and by contender for a compilation.
std::string start_up_text(const Json& sweep, const Terminal& terminal) {
  Table table({{"paid once"}, {"by"}, {"time", Align::right}});
  const auto add = [&](const std::string& what, const std::string& by, const Json& time_ms) {
    table.add({what, by, quantity::time(1e6 * time_ms.get<double>())});
  };
  for (const Json& side : sweep["sides"]) {
    const std::string by = text(side, "name");
    add("opening the device", by, side["start_up"]["device_ms"]);
    add("the library's first call", by, side["start_up"]["library_ms"]);
    std::map<std::string, double> compiled_ms;
    for (const Json& timing : side["times"]) {
      const double time_ms = timing["compile_ms"].get<double>();
      if (time_ms > 0) compiled_ms.try_emplace(text(timing, "contender"), time_ms);
    }
    for (const auto& [contender, time_ms] : compiled_ms) add("compiling", contender, time_ms);
  }
  return "\n" + table.text(terminal);
}

/// "faster is CPU from 64x64x64 to 128x128x128, then GPU at 256x256x256".
std::string leads_text(const Json& sweep, const Json& leads) {
  std::vector<std::string> parts;
  for (const Json& lead : leads) {
    const std::string first = label(sweep, lead["first"]), last = label(sweep, lead["last"]);
    parts.push_back(
        fmt::format("{} {}", text(lead, "faster"),
                    first == last ? "at " + first : fmt::format("from {} to {}", first, last)));
  }
  if (parts.empty()) return "no size has a time of both";
  return fmt::format("faster is {}", fmt::join(parts, ", then "));
}

std::string comparisons_text(const Json& sweep) {
  std::string lines;
  for (const Json& each : sweep["comparisons"]) {
    lines += fmt::format("{} or {}, {}: {}\n", each["between"][0].get<std::string>(),
                         each["between"][1].get<std::string>(), text(each, "of"),
                         leads_text(sweep, each["leads"]));
  }
  return lines.empty() ? "" : "\n" + lines;
}

std::string agreement_text(const Json& sweep) {
  if (sweep["agree"].is_null()) return "";
  return sweep["agree"].get<bool>()
             ? "\nOn whole numbers all of them computed the same result, bit for bit.\n"
             : "\nThe devices' libraries DIFFER in their results on whole numbers.\n";
}

std::string failures_text(const Json& sweep) {
  std::string failures;
  std::vector<Json> sides(sweep["sides"].begin(), sweep["sides"].end());
  if (!sweep["bound"].is_null()) sides.push_back(sweep["bound"]);
  for (const Json& side : sides) {
    for (const char* const list : {"times", "transfers"}) {
      for (const Json& each : side[list]) {
        if (each["outcome"] == "ok") continue;
        failures +=
            fmt::format("\n{} of {} at {}:\n  {}\n", text(each, "outcome"), text(each, "contender"),
                        label(sweep, each["size"]), printable(text(each, "message")));
      }
    }
  }
  return failures;
}

}  // namespace

std::string sweep_text(const Json& sweep, const Terminal& terminal) {
  std::string all;
  for (const Json& side : sweep["sides"]) {
    if (!all.empty()) all += "\n";
    all += times_text(sweep, side, terminal) + transfers_text(sweep, side, terminal) +
           skipped_text(sweep, side);
  }
  return all + shares_text(sweep, terminal) + start_up_text(sweep, terminal) +
         comparisons_text(sweep) + agreement_text(sweep) + failures_text(sweep);
}

}  // namespace tuner::cli
