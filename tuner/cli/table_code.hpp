// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/select/catalogue.hpp"
#include "tuner/select/table_code.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// The text of a dispatch table. Throws Error as read_file, also for one of more than 256 MiB.
[[nodiscard]] std::string read_table(const std::filesystem::path& file);

/// The configurations of a table that `scope` ("members" or "bests") names, compiled for its device
/// on all cores, as catalogue_json takes them. Prints what is not compiled. Throws Error where
/// nothing is.
[[nodiscard]] std::string compiled_code(const CommonOptions& common, const select::Catalogue& known,
                                        std::string_view scope);

/// What `tune tables check` says of the compiled code of a table.
struct TableCodeReport {
  std::string summary;                     ///< empty where the table has no code
  std::vector<std::string> warnings = {};  ///< what a dispatcher compiles from source, and why
  std::size_t kernels = 0;                 ///< with code that can be read
  std::size_t members = 0;                 ///< of portfolios, and those of them with code
  std::size_t members_with_code = 0;
  std::string compiler = {};
};

/// `code`: null where the table has none.
[[nodiscard]] TableCodeReport check_code(const select::TableCode* code,
                                         const select::Catalogue& known);

}  // namespace tuner::cli
