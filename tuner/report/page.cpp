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
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace tuner::report {
namespace {

bool has_script() {
  return !embedded::report_js().empty();
}

/// Without the end tags that HTML does not need, and with the parameters of a kernel named once:
/// of a thousand rows these are 200 kB.
std::string table_of(std::span<const PlainKernel> bests) {
  if (bests.empty()) return "";
  const auto joined = [](const std::vector<std::string>& texts) {
    return escape_html(fmt::format("{}", fmt::join(texts, ",")));
  };
  std::string rows;
  for (const PlainKernel& one : bests) {
    rows += fmt::format("<tr><th rowspan={0}>{1}<th rowspan={0}>{2}<td><td><th>{3}",
                        one.bests.size() + 1, escape_html(one.family), escape_html(one.kernel),
                        joined(one.parameters));
    for (const PlainKernel::Best& best : one.bests) {
      rows += fmt::format("<tr><td>{}<td>{}<td>{}", escape_html(best.size), format_time(best.ns),
                          joined(best.values));
    }
  }
  return fmt::format(
      "<table><caption>Best configurations</caption>"
      "<tr><th>Family<th>Kernel<th>Size<th>Time<th>Configuration{}</table>",
      rows);
}

/// What a reader without the script sees; the script makes everything else from the data.
std::string plain_part(std::span<const PlainKernel> bests) {
  const std::string html = fmt::format(
      "<p class=\"banner\">{}</p>{}",
      has_script() ? "Charts, verdicts, filters and details need JavaScript."
                   : "Charts, verdicts, filters and details were not built into this program "
                     "(TUNER_REPORT_JS=none).",
      table_of(bests));
  return has_script() ? fmt::format("<noscript>{}</noscript>", html) : html;
}

// ---- data ---------------------------------------------------------------------------------------

/// The document without what the details of sizes repeat: the lists of sizes.
Json without_sizes(Json overview) {
  for (Json& kernel : overview.at("kernels")) kernel["sizes"] = Json::array();
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

std::string render_page(const Json& overview, std::span<const PlainKernel> bests,
                        const SizeDetails& details) {
  constexpr std::string_view kDetails = "{{details}}";  // many megabytes: not copied
  const std::string_view shell = embedded::report_shell();
  const std::size_t at = shell.find(kDetails);
  std::string page = fill_slots(
      shell.substr(0, at),
      {{"script-source", script_source()},
       {"style-source", fmt::format("'sha256-{}'", embedded::report_css_sha256())},
       {"title", escape_html(overview.at("device").get<std::string>())},
       {"style", std::string(embedded::report_css())},
       {"plain", plain_part(bests)},
       {"data", script_safe_json(without_sizes(overview))},
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
  return render_page(overview, {}, [&](std::size_t kernel, std::size_t size) {
    return document["kernels"][kernel]["sizes"][size];
  });
}

}  // namespace tuner::report
