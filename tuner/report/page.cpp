// SPDX-License-Identifier: Apache-2.0
#include "embedded/report_css.hpp"
#include "embedded/report_css_sha256.hpp"
#include "embedded/report_js.hpp"
#include "embedded/report_js_sha256.hpp"
#include "embedded/report_shell.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/html.hpp"
#include "tuner/report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace tuner::report {
namespace {

std::string text_of(const Json& object, const char* key) {
  return escape_html(object.at(key).get<std::string>());
}

constexpr std::string_view kCredits =
    "<p>Charts by <a href=\"https://echarts.apache.org\">Apache ECharts</a> (Apache-2.0, © The "
    "Apache Software Foundation) and ZRender (BSD-3-Clause, © Baidu Inc.); their licences stand at "
    "the head of this page’s script.</p>";

bool has_charts() {
  return !embedded::report_js().empty();
}

// ---- best configuration by size -----------------------------------------------------------------

/// A configuration that may break after its commas.
std::string breakable(const std::string& escaped) {
  std::string html;
  for (const char c : escaped) html += c == ',' ? std::string(",<wbr>") : std::string(1, c);
  return html;
}

/// The cells of one row of a table by the keys of its columns.
class Row {
 public:
  Row(const Json& table, const Json& row) : columns_(table.at("columns")), row_(row) {}

  [[nodiscard]] const Json& value(std::string_view key) const { return row_.at(index(key)); }
  [[nodiscard]] std::string text(std::string_view key) const {
    const auto kind = columns_.at(index(key)).at("kind").get<std::string>();
    return escape_html(format_cell(value(key), kind));
  }

 private:
  [[nodiscard]] std::size_t index(std::string_view key) const {
    std::size_t i = 0;
    while (columns_.at(i).at("key").get<std::string>() != key) ++i;
    return i;
  }

  const Json& columns_;
  const Json& row_;
};

std::string library_cell(const Row& row) {
  const Json& ratio = row.value("ratio_to_library");
  if (ratio.is_null()) return "–";
  std::string html = row.text("ratio_to_library");
  if (!row.value("ratio_to_library_low").is_null()) {
    html += fmt::format("<small>{} – {}</small>", row.text("ratio_to_library_low"),
                        row.text("ratio_to_library_high"));
  }
  return html +
         fmt::format("<meter min=\"0\" max=\"1\" value=\"{:.3f}\" aria-hidden=\"true\"></meter>",
                     ratio.get<double>());
}

std::string best_row(const Row& row, bool has_rate) {
  const Json& factor = row.value("ratio_to_default");
  const Json& ties = row.value("ties");
  const bool provisional = row.value("measured_in") != "final";
  std::string html = fmt::format(
      "<tr><th scope=\"row\" class=\"size-name\">{}{}</th>"
      "<td class=\"figure\">{}<small>{} – {}</small></td>",
      row.text("size"), provisional ? "<small>not confirmed by a final</small>" : "",
      row.text("median_ns"), row.text("q1_ns"), row.text("q3_ns"));
  if (has_rate) html += fmt::format("<td class=\"figure strong\">{}</td>", row.text("rate"));
  html += fmt::format(
      "<td class=\"figure\">{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td>"
      "<td class=\"use\"><code data-copy=\"configuration\">{}</code>"
      "<code data-copy=\"command\" class=\"command\">{}</code></td></tr>",
      library_cell(row), factor.is_null() ? "–" : format_factor(factor.get<double>()),
      ties == 0 ? "–" : row.text("ties"), breakable(row.text("config")), row.text("command"));
  return html;
}

std::string best_table(const Json& section, const std::string& pointer) {
  const Json& table = section.at("table");
  std::string unit;
  for (const Json& column : table.at("columns")) {
    if (column.at("key") == "rate") unit = text_of(column, "label");
  }
  std::string html = fmt::format(
      "<section class=\"best\" data-section=\"{}\"><h3>{}</h3><div class=\"scroll\"><table>"
      "<thead><tr><th scope=\"col\">Size</th>"
      "<th scope=\"col\" class=\"figure\">Time<small>quartiles</small></th>",
      pointer, text_of(section, "title"));
  if (!unit.empty()) html += fmt::format("<th scope=\"col\" class=\"figure\">{}</th>", unit);
  html +=
      "<th scope=\"col\" class=\"figure\">Of the library<small>95 % interval</small></th>"
      "<th scope=\"col\" class=\"figure\">To default</th>"
      "<th scope=\"col\" class=\"figure\">Ties</th>"
      "<th scope=\"col\">Configuration, and how to get it</th></tr></thead><tbody>";
  for (const Json& row : table.at("rows")) html += best_row(Row(table, row), !unit.empty());
  return html + "</tbody></table></div><div class=\"tools\"></div></section>";
}

// ---- the other sections -------------------------------------------------------------------------

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
        "<details{}><summary>Table</summary><div class=\"scroll\">{}</div></details>",
        title, answer, wide || !has_charts() ? " open" : "", render_table(table));
  }
  return html + "</section>";
}

std::string panels(const Json& sections, const std::string& pointer, std::size_t first,
                   std::string_view heading) {
  std::string html;
  for (std::size_t i = first; i < sections.size(); ++i) {
    html += panel(sections[i], fmt::format("{}/sections/{}", pointer, i), heading);
  }
  return html;
}

std::string sizes_part(const Json& sizes, const std::string& pointer) {
  std::string html = "<section class=\"sizes\"><h3>Size by size</h3>";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Json& size = sizes[i];
    const std::string at = fmt::format("{}/sizes/{}", pointer, i);
    html += fmt::format(
        "<section class=\"size\" data-size=\"{}\" data-label=\"{}\"><p "
        "class=\"size-verdict\">{}</p>"
        "<div class=\"grid\">{}</div></section>",
        at, text_of(size, "label"), text_of(size, "verdict"),
        panels(size.at("sections"), at, 0, "h4"));
  }
  return html + "</section>";
}

std::string commands_part(const Json& commands) {
  if (commands.empty()) return "";
  std::string html =
      "<section class=\"panel\"><h3>Reproduce</h3><p class=\"answer\">As typed, the latest "
      "first.</p>";
  for (const Json& command : commands) {
    html += fmt::format("<pre><code data-copy=\"command\">{}</code></pre>",
                        escape_html(command.get<std::string>()));
  }
  return html + "</section>";
}

std::string kernel_part(const Json& kernel, std::size_t index) {
  const std::string pointer = fmt::format("/kernels/{}", index);
  const Json& sections = kernel.at("sections");
  return fmt::format(
      "<section class=\"kernel\" id=\"kernel-{}\"><p class=\"eyebrow\">{}</p><h2>{}</h2>"
      "<p class=\"verdict\">{}</p>{}<div class=\"grid\">{}</div>{}{}"
      "<p class=\"fine\">Kernel version {}.</p></section>",
      index, text_of(kernel, "family"), text_of(kernel, "kernel"), text_of(kernel, "verdict"),
      best_table(sections.at(0), pointer + "/sections/0"), panels(sections, pointer, 1, "h3"),
      sizes_part(kernel.at("sizes"), pointer), commands_part(kernel.at("commands")),
      text_of(kernel, "hash").substr(0, 12));
}

std::string sweep_part_of_page(const Json& sweep, std::size_t index) {
  return fmt::format(
      "<section class=\"kernel\" id=\"sweep-{0}\"><p class=\"eyebrow\">Over sizes</p><h2>{1}</h2>"
      "<p class=\"verdict\">{2}</p><div class=\"grid\">{3}</div></section>",
      index, text_of(sweep, "family"), text_of(sweep, "verdict"),
      panels(sweep.at("sections"), fmt::format("/sweeps/{}", index), 0, "h3"));
}

std::string header_part(const Json& document) {
  std::string html =
      fmt::format("<header><p class=\"eyebrow\">Tuning report · {}</p><h1>{}</h1><dl>",
                  text_of(document, "period"), text_of(document, "device"));
  for (const Json& fact : document.at("facts")) {
    html +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape_html(fact.at(0).get<std::string>()),
                    escape_html(fact.at(1).get<std::string>()));
  }
  html += "</dl></header>";
  const Json& kernels = document.at("kernels");
  if (kernels.size() < 2) return html;
  html += "<nav aria-label=\"Kernels\"><ul>";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    html += fmt::format("<li><a href=\"#kernel-{}\">{}</a> <span>{}</span></li>", i,
                        text_of(kernels[i], "kernel"), text_of(kernels[i], "verdict"));
  }
  return html + "</ul></nav>";
}

std::string body_of(const Json& document) {
  std::string html = header_part(document);
  if (!has_charts()) {
    html +=
        "<p class=\"banner\">Charts were not built into this program (TUNER_REPORT_JS=none); "
        "the tables hold everything they would show.</p>";
  }
  const Json& kernels = document.at("kernels");
  for (std::size_t i = 0; i < kernels.size(); ++i) html += kernel_part(kernels[i], i);
  const Json& sweeps = document.at("sweeps");
  for (std::size_t i = 0; i < sweeps.size(); ++i) html += sweep_part_of_page(sweeps[i], i);
  return html;
}

std::string script_source() {
  return has_charts() ? fmt::format("'sha256-{}'", embedded::report_js_sha256()) : "'none'";
}

}  // namespace

std::string render_page(const Json& document) {
  return fill_slots(
      embedded::report_shell(),
      {{"script-source", script_source()},
       {"style-source", fmt::format("'sha256-{}'", embedded::report_css_sha256())},
       {"title", text_of(document, "device")},
       {"style", std::string(embedded::report_css())},
       {"body", body_of(document)},
       {"credits", has_charts() ? std::string(kCredits) : std::string()},
       {"data", script_safe_json(document)},
       {"script",
        has_charts() ? fmt::format("<script>{}</script>", embedded::report_js()) : std::string()}});
}

}  // namespace tuner::report
