// SPDX-License-Identifier: Apache-2.0
#include "embedded/report_charts.hpp"
#include "embedded/report_charts_sha256.hpp"
#include "embedded/report_css.hpp"
#include "embedded/report_css_sha256.hpp"
#include "embedded/report_js.hpp"
#include "embedded/report_js_sha256.hpp"
#include "embedded/report_shell.hpp"
#include "tuner/core/compressed.hpp"
#include "tuner/core/in_parallel.hpp"
#include "tuner/report/device_report.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/html.hpp"
#include "tuner/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tuner::report {
namespace {

std::string text_of(const Json& object, const char* key) {
  return escape_html(object.at(key).get<std::string>());
}

bool has_script() {
  return !embedded::report_js().empty();
}

// ---- without a script ---------------------------------------------------------------------------

/// Without the end tags that HTML does not need: of a thousand rows they are 50 kB.
std::string plain_row(std::string_view element, const std::vector<std::string>& cells) {
  std::string html = "<tr>";
  for (const std::string& cell : cells) {
    html += fmt::format("<{}>{}", element, escape_html(cell));
  }
  return html;
}

/// "A=1,B=2" as its names, "A,B", and its values; nothing where a part has no name.
std::optional<std::pair<std::string, std::string>> names_and_values(std::string_view config) {
  std::string names, values;
  for (const auto part : std::views::split(config, ',')) {
    const std::string_view one(part.begin(), part.end());
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view separator = names.empty() ? "" : ",";
    names += fmt::format("{}{}", separator, one.substr(0, equals));
    values += fmt::format("{}{}", separator, one.substr(equals + 1));
  }
  return std::pair(std::move(names), std::move(values));
}

/// The names that all configurations of a kernel have in common, in this order; else empty.
std::string common_names(const std::vector<std::string>& configs) {
  std::string common;
  for (const std::string& config : configs) {
    const auto split = names_and_values(config);
    if (!split || (!common.empty() && split->first != common)) return "";
    common = split->first;
  }
  return common;
}

bool is_of_bests(const Json& section) {
  return section.at("kind") == "best";
}

/// A row for each size. The parameters are named once, where each configuration has all of them.
std::string table_of_kernel(const Json& kernel) {
  const Json& table = std::ranges::find_if(kernel.at("sections"), is_of_bests)->at("table");
  std::map<std::string, std::size_t> columns;
  for (const Json& column : table.at("columns")) columns.emplace(column.at("key"), columns.size());
  std::vector<std::string> configs;
  for (const Json& row : table.at("rows")) configs.push_back(row.at(columns.at("config")));
  if (configs.empty()) return "";
  const std::string names = common_names(configs);
  std::string rows;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const auto text = [&](const char* key, const auto& format) {
      const Json& value = table["rows"][i].at(columns.at(key));
      return value.is_null() ? "–" : format(value);
    };
    const auto as_it_is = [](const std::string& words) { return words; };
    rows += plain_row("td", {text("size", as_it_is), text("ns", format_time),
                             text("measure", as_it_is), text("ratio_to_library", format_percent),
                             names.empty() ? configs[i] : names_and_values(configs[i])->second});
  }
  return fmt::format("<table><caption>Best configurations of {}</caption>{}{}</table>",
                     text_of(kernel, "kernel"),
                     plain_row("th", {"Size", "Time", "Timed", "% of the library",
                                      names.empty() ? "Configuration" : names}),
                     rows);
}

std::string tables_of_bests(const Json& kernels) {
  std::string html;
  for (const Json& kernel : kernels) html += table_of_kernel(kernel);
  return html;
}

/// The sentences of each part: an array, or one text.
std::string plain_verdicts(const Json& parts, const char* title) {
  std::string html;
  for (const Json& part : parts) {
    const Json& verdict = part.at("verdict");
    const auto sentences = verdict.is_array() ? verdict.get<std::vector<std::string>>()
                                              : std::vector{verdict.get<std::string>()};
    html += fmt::format("<p>{}: {}</p>", text_of(part, title),
                        escape_html(fmt::format("{}", fmt::join(sentences, " "))));
  }
  return html;
}

/// What a reader sees first, before the script has run.
std::string header_part(const Json& document) {
  const std::string period = text_of(document, "period");
  std::string facts;
  for (const Json& fact : document.at("facts")) {
    facts +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape_html(fact[0].get<std::string>()),
                    escape_html(fact[1].get<std::string>()));
  }
  return fmt::format(
      "<header><p class=\"eyebrow\">Tuning report{}</p><h1>{}</h1><dl>{}</dl></header>",
      period.empty() ? "" : " · " + period, text_of(document, "device"), facts);
}

/// What a reader without the script sees; the script makes everything else from the data.
std::string plain_part(const Json& document) {
  const std::string html = fmt::format(
      "<p class=\"banner\">{}</p>{}{}{}{}",
      has_script() ? "Charts, filters and details need JavaScript."
                   : "Charts, filters and details were not built into this program "
                     "(TUNER_REPORT_JS=none).",
      plain_verdicts(document.at("families"), "family"),
      plain_verdicts(document.at("comparisons"), "title"),
      plain_verdicts(document.at("sweeps"), "family"), tables_of_bests(document.at("kernels")));
  return has_script() ? fmt::format("<noscript>{}</noscript>", html) : html;
}

// ---- data ---------------------------------------------------------------------------------------

/// The document without what the details of sizes repeat: tables of bests and lists of sizes.
Json without_repetition(Json overview) {
  for (Json& kernel : overview.at("kernels")) {
    std::erase_if(kernel["sections"].get_ref<Json::array_t&>(), is_of_bests);
    kernel["sizes"] = Json::array();
  }
  return overview;
}

/// The details of a family's size: of each of its kernels that were tuned there.
Json details_of_size(const Json& kernels, const Json& family, const Json& problem,
                     const SizeDetails& details) {
  Json found = Json::array();
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (kernels[k].at("family") != family) continue;
    const Json& sizes = kernels[k].at("sizes");
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      if (sizes[s].at("problem") != problem) continue;
      found.push_back(Json{{"kernel", k}, {"size", details(k, s)}});
    }
  }
  return found;
}

/// How many sizes are compressed together: of many sizes several, since each alone is an element of
/// the page and repeats what the others have; more of imported ones, which have no trials.
std::size_t sizes_together(std::size_t sizes, bool has_trials) {
  constexpr std::size_t kMany = 100, kTogether = 16, kImportedTogether = 64;
  if (sizes <= kMany) return 1;
  return has_trials ? kTogether : kImportedTogether;
}

/// Adds the details of every size, which the page's script reads when a reader opens it.
void append_details(std::string& page, const Json& overview, const SizeDetails& details) {
  if (!has_script()) return;
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t f = 0; f < overview.at("families").size(); ++f) {
    const Json& family = overview["families"][f];
    const Json& rows = family.at("sizes").at("rows");
    const bool has_trials = std::ranges::any_of(overview.at("kernels"), [&](const Json& kernel) {
      return kernel.at("family") == family.at("family") && !kernel.at("commands").empty();
    });
    const std::size_t together = sizes_together(rows.size(), has_trials);
    std::vector<std::string> packed((rows.size() + together - 1) / together);
    in_parallel(threads, packed.size(), [&](std::size_t group) {
      Json of_sizes = Json::array();
      const std::size_t first = group * together;
      for (std::size_t s = first; s < std::min(first + together, rows.size()); ++s) {
        of_sizes.push_back(
            details_of_size(overview.at("kernels"), family.at("family"), rows[s].at(1), details));
      }
      packed[group] = compressed(of_sizes.dump(-1, ' ', false, Json::error_handler_t::replace),
                                 has_trials ? Compression::fast : Compression::best);
    });
    for (std::size_t group = 0; group < packed.size(); ++group) {
      fmt::format_to(std::back_inserter(page),
                     R"(<script type="application/gzip" id="sizes-{}-{}">{}</script>)", f,
                     group * together, packed[group]);
    }
  }
}

std::string script_source() {
  return has_script() ? fmt::format("'sha256-{}' 'sha256-{}'", embedded::report_js_sha256(),
                                    embedded::report_charts_sha256())
                      : "'none'";
}

}  // namespace

std::string render_page(const Json& overview, const SizeDetails& details) {
  constexpr std::string_view kDetails = "{{details}}";  // many megabytes: not copied
  const std::string_view shell = embedded::report_shell();
  const std::size_t at = shell.find(kDetails);
  std::string page = fill_slots(
      shell.substr(0, at),
      {{"script-source", script_source()},
       {"style-source", fmt::format("'sha256-{}'", embedded::report_css_sha256())},
       {"title", text_of(overview, "device")},
       {"style", std::string(embedded::report_css())},
       {"header", header_part(overview)},
       {"plain", plain_part(overview)},
       {"data", script_safe_json(without_repetition(overview))},
       {"script",
        has_script() ? fmt::format("<script>{}</script>", embedded::report_js()) : std::string()},
       {"charts", has_script() ? fmt::format(R"(<script type="text/plain" id="charts">{}</script>)",
                                             embedded::report_charts())
                               : std::string()}});
  append_details(page, overview, details);
  page += shell.substr(at + kDetails.size());
  return page;
}

std::string render_page(const Json& document) {
  Json overview = document;
  for (Json& kernel : overview.at("kernels")) {
    for (Json& size : kernel.at("sizes")) size = Json{{"problem", size.at("problem")}};
  }
  return render_page(overview, [&](std::size_t kernel, std::size_t size) {
    return document["kernels"][kernel]["sizes"][size];
  });
}

}  // namespace tuner::report
