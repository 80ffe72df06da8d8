// SPDX-License-Identifier: Apache-2.0
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
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tuner::report {
namespace {

std::string text_of(const Json& object, const char* key) {
  return escape_html(object.at(key).get<std::string>());
}

constexpr std::string_view kCredits =
    "<p>Charts by <a href=\"https://echarts.apache.org\">Apache ECharts</a> (Apache-2.0, © The "
    "Apache Software Foundation) and ZRender (BSD-3-Clause, © Baidu Inc.); their licences are at "
    "the beginning of this page’s script.</p>";

bool has_charts() {
  return !embedded::report_js().empty();
}

// ---- sections -----------------------------------------------------------------------------------

/// The table of a section: of a heatmap, its first pair of parameters with their values by name.
Json shown_table(const Json& section) {
  Json table = section.at("table");
  if (section.at("kind") != "heatmap" || section.at("pairs").empty()) return table;
  const Json& pair = section["pairs"][0];
  const Json& x = section["parameters"][pair["x"].get<std::size_t>()];
  const Json& y = section["parameters"][pair["y"].get<std::size_t>()];
  table["columns"][0]["label"] = x["name"];
  table["columns"][1]["label"] = y["name"];
  for (Json row : pair["rows"]) {
    row[0] = x["values"][row[0].get<std::size_t>()];
    row[1] = y["values"][row[1].get<std::size_t>()];
    table["rows"].push_back(std::move(row));
  }
  return table;
}

std::string panel(const Json& section, const std::string& pointer, std::string_view heading) {
  const std::string title = text_of(section, "title"), answer = text_of(section, "answer");
  const bool wide = section.value("wide", false);
  std::string html = fmt::format(
      "<section class=\"panel{0}\" data-section=\"{1}\" data-kind=\"{2}\"><{3}>{4}</{3}>"
      "<p class=\"answer\">{5}</p>",
      wide ? " wide" : "", pointer, text_of(section, "kind"), heading, title, answer);
  const Json table = shown_table(section);
  if (!table.at("rows").empty()) {
    html += fmt::format(
        "<div class=\"controls\"></div><div class=\"chart\" role=\"img\" aria-label=\"{}: "
        "{}\"></div>"
        "<p class=\"note\"></p><div class=\"tools\"></div>"
        "<details{}><summary>Table</summary>{}</details>",
        title, answer, wide || !has_charts() ? " open" : "",
        render_table(table, section.at("title").get<std::string>()));
  }
  return html + "</section>";
}

std::string panels(const Json& sections, const std::string& pointer, std::string_view heading) {
  std::string html;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    html += panel(sections[i], fmt::format("{}/sections/{}", pointer, i), heading);
  }
  return html;
}

std::string command(const std::string& text) {
  return fmt::format("<pre><code data-copy=\"command\">{}</code></pre>", escape_html(text));
}

std::string command_list(const Json& commands) {
  std::string html;
  for (const Json& one : commands) html += command(one.get<std::string>());
  return html;
}

// ---- families: the first screen -----------------------------------------------------------------

/// A table without columns of these keys, and without those that have no value in any row.
Json without_empty_columns(const Json& table, const std::vector<std::string_view>& hidden = {}) {
  const auto is_shown = [&](std::size_t i) {
    const Json& rows = table.at("rows");
    const auto is_known = [i](const Json& row) { return !row[i].is_null(); };
    return std::ranges::count(hidden, table["columns"][i].at("key").get<std::string>()) == 0 &&
           std::any_of(rows.begin(), rows.end(), is_known);
  };
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table.at("columns").size(); ++i) {
    if (is_shown(i)) kept.push_back(i);
  }
  const auto part = [&](const Json& all) {
    Json some = Json::array();
    for (const std::size_t i : kept) some.push_back(all[i]);
    return some;
  };
  Json shown = {{"columns", part(table["columns"])}, {"rows", Json::array()}};
  for (const Json& row : table.at("rows")) shown["rows"].push_back(part(row));
  return shown;
}

/// A chart that the page's script draws from the table of sizes.
std::string overview_chart(std::string_view name, std::string_view title) {
  return fmt::format(
      "<section class=\"panel overview\" data-overview=\"{0}\"><h3>{1}</h3>"
      "<div class=\"chart\" role=\"img\" aria-label=\"{1}\"></div><p class=\"note\"></p></section>",
      name, title);
}

std::string to_do_part(const Json& list) {
  if (list.empty()) return "";
  std::string html = "<section class=\"todo\"><h3>To do</h3><ul>";
  for (const Json& item : list) {
    html += fmt::format("<li><span>{}</span>{}</li>", text_of(item, "text"),
                        command_list(item.at("commands")));
  }
  return html + "</ul></section>";
}

/// The wins of each kernel in a sentence; of several types they are in the table of types.
std::string wins_part(const Json& family) {
  const Json& rows = family.at("wins").at("rows");
  if (family.at("types").at("rows").size() > 1 || rows.size() < 2) return "";
  std::vector<std::string> winners, others;
  for (const Json& row : rows) {
    const std::string kernel = escape_html(row[1].get<std::string>());
    const auto wins = row[2].get<std::uint64_t>();
    if (wins == 0) {
      others.push_back(kernel);
    } else {
      winners.push_back(
          fmt::format("<strong>{}</strong> at {}", kernel, format_plural(wins, "size", "sizes")));
    }
  }
  return fmt::format(
      "<p class=\"wins\">Best kernel: {}.{}</p>", fmt::join(winners, ", "),
      others.empty() ? "" : fmt::format(" Best nowhere: {}.", fmt::join(others, ", ")));
}

/// A row for each type, where there are several.
std::string types_part(const Json& family) {
  const Json& types = family.at("types");
  if (types.at("rows").size() < 2) return "";
  return fmt::format("<div class=\"types\">{}</div>",
                     render_table(without_empty_columns(types),
                                  family.at("family").get<std::string>() + ": types"));
}

/// How a kernel's column is labelled: without what the names of all begin with.
Json short_name(const Json& family, const Json& kernel) {
  for (const Json& column : family.at("sizes").at("columns")) {
    if (column.value("kernel", "") == kernel.get<std::string>()) return column.at("label");
  }
  return kernel;
}

/// The table of sizes without what only its charts and commands need, and without empty columns.
Json shown_sizes(const Json& family) {
  std::vector<std::string_view> hidden = {"problem", "work", "intensity", "low", "high"};
  if (family.at("types").at("rows").size() < 2) hidden.emplace_back("type");
  const Json& all = family.at("sizes").at("columns");
  const auto is_kernel = [](const Json& column) { return column.at("key") == "kernel"; };
  if (std::count_if(all.begin(), all.end(), is_kernel) == 1) hidden.emplace_back("kernel");
  Json table = without_empty_columns(family.at("sizes"), hidden);
  Json& columns = table["columns"];
  std::size_t best = 0;
  while (best < columns.size() && columns[best].at("key") != "best") ++best;
  for (Json& row : table["rows"]) {
    if (best < row.size() && !row[best].is_null()) row[best] = short_name(family, row[best]);
  }
  return table;
}

std::string family_part(const Json& family, std::size_t index) {
  std::string verdict;
  for (const Json& sentence : family.at("verdict")) {
    verdict += (verdict.empty() ? "" : " ") + escape_html(sentence.get<std::string>());
  }
  const std::string name = family.at("family").get<std::string>();
  return fmt::format(
      "<section class=\"family\" id=\"family-{0}\" data-family=\"{0}\"><h2>{1}</h2>"
      "<p class=\"verdict\">{2}</p>{8}{3}{4}<div class=\"grid\">{5}{6}</div>"
      "<h3>Sizes</h3><div class=\"controls filters\"></div><p class=\"shown\" "
      "role=\"status\"></p><div class=\"sizes\">{7}</div></section>",
      index, escape_html(name), verdict, wins_part(family), to_do_part(family.at("to_do")),
      overview_chart("ratios", "Ratio to the library over the size"),
      overview_chart("roofline", "Roofline"), render_table(shown_sizes(family), name + ": sizes"),
      types_part(family));
}

// ---- kernels ------------------------------------------------------------------------------------

/// The best of each size, of which a page with a script shows one when it is opened.
std::string table_of_bests(const Json& kernel) {
  Json table = kernel.at("sections").at(0).at("table");
  table["columns"].erase(table["columns"].size() - 1);  // the commands
  for (Json& row : table["rows"]) row.erase(row.size() - 1);
  return render_table(table, kernel.at("kernel").get<std::string>() + ": best configurations");
}

/// All tables of a kernel and of its sizes: for a page that never has a script.
std::string tables_of_kernel(const Json& kernel, std::size_t index, const SizeDetails& details) {
  const std::string pointer = fmt::format("/kernels/{}", index);
  std::string html = panels(kernel.at("sections"), pointer, "h3");
  for (std::size_t i = 0; i < kernel.at("sizes").size(); ++i) {
    const Json size = details(index, i);
    html += fmt::format(R"(<section class="size"><p class="size-verdict">{}</p>{}</section>)",
                        text_of(size, "verdict"),
                        panels(size.at("sections"), fmt::format("{}/sizes/{}", pointer, i), "h4"));
  }
  return html + command_list(kernel.at("commands"));
}

std::string kernel_part(const Json& kernel, std::size_t index, const SizeDetails& details) {
  const std::string tables = has_charts()
                                 ? fmt::format("<noscript>{}</noscript>", table_of_bests(kernel))
                                 : tables_of_kernel(kernel, index, details);
  return fmt::format(
      "<details class=\"kernel\" id=\"kernel-{0}\" "
      "data-kernel=\"{0}\"{1}><summary><h2>{2}</h2></summary>"
      "<p class=\"verdict\">{3}</p>{4}<p class=\"fine\">Kernel version {5}.</p></details>",
      index, has_charts() ? "" : " open", text_of(kernel, "kernel"), text_of(kernel, "verdict"),
      tables, text_of(kernel, "hash").substr(0, 12));
}

std::string sweep_part_of_page(const Json& sweep, std::size_t index) {
  return fmt::format(
      "<section class=\"kernel\" id=\"sweep-{0}\"><p class=\"eyebrow\">Over sizes</p><h2>{1}</h2>"
      "<p class=\"verdict\">{2}</p><div class=\"grid\">{3}</div></section>",
      index, text_of(sweep, "family"), text_of(sweep, "verdict"),
      panels(sweep.at("sections"), fmt::format("/sweeps/{}", index), "h3"));
}

std::string comparison_part_of_page(const Json& comparison, std::size_t index) {
  std::string verdict;
  for (const Json& sentence : comparison.at("verdict")) {
    verdict += (verdict.empty() ? "" : " ") + escape_html(sentence.get<std::string>());
  }
  return fmt::format(
      "<section class=\"kernel\" id=\"comparison-{}\"><p "
      "class=\"eyebrow\">Comparison</p><h2>{}</h2>"
      "<p class=\"verdict\">{}</p><div class=\"grid\">{}</div></section>",
      index, text_of(comparison, "title"), verdict,
      panels(comparison.at("sections"), fmt::format("/comparisons/{}", index), "h3"));
}

std::string header_part(const Json& document) {
  const std::string period = text_of(document, "period");
  std::string html =
      fmt::format("<header><p class=\"eyebrow\">Tuning report{}{}</p><h1>{}</h1><dl>",
                  period.empty() ? "" : " · ", period, text_of(document, "device"));
  for (const Json& fact : document.at("facts")) {
    html +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape_html(fact.at(0).get<std::string>()),
                    escape_html(fact.at(1).get<std::string>()));
  }
  return html + "</dl></header>";
}

/// A link of the index; one to a kernel is short and has the kernel's name as its label.
std::string index_link(std::string_view kind, std::size_t index, const std::string& shown,
                       const std::string& name) {
  const std::string label =
      shown == name ? "" : fmt::format(" aria-label=\"{}\"", escape_html(name));
  return fmt::format(R"(<li><a class="to-{0}" href="#{0}-{1}"{2}>{3}</a></li>)", kind, index, label,
                     escape_html(shown));
}

/// The families, each before its kernels, and what else the page has.
std::string index_part(const Json& document) {
  std::string html = R"(<nav class="index" aria-label="Index"><ul>)";
  const Json &families = document.at("families"), &kernels = document.at("kernels");
  for (std::size_t f = 0; f < families.size(); ++f) {
    const std::string family = families[f].at("family");
    html += index_link("family", f, family, family);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k].at("family") != family) continue;
      const Json& name = kernels[k].at("kernel");
      html += index_link("kernel", k, short_name(families[f], name), name);
    }
  }
  const auto add = [&](std::string_view kind, const Json& parts, const char* key) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      html += index_link(kind, i, parts[i].at(key), parts[i].at(key));
    }
  };
  add("sweep", document.at("sweeps"), "family");
  add("comparison", document.at("comparisons"), "title");
  return html + "</ul></nav>";
}

template <class Part>
std::string each(const Json& parts, const Part& part) {
  std::string html;
  for (std::size_t i = 0; i < parts.size(); ++i) html += part(parts[i], i);
  return html;
}

std::string body_of(const Json& document, const SizeDetails& details) {
  std::string html = header_part(document) + index_part(document);
  if (!has_charts()) {
    html +=
        "<p class=\"banner\">Charts were not built into this program (TUNER_REPORT_JS=none); "
        "the tables hold everything they would show.</p>";
  }
  html += each(document.at("families"), family_part);
  html += each(document.at("comparisons"), comparison_part_of_page);
  if (!document.at("kernels").empty()) {
    html += R"(<section class="kernels"><h2 class="eyebrow">Kernels</h2>)";
    const auto part = [&](const Json& kernel, std::size_t index) {
      return kernel_part(kernel, index, details);
    };
    html += each(document.at("kernels"), part) + "</section>";
  }
  return html + each(document.at("sweeps"), sweep_part_of_page);
}

// ---- data ---------------------------------------------------------------------------------------

/// The document without the tables that the details of sizes repeat.
Json without_bests(Json overview) {
  for (Json& kernel : overview.at("kernels")) kernel["sections"].erase(0);
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

/// Adds the details of every size, each of which the page's script reads when a reader opens it.
void append_details(std::string& page, const Json& overview, const SizeDetails& details) {
  if (!has_charts()) return;
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t f = 0; f < overview.at("families").size(); ++f) {
    const Json& family = overview["families"][f];
    const Json& rows = family.at("sizes").at("rows");
    std::vector<std::string> packed(rows.size());
    in_parallel(threads, rows.size(), [&](std::size_t s) {
      const Json of_size =
          details_of_size(overview.at("kernels"), family.at("family"), rows[s].at(1), details);
      packed[s] = compressed(of_size.dump(-1, ' ', false, Json::error_handler_t::replace),
                             Compression::fast);
    });
    for (std::size_t s = 0; s < packed.size(); ++s) {
      fmt::format_to(std::back_inserter(page),
                     R"(<script type="application/gzip" id="size-{}-{}">{}</script>)", f, s,
                     packed[s]);
    }
  }
}

std::string script_source() {
  return has_charts() ? fmt::format("'sha256-{}'", embedded::report_js_sha256()) : "'none'";
}

}  // namespace

std::string render_page(const Json& overview, const SizeDetails& details) {
  constexpr std::string_view kDetails = "{{details}}";  // many megabytes: not copied
  const std::string_view shell = embedded::report_shell();
  const std::size_t at = shell.find(kDetails);
  std::string page =
      fill_slots(shell.substr(0, at),
                 {{"script-source", script_source()},
                  {"style-source", fmt::format("'sha256-{}'", embedded::report_css_sha256())},
                  {"title", text_of(overview, "device")},
                  {"style", std::string(embedded::report_css())},
                  {"body", body_of(overview, details)},
                  {"credits", has_charts() ? std::string(kCredits) : std::string()},
                  {"data", script_safe_json(without_bests(overview))}});
  append_details(page, overview, details);
  const std::string script =
      has_charts() ? fmt::format("<script>{}</script>", embedded::report_js()) : std::string();
  return page + fill_slots(shell.substr(at + kDetails.size()), {{"script", script}});
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
