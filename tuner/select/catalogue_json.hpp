// SPDX-License-Identifier: Apache-2.0
// A catalogue as text, format dispatch/1: all that answers need, and no more.
#pragma once

#include "tuner/select/catalogue.hpp"
#include "tuner/select/table_code.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::select {

/// Between the kernels of a table, which end with "]" on a line of its own, and its compiled code.
inline constexpr std::string_view kCodeBegin = ",\"code\":";

/// The text has the fitted cost models. `code`: compiled kernels as of code_text; empty: none.
[[nodiscard]] std::string catalogue_json(const Catalogue& catalogue, std::string_view code = "");

/// What a table's checksum is: `kernels` is all behind its first line, up to kCodeBegin where it
/// has compiled code, `portfolios` the list of them in that line with its key and the comma behind
/// it, empty where there is none.
[[nodiscard]] std::string table_checksum(std::string_view portfolios, std::string_view kernels);

/// Reads such a text; `origin`, a path say, begins messages. The catalogue ranks as the one that
/// was written. Damaged code does not matter to it. Throws Error(usage) when the text is not one of
/// ours.
[[nodiscard]] Catalogue parse_catalogue(std::string_view text, std::string_view origin);

/// Whether a text that parse_catalogue takes is, by its checksum, as catalogue_json wrote it.
[[nodiscard]] bool is_as_written(std::string_view text);

/// A catalogue of which only the kernels may be known yet, each by its record alone.
struct CatalogueOutline {
  Catalogue known;
  /// For each kernel what read_results takes; empty where its results are known already.
  std::vector<std::string_view> unread = {};
  std::shared_ptr<const std::string> text = {};  ///< that `unread` is part of
  /// Null where there is none, and where the text was changed since it was written.
  std::shared_ptr<const TableCode> code = {};
};

/// Reads as parse_catalogue, without the results of a text that is, by its checksum, as
/// catalogue_json wrote it: they are most of it, and nothing can be wrong with them. A text that
/// was changed since is read whole.
[[nodiscard]] CatalogueOutline outline_catalogue(std::string text, std::string_view origin);

/// Adds all but the record of a kernel. Throws Error(usage).
void read_results(CatalogueKernel& kernel, std::string_view unread,
                  const space::DeviceAttributes& device);

}  // namespace tuner::select
