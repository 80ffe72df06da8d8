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
#include <vector>

namespace tuner::report {
namespace {

std::string text(const Json& object, const char* key) {
  return object.at(key).get<std::string>();
}

std::string size_label(const Json& sweep, const Json& index) {
  return format_size(text(sweep.at("sizes").at(index.get<std::size_t>()), "size"));
}

/// "CPU naive": who ran where.
std::string contender_label(const Json& side, const Json& fared) {
  return fmt::format("{} {}", text(side, "name"), text(fared, "contender"));
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

enum class Between { devices, placements };

/// The comparisons of one kind, a sentence each.
std::string comparisons_text(const Json& sweep, Between kind) {
  std::string sentences;
  for (const Json& each : sweep.at("comparisons")) {
    const Between its = each.at("of") == "the whole trip" ? Between::placements : Between::devices;
    if (its != kind || each.at("leads").empty()) continue;
    const auto name = [&](std::size_t i) { return each.at("between").at(i).get<std::string>(); };
    sentences += fmt::format("{}{} or {}, {}: faster is {}.", sentences.empty() ? "" : " ", name(0),
                             name(1), text(each, "of"), leads_text(sweep, each.at("leads")));
  }
  return sentences;
}

/// Every contender's time at every size.
Json curves_section(const Json& sweep) {
  Json table = make_table({{"size", "Size", "text"}, {"extent", "Mean extent", "number"}});
  std::map<std::string, std::size_t> column_of;
  for (const Json& size : sweep.at("sizes")) {
    table["rows"].push_back(
        {format_size(text(size, "size")), rounded(mean_extent(text(size, "size")))});
  }
  for (const Json& side : sweep.at("sides")) {
    for (const Json& fared : side.at("times")) {
      const std::string label = contender_label(side, fared);
      const auto [column, is_new] = column_of.try_emplace(label, table["columns"].size());
      if (is_new) {
        table["columns"].push_back(Json{{"key", label}, {"label", label}, {"kind", "time"}});
        for (Json& row : table["rows"]) row.push_back(nullptr);
      }
      if (!fared.contains("median_ns")) continue;
      table["rows"].at(fared.at("size").get<std::size_t>()).at(column->second) =
          rounded(fared.at("median_ns").get<double>());
    }
  }
  return make_section("curves", "Who is fastest over sizes",
                      comparisons_text(sweep, Between::devices), std::move(table));
}

/// What a trip's parts take.
Json split_section(const Json& sweep) {
  Json table = make_table({{"size", "Size", "text"},
                           {"memory", "Host memory", "text"},
                           {"to_device_ns", "To the device", "time"},
                           {"kernel_ns", "Kernel", "time"},
                           {"to_host_ns", "To the host", "time"},
                           {"total_ns", "Total", "time"},
                           {"contender", "Contender", "text"}});
  for (const Json& side : sweep.at("sides")) {
    for (const Json& transfer : side.at("trips")) {
      if (!transfer.contains("total_ns")) continue;
      Json row = {size_label(sweep, transfer.at("size")), text(transfer, "placement")};
      for (const char* const part : {"to_device_ns", "kernel_ns", "to_host_ns", "total_ns"}) {
        row.push_back(rounded(transfer.at(part).get<double>()));
      }
      row.push_back(text(transfer, "contender"));
      table["rows"].push_back(std::move(row));
    }
  }
  return make_section("split", "Where the time of a trip goes",
                      comparisons_text(sweep, Between::placements), std::move(table));
}

/// By how much each is faster than the slowest at the same size.
Json speedups_section(const Json& sweep) {
  struct Time {
    std::string label;
    double median_ns;
  };
  std::vector<std::vector<Time>> sizes(sweep.at("sizes").size());
  for (const Json& side : sweep.at("sides")) {
    for (const Json& fared : side.at("times")) {
      if (!fared.contains("median_ns")) continue;
      sizes.at(fared.at("size").get<std::size_t>())
          .push_back({contender_label(side, fared), fared.at("median_ns").get<double>()});
    }
  }
  Json table = make_table({{"size", "Size", "text"},
                           {"contender", "Contender", "text"},
                           {"median_ns", "Time", "time"},
                           {"speedup", "Over the slowest", "factor"}});
  std::string answer;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto& times = sizes[i];
    if (times.empty()) continue;
    std::ranges::sort(times, {}, &Time::median_ns);
    const double slowest_ns = times.back().median_ns;
    for (const Time& time : times) {
      table["rows"].push_back({size_label(sweep, i), time.label, rounded(time.median_ns),
                               rounded(slowest_ns / time.median_ns)});
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
    for (const Json& fared : side.at("times")) {
      const double compile_ms = fared.at("compile_ms").get<double>();
      if (compile_ms <= 0) continue;
      add(fmt::format("compiling {} at {}", text(fared, "contender"),
                      size_label(sweep, fared.at("size"))),
          compile_ms);
    }
  }
  return make_section("start_up", "What is paid once",
                      "Opening includes loading the library and the compiler.", std::move(table));
}

std::string verdict(const Json& sweep) {
  std::string sentence;
  for (const Json& side : sweep.at("sides")) {
    const std::string threads =
        side.at("backend") == "cpu"
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
    if (sweep.at("schema") == "tune.sweep/1" && !sweep.at("sides").empty()) {
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
  Json sections = {curves_section(sweep), speedups_section(sweep), start_up_section(sweep)};
  Json transfers = split_section(sweep);
  if (!transfers.at("table").at("rows").empty())
    sections.insert(sections.begin() + 1, std::move(transfers));
  return {{"family", text(sweep, "family")},
          {"verdict", verdict(sweep)},
          {"sections", std::move(sections)}};
}

}  // namespace tuner::report
