// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/submission.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/cli/table_code.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/suite.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/merged_catalogue.hpp"
#include "tuner/select/stored_family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tuner::cli {
namespace {

using Align = Table::Align;

constexpr int kIncomplete = 5;  // nothing was found for a size that should be there

/// What a table has of one family.
struct TableFamily {
  std::string name;
  std::optional<family::Family> file;  ///< none where no kernel came with its space file
  std::set<std::string> kernels;       ///< that have results
  std::set<std::string> sizes;
  std::set<std::string> fresh;  ///< those of a result of the table's driver and compiler
  std::map<std::string, std::size_t>
      versions;  ///< how many results by what they were measured with

  [[nodiscard]] std::vector<std::string> stale() const {
    std::vector<std::string> result;
    std::ranges::set_difference(sizes, fresh, std::back_inserter(result));
    return result;
  }
};

/// What a table has of a suite.
struct TableSuite {
  std::string name;
  std::string family;
  std::size_t sizes = 0;
  std::vector<std::string> missing;
  std::vector<std::string> stale;
};

std::string versions_text(const space::EnvironmentInfo& it) {
  std::vector<std::string> parts;
  if (!it.driver.empty()) parts.push_back("driver " + it.driver);
  for (const std::string& part : {it.compiler, it.library}) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts.empty() ? "unknown versions" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<TableFamily> families_of(const select::Catalogue& known) {
  std::vector<TableFamily> families;
  for (const select::CatalogueKernel& kernel : known.kernels) {
    auto found = std::ranges::find(families, kernel.record->family, &TableFamily::name);
    if (found == families.end()) {
      families.emplace_back().name = kernel.record->family;
      found = families.end() - 1;
    }
    if (!found->file && kernel.stored != nullptr) {
      found->file = select::stored_family(*kernel.record);
    }
    if (!kernel.entries.empty()) found->kernels.insert(kernel.record->kernel);
    for (const select::Entry& entry : kernel.entries) {
      found->sizes.insert(entry.size.text);
      if (!entry.stale) found->fresh.insert(entry.size.text);
      ++found->versions[versions_text(entry.environment)];
    }
  }
  std::ranges::sort(families, {}, &TableFamily::name);
  return families;
}

/// Why the dispatcher cannot run a kernel; empty: it can. Throws Error(usage) where the code is not
/// that of the results, which no dispatcher opens.
std::string why_not_run(const select::CatalogueKernel& kernel) {
  const std::string& name = kernel.record->kernel;
  if (kernel.stored == nullptr) {
    return fmt::format("{} has results without sources: the dispatcher cannot run it", name);
  }
  const family::Family family = select::stored_family(*kernel.record);
  select::require_own_code(*kernel.record, family);
  const std::vector<family::SymbolArgument>& symbols = family.kernel(name).symbols;
  if (symbols.empty()) return "";
  return fmt::format("{} takes the array '{}' in constant memory: the dispatcher cannot run it",
                     name, family.arguments[symbols.front().argument].name);
}

/// The entries of a kernel whose configuration its space does not have.
std::vector<std::string> invalid_entries(const select::Catalogue& known,
                                         const select::CatalogueKernel& kernel) {
  std::vector<std::string> found;
  for (const select::Entry& entry : kernel.entries) {
    const select::KnownConfig& config = kernel.configs[entry.config];
    std::string why = config.refusal;
    if (config.config && kernel.stored != nullptr) {
      why = select::why_invalid(*kernel.stored,
                                kernel.stored->at(known.device.attributes, entry.size.numbers),
                                *config.config)
                .value_or("");
    }
    if (!why.empty()) {
      found.push_back(fmt::format("{} at {}: {} is not used: {}", kernel.record->kernel,
                                  entry.size.text, config.json, why));
    }
  }
  return found;
}

std::vector<std::string> warnings_of(std::string_view text, const select::Catalogue& known) {
  std::vector<std::string> warnings;
  if (!select::is_as_written(text)) {
    warnings.emplace_back(
        "the file was changed after `tune export` wrote it (its checksum): compiled code in it is "
        "not used");
  }
  for (const select::CatalogueKernel& kernel : known.kernels) {
    if (std::string why = why_not_run(kernel); !why.empty()) warnings.push_back(std::move(why));
    std::ranges::move(invalid_entries(known, kernel), std::back_inserter(warnings));
  }
  return warnings;
}

/// The table's family whose sizes "FILE" or "FILE:GROUP" names.
const TableFamily& family_of(const std::string& suite, const std::vector<TableFamily>& families) {
  const std::string name = family::suite_family(suite);
  const auto found = std::ranges::find(families, name, &TableFamily::name);
  if (found != families.end() && found->file) return *found;
  std::vector<std::string> known;
  for (const TableFamily& it : families) known.push_back(it.name);
  throw Error(
      ErrorCode::usage,
      found == families.end()
          ? fmt::format("{}: these are sizes of '{}', of which the table has nothing{}; it has "
                        "{}",
                        suite, name, did_you_mean(name, known), fmt::join(known, ", "))
          : fmt::format("{}: the table has no space file of '{}'", suite, name));
}

TableSuite check_suite(const std::string& name, const std::vector<TableFamily>& families) {
  const TableFamily& table = family_of(name, families);
  TableSuite suite;
  suite.name = name;
  suite.family = table.name;
  for (const space::Size& size : family::suite_sizes(name, *table.file)) {
    const std::string text = space::canonical_size(size, table.file->problem.dims);
    ++suite.sizes;
    if (!table.sizes.contains(text)) {
      suite.missing.push_back(text);
    } else if (!table.fresh.contains(text)) {
      suite.stale.push_back(text);
    }
  }
  return suite;
}

std::string verdict(const TableSuite& suite) {
  std::vector<std::string> parts;
  if (!suite.missing.empty()) parts.push_back(fmt::format("{} missing", suite.missing.size()));
  if (!suite.stale.empty()) parts.push_back(fmt::format("{} stale", suite.stale.size()));
  return parts.empty() ? "complete" : fmt::format("{}", fmt::join(parts, ", "));
}

/// "1410 to 1980 MHz".
std::string range_text(const Range& range, std::string_view unit) {
  const std::string high = fmt::format("{:.0f}", *range.high);
  const std::string low = fmt::format("{:.0f}", *range.low);
  return fmt::format("{}{} {}", low == high ? "" : low + " to ", high, unit);
}

/// "clocks: 1410 to 1980 MHz, at most 1980 MHz, power limit 700 W; unknown for 2 of 72 tuned
/// sizes".
std::string clocks_text(const TableClocks& clocks) {
  std::vector<std::string> parts;
  if (clocks.mhz.low) parts.push_back(range_text(clocks.mhz, "MHz"));
  if (clocks.max_mhz.low) parts.push_back("at most " + range_text(clocks.max_mhz, "MHz"));
  if (clocks.power_limit_w.low) {
    parts.push_back("power limit " + range_text(clocks.power_limit_w, "W"));
  }
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (clocks.unknown > 0) {
    text += fmt::format("{}unknown for {} of {}", text.empty() ? "" : "; ", clocks.unknown,
                        quantity::count(clocks.results, "tuned size"));
  }
  return "clocks: " + text;
}

Json range_json(const Range& range) {
  return range.low ? Json({*range.low, *range.high}) : Json();
}

Json clocks_json(const TableClocks& clocks) {
  return {{"mhz", range_json(clocks.mhz)},
          {"max_mhz", range_json(clocks.max_mhz)},
          {"power_limit_w", range_json(clocks.power_limit_w)},
          {"unknown", clocks.unknown}};
}

Json tables_json(const std::string& file, const select::Catalogue& known,
                 const std::vector<TableFamily>& families, const std::vector<TableSuite>& suites,
                 const TableCodeReport& code, const std::vector<std::string>& warnings,
                 const std::optional<std::vector<std::string>>& objections) {
  Json document = {{"schema", "tune.tables/1"},
                   {"file", file},
                   {"device", known.device.name},
                   {"backend", known.device.backend},
                   {"driver", known.environment.driver},
                   {"compiler", known.environment.compiler},
                   {"library", known.environment.library},
                   {"clocks", clocks_json(clocks_of(known))},
                   {"warnings", warnings},
                   {"families", Json::array()},
                   {"suites", Json::array()},
                   {"portfolios", Json::array()}};
  for (const TableFamily& it : families) {
    document["families"].push_back({{"family", it.name},
                                    {"kernels", it.kernels},
                                    {"sizes", it.sizes},
                                    {"stale", it.stale()},
                                    {"versions", it.versions}});
  }
  for (const store::PortfolioRecord& it : known.portfolios) {
    document["portfolios"].push_back({{"family", it.family},
                                      {"types", it.types},
                                      {"members", it.members.size()},
                                      {"sizes", it.sizes.size()},
                                      {"loss", it.loss},
                                      {"left_out_loss", number_or_null(it.left_out_loss)}});
  }
  if (!code.summary.empty()) {
    document["code"] = {{"compiler", code.compiler},
                        {"kernels", code.kernels},
                        {"members", code.members},
                        {"members_with_code", code.members_with_code}};
  }
  if (objections) document["objections"] = *objections;
  for (const TableSuite& it : suites) {
    document["suites"].push_back({{"suite", it.name},
                                  {"family", it.family},
                                  {"sizes", it.sizes},
                                  {"missing", it.missing},
                                  {"stale", it.stale}});
  }
  return document;
}

void print_tables(const CommonOptions& common, const std::string& file,
                  const select::Catalogue& known, const std::vector<TableFamily>& families,
                  const std::vector<TableSuite>& suites, const TableCodeReport& code) {
  const Output output(common);
  output.tell("{}: {}, {}\n", printable_name(file), printable(known.device.name),
              versions_text(known.environment));
  Table of_families({{"family"},
                     {"kernels", Align::right},
                     {"sizes", Align::right},
                     {"stale", Align::right},
                     {"measured with"}});
  for (const TableFamily& it : families) {
    std::vector<std::string> versions;
    for (const auto& [text, results] : it.versions) {
      versions.push_back(it.versions.size() == 1 ? text : fmt::format("{} ({})", text, results));
    }
    of_families.add({it.name, std::to_string(it.kernels.size()), std::to_string(it.sizes.size()),
                     std::to_string(it.stale().size()),
                     fmt::format("{}", fmt::join(versions, "; "))});
  }
  output.table(of_families);
  const TableClocks clocks = clocks_of(known);
  if (!space::runs_on_host(known.device.backend) && clocks.results > 0)
    output.tell("{}\n", clocks_text(clocks));
  for (const store::PortfolioRecord& it : known.portfolios) {
    output.tell("portfolio of {}{}{}: {} for {}\n", it.family, it.types.empty() ? "" : " ",
                it.types, quantity::count(it.members.size(), "member"),
                quantity::count(it.sizes.size(), "size"));
  }
  if (!code.summary.empty()) output.tell("{}\n", code.summary);
  if (suites.empty()) return;
  Table of_suites({{"suite"}, {"family"}, {"answered", Align::right}, {"verdict"}});
  for (const TableSuite& it : suites) {
    of_suites.add({it.name, it.family,
                   fmt::format("{} of {}", it.sizes - it.missing.size(), it.sizes), verdict(it)});
  }
  output.print("\n");
  output.table(of_suites);
  for (const TableSuite& it : suites) {
    if (!it.missing.empty()) output.tell("missing: {}\n", fmt::join(it.missing, " "));
    if (!it.stale.empty()) output.tell("stale: {}\n", fmt::join(it.stale, " "));
  }
}

/// What stands against the table as results that others shall get.
std::vector<std::string> submission_objections(const select::Catalogue& known,
                                               const std::vector<std::string>& warnings,
                                               const std::vector<TableSuite>& suites) {
  std::vector<std::string> objections = warnings;
  std::ranges::move(objections_to(known), std::back_inserter(objections));
  for (const TableSuite& suite : suites) {
    if (!suite.missing.empty() || !suite.stale.empty())
      objections.push_back(
          fmt::format("{} has {} sizes: {}", suite.name, suite.sizes, verdict(suite)));
  }
  if (suites.empty()) objections.emplace_back("name the suites that it should have with --sizes");
  return objections;
}

void print_verdict(const CommonOptions& common, const std::vector<std::string>& objections) {
  const Output output(common);
  if (objections.empty()) output.tell("\nas a submission: accepted\n");
  for (const std::string& objection : objections)
    output.tell("{}\n", printable("as a submission: refused: " + objection));
}

}  // namespace

int check_table(const CommonOptions& common, const TablesOptions& options) {
  const std::string text = read_table(options.file);
  const select::Catalogue known = select::parse_catalogue(text, options.file);
  const TableCodeReport code =
      check_code(select::outline_catalogue(text, options.file).code.get(), known);
  std::vector<std::string> warnings = warnings_of(text, known);
  warnings.insert(warnings.end(), code.warnings.begin(), code.warnings.end());
  const select::Catalogue aged = select::in_environment(known, known.environment);
  const std::vector<TableFamily> families = families_of(aged);
  std::vector<TableSuite> suites;
  for (const std::string& name : options.suites) suites.push_back(check_suite(name, families));
  std::optional<std::vector<std::string>> objections;
  if (options.submission) objections = submission_objections(known, warnings, suites);
  // A small card may run so by its power limit: a reviewer judges it.
  if (std::string slow = clocks_of(known).warning; !slow.empty()) warnings.push_back(slow);
  if (common.json) {
    fmt::print("{}", json_text(tables_json(options.file, known, families, suites, code, warnings,
                                           objections)));
  } else {
    for (const std::string& warning : warnings)
      tell(printable(fmt::format("warning: {}\n", warning)));
    print_tables(common, options.file, known, families, suites, code);
    if (objections) print_verdict(common, *objections);
  }
  if (objections && !objections->empty()) return static_cast<int>(ErrorCode::failure);
  const bool is_complete =
      std::ranges::all_of(suites, [](const TableSuite& it) { return it.missing.empty(); });
  return is_complete ? 0 : kIncomplete;
}

int merge_tables(const CommonOptions& common, const MergeTablesOptions& options) {
  std::optional<select::Catalogue> merged;
  std::string remarks;  // told once all could be merged
  for (const std::string& file : options.files) {
    const std::string text = read_table(file);
    select::Catalogue next = select::parse_catalogue(text, file);
    // The merged table has a checksum of its own, which would vouch for the change.
    if (!select::is_as_written(text)) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: the file was changed after `tune export` wrote it (its "
                              "checksum): merge it as it was exported",
                              file));
    }
    if (!merged) {
      merged = std::move(next);
      continue;
    }
    for (const std::string& objection : objections_to(next))
      remarks += printable(fmt::format("warning: {}: {}\n", file, objection));
    select::MergedCatalogue both = select::merged_catalogue(*std::move(merged), next);
    for (const std::string& left_out : both.replaced)
      remarks += printable(fmt::format("{}: {}\n", file, left_out));
    merged = std::move(both.catalogue);
  }
  write_file(options.output, select::catalogue_json(*merged));
  tell(remarks);
  std::size_t entries = 0;
  for (const select::CatalogueKernel& kernel : merged->kernels) entries += kernel.entries.size();
  Output(common).tell(
      "{}: {}, {}, {} on {}\n", printable_name(options.output),
      quantity::count(merged->kernels.size(), "kernel"), quantity::count(entries, "tuned size"),
      quantity::count(merged->portfolios.size(), "portfolio"), printable(merged->device.name));
  return 0;
}

}  // namespace tuner::cli
