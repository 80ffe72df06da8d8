// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/submission.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/merged_catalogue.hpp"

#include <fmt/format.h>

#include <optional>

namespace tuner::cli {
namespace {

constexpr std::size_t kTableLimitBytes = std::size_t{256} << 20;

}  // namespace

int merge_tables(const CommonOptions& common, const MergeTablesOptions& options) {
  std::optional<select::Catalogue> merged;
  std::string remarks;  // told once all could be merged
  for (const std::string& file : options.files) {
    const std::string text = read_file(file, kTableLimitBytes);
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
