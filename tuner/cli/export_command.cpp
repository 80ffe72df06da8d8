// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/table_code.hpp"
#include "tuner/cli/table_header.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/interop/recording_file.hpp"
#include "tuner/interop/recording_text.hpp"
#include "tuner/interop/store_recording.hpp"
#include "tuner/select/catalogue.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/ranked_kernel.hpp"
#include "tuner/select/stored_family.hpp"
#include "tuner/space/size.hpp"
#include "tuner/store/best_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <unistd.h>

namespace tuner::cli {
namespace {

/// The size that the options name as the kernel's results are kept under.
std::string stored_key(const store::Store& store, const ExportOptions& options) {
  store::ResultFilter filter;
  if (!options.kernel.empty()) filter.kernel = options.kernel;
  for (const store::KernelRecord& kernel : store.kernels(filter)) {
    if (!select::has_space(kernel)) continue;
    const space::Dimensions dims = select::stored_file(kernel).family.problem.dims;
    if (const auto size = space::stored_size(options.size, dims))
      return space::canonical_size(*size, dims);
  }
  return space::normalised_size(options.size);
}

/// The results that the options name.
store::ResultFilter filter_of(const store::Store& store, const ExportOptions& options) {
  store::ResultFilter filter;
  if (!options.device.empty()) filter.device = options.device;
  if (!options.family.empty()) filter.family = options.family;
  if (!options.kernel.empty()) filter.kernel = options.kernel;
  if (!options.size.empty()) filter.problem = stored_key(store, options);
  return filter;
}

std::string best_lines(const CommonOptions& common, const ExportOptions& options) {
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  std::vector<std::string> lines;
  for (const store::StoredBest& stored : store.bests(filter_of(store, options)))
    lines.push_back(store::best_line(stored) + "\n");
  if (lines.empty()) {
    std::vector<std::string> named;
    for (const auto& [option, value] :
         {std::pair{"--device", &options.device}, std::pair{"--family", &options.family},
          std::pair{"--kernel", &options.kernel}}) {
      if (!value->empty()) named.insert(named.end(), {option, *value});
    }
    throw Error(ErrorCode::nothing_found,
                fmt::format("{}: nothing to export{}{}", store.path().string(),
                            named.empty() ? "" : " for ", shell_line(named)));
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ""));
}

/// The one recording of the database that the options name.
interop::Recording stored_recording(const CommonOptions& common, const ExportOptions& options) {
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  std::vector<interop::Recording> recordings =
      interop::read_recordings(store, filter_of(store, options));
  if (recordings.size() == 1) return std::move(recordings.front());
  if (recordings.empty()) {
    throw Error(ErrorCode::nothing_found,
                fmt::format("{}: no trials of such a kernel, size and device; `tune runs list` "
                            "shows what there is",
                            store.path().string()));
  }
  std::string known;
  for (const interop::Recording& it : recordings) {
    known += "\n    " + shell_line(std::vector<std::string>{"--kernel", it.kernel, "--size",
                                                            it.problem, "--device", it.device});
  }
  throw Error(ErrorCode::usage,
              fmt::format("a {} file holds one kernel at one size on one device; name it:{}",
                          options.format, known));
}

std::string recording_text(const CommonOptions& common, const ExportOptions& options) {
  const interop::Recording recording = options.from.empty() ? stored_recording(common, options)
                                                            : interop::read_recording(options.from);
  if (!common.quiet) {
    tell(printable_name(fmt::format("{} of {}{}{}",
                                    quantity::count(recording.trials.size(), "trial"),
                                    recording.kernel.empty() ? "a kernel" : recording.kernel,
                                    recording.problem.empty() ? "" : " at " + recording.problem,
                                    recording.device.empty() ? "" : " on " + recording.device)) +
         "\n");
  }
  return options.format == "cache" ? interop::cache_text(recording) : interop::t4_text(recording);
}

/// What the family's name makes of itself when the user gives the table none.
std::string table_name(const select::Catalogue& known, const ExportOptions& options) {
  if (!options.name.empty()) return options.name;
  const auto of_one_family = [&](const select::CatalogueKernel& kernel) {
    return kernel.record->family == known.kernels.front().record->family;
  };
  return std::ranges::all_of(known.kernels, of_one_family)
             ? known.kernels.front().record->family + "_table"
             : "tuner_table";
}

std::string dispatch_table(const CommonOptions& common, const ExportOptions& options) {
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  select::CatalogueQuery query;
  if (!options.device.empty()) query.device = options.device;
  if (!options.family.empty()) query.family = options.family;
  if (!options.kernel.empty()) query.kernel = options.kernel;
  select::Catalogue known = select::catalogue(store, query);
  std::erase_if(known.kernels, [](const auto& kernel) { return kernel.sizes.empty(); });
  std::size_t entries = 0;
  std::vector<std::string> without_sources;
  for (const select::CatalogueKernel& kernel : known.kernels) {
    select::require_own_code(*kernel.record);
    entries += kernel.entries.size();
    if (kernel.stored == nullptr) without_sources.push_back(kernel.record->kernel);
  }
  if (entries == 0 && known.portfolios.empty()) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("{}: no size has a confirmed result on {}: `tune finalize` re-times what "
                    "has screening times only, `tune runs show` lists why trials failed",
                    store.path().string(), known.device.name));
  }
  const std::string portfolios =
      known.portfolios.empty() ? "" : ", " + quantity::count(known.portfolios.size(), "portfolio");
  const std::string subject = printable_name(
      fmt::format("{} and {}{} on {}", quantity::count(known.kernels.size(), "kernel"),
                  quantity::count(entries, "tuned size"), portfolios, known.device.name));
  if (!common.quiet) tell(subject + "\n");
  if (!without_sources.empty()) {
    tell(printable_name(fmt::format("warning: without sources, as imported lines are: {}: the "
                                    "dispatcher cannot run {}; merge the database in which they "
                                    "were tuned",
                                    fmt::join(without_sources, ", "),
                                    without_sources.size() == 1 ? "it" : "them")) +
         "\n");
  }
  const std::string document = select::catalogue_json(
      known, options.code.empty() ? "" : compiled_code(common, known, options.code));
  return options.format == "json" ? document
                                  : table_header(document, table_name(known, options), subject);
}

/// An option and the formats that it acts upon.
struct OptionUse {
  std::string_view option;
  std::string ExportOptions::*value;
  std::vector<std::string> formats;
};

/// Options that would have no effect are refused.
void check(const ExportOptions& options) {
  static const std::vector<std::string> formats = {"bests", "json", "header", "cache", "t4"};
  static const std::array uses = {
      OptionUse{"--family", &ExportOptions::family, {"bests", "json", "header"}},
      OptionUse{"--code", &ExportOptions::code, {"json", "header"}},
      OptionUse{"--name", &ExportOptions::name, {"header"}},
      OptionUse{"--size", &ExportOptions::size, {"cache", "t4"}},
      OptionUse{"--from", &ExportOptions::from, {"cache", "t4"}}};
  if (std::ranges::count(formats, options.format) == 0) {
    throw Error(ErrorCode::usage, fmt::format("--format: unknown format '{}'{}", options.format,
                                              did_you_mean(options.format, formats)));
  }
  for (const auto& [option, value, with] : uses) {
    if ((options.*value).empty() || std::ranges::count(with, options.format) > 0) continue;
    throw Error(ErrorCode::usage,
                fmt::format("{} has no effect with --format {}; use it with --format {}", option,
                            options.format, fmt::join(with, ", ")));
  }
  const bool selects = !options.kernel.empty() || !options.size.empty() || !options.device.empty();
  if (!options.from.empty() && selects) {
    throw Error(ErrorCode::usage,
                "--from: a file holds one kernel at one size on one device: leave out --kernel, "
                "--size and --device");
  }
}

std::string export_text(const CommonOptions& common, const ExportOptions& options) {
  if (options.format == "bests") return best_lines(common, options);
  if (options.format == "json" || options.format == "header") {
    return dispatch_table(common, options);
  }
  return recording_text(common, options);
}

}  // namespace

int export_results(const CommonOptions& common, const ExportOptions& options) {
  check(options);
  const std::string text = export_text(common, options);
  if (options.output.empty()) {
    fmt::print("{}", ::isatty(STDOUT_FILENO) != 0 ? printable(text) : text);
  } else {
    write_file(options.output, text);
  }
  return 0;
}

}  // namespace tuner::cli
