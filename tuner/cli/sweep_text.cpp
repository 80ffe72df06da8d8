// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/sweep_result.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <map>

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

/// A row for each contender of a device, a column for each size.
std::string times_text(const Json& sweep, const Json& side) {
  std::vector<Table::Column> columns = {{fmt::format("{}: median time", text(side, "name"))}};
  for (const Json& size : sweep["sizes"]) columns.push_back({text(size, "label"), Align::right});
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> rows;
  for (const Json& fared : side["times"]) {
    const std::string name = text(fared, "contender");
    auto& row = rows[name];
    if (row.empty()) {
      names.push_back(name);
      row = {name};
      row.resize(columns.size(), kNone);
    }
    row[fared["size"].get<std::size_t>() + 1] =
        fared.contains("median_ns") ? quantity::time(fared["median_ns"].get<double>())
                                    : text(fared, "outcome");
  }
  Table table(columns);
  for (const std::string& name : names) table.add(rows[name]);
  return table.text();
}

std::string trips_text(const Json& sweep, const Json& side) {
  if (side["trips"].empty()) return "";
  Table table({{fmt::format("{}: trips", text(side, "name"))},
               {"host memory"},
               {"to the device", Align::right},
               {"kernel", Align::right},
               {"to the host", Align::right},
               {"total", Align::right},
               {"contender"}});
  for (const Json& transfer : side["trips"]) {
    std::vector<std::string> row = {label(sweep, transfer["size"]), text(transfer, "placement")};
    for (const char* const part : {"to_device_ns", "kernel_ns", "to_host_ns", "total_ns"}) {
      row.push_back(transfer.contains(part) ? quantity::time(transfer[part].get<double>())
                                            : text(transfer, "outcome"));
    }
    row.push_back(text(transfer, "contender"));
    table.add(std::move(row));
  }
  return "\n" + table.text();
}

/// What is paid once: in all for a device, and by contender for a compilation.
std::string start_up_text(const Json& sweep) {
  Table table({{"paid once"}, {"by"}, {"time", Align::right}});
  const auto add = [&](const std::string& what, const std::string& by, const Json& time_ms) {
    table.add({what, by, quantity::time(1e6 * time_ms.get<double>())});
  };
  for (const Json& side : sweep["sides"]) {
    const std::string by = text(side, "name");
    add("opening the device", by, side["start_up"]["device_ms"]);
    add("the library's first call", by, side["start_up"]["library_ms"]);
    std::map<std::string, double> compiled_ms;
    for (const Json& fared : side["times"]) {
      const double time_ms = fared["compile_ms"].get<double>();
      if (time_ms > 0) compiled_ms.try_emplace(text(fared, "contender"), time_ms);
    }
    for (const auto& [contender, time_ms] : compiled_ms) add("compiling", contender, time_ms);
  }
  return "\n" + table.text();
}

/// "CPU 64x64x64 to 128x128x128, then GPU 256x256x256 to 4096x4096x4096".
std::string leads_text(const Json& sweep, const Json& leads) {
  std::vector<std::string> parts;
  for (const Json& lead : leads) {
    const std::string first = label(sweep, lead["first"]), last = label(sweep, lead["last"]);
    parts.push_back(
        fmt::format("{} {}", text(lead, "faster"),
                    first == last ? "at " + first : fmt::format("from {} to {}", first, last)));
  }
  return parts.empty() ? "not both were timed" : fmt::format("{}", fmt::join(parts, ", then "));
}

std::string comparisons_text(const Json& sweep) {
  std::string lines;
  for (const Json& each : sweep["comparisons"]) {
    lines += fmt::format("{} or {}, {}: faster is {}\n", each["between"][0].get<std::string>(),
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
  for (const Json& side : sweep["sides"]) {
    for (const char* const list : {"times", "trips"}) {
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

std::string sweep_text(const Json& sweep) {
  std::string all;
  for (const Json& side : sweep["sides"]) {
    if (!all.empty()) all += "\n";
    all += times_text(sweep, side) + trips_text(sweep, side);
  }
  return all + start_up_text(sweep) + comparisons_text(sweep) + agreement_text(sweep) +
         failures_text(sweep);
}

}  // namespace tuner::cli
