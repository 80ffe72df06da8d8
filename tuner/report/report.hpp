// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/comparison.hpp"
#include "tuner/store/store.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::report {

/// What a page shows besides the latest results of its device.
struct Additions {
  enum class Environments { latest, all };
  std::vector<Json> sweeps = {};                     ///< parse_sweep; those of the device
  Environments environments = Environments::latest;  ///< all: the latest beside each other one
  std::vector<ComparedResults> compared = {};        ///< each, on this device, beside the results
};

/// Everything the page of one device shows, as a document of format "tune.report/3"
/// (docs/reference/report.md). Every number of the page is computed here, once; the page's script
/// only draws. Holds no host name and no directories of the machine. Throws
/// Error(nothing_found), naming the devices that are known, when the device has no results.
[[nodiscard]] Json report_document(const store::Store& store, const std::string& device_name,
                                   const Additions& additions = {});

/// The page of a document: one HTML file that needs nothing else. Its script (reports/src) renders
/// the document; without scripts it shows the verdicts and a table of the best configurations. Text
/// of the document is shown as text, whatever it holds.
[[nodiscard]] std::string render_page(const Json& document);

/// Writes <directory>/<device>.html for each device, or for the one named, and returns the paths.
/// A device of a sweep needs no other results. Throws Error(nothing_found) when there is nothing to
/// report, or nothing of these devices to compare with, Error(failure) when a page cannot be
/// written.
std::vector<std::filesystem::path> write_reports(const store::Store& store,
                                                 const std::optional<std::string>& device,
                                                 const std::filesystem::path& directory,
                                                 const Additions& additions = {});

/// The same of sweeps alone, without a database.
std::vector<std::filesystem::path> write_sweep_reports(const std::optional<std::string>& device,
                                                       const std::filesystem::path& directory,
                                                       std::span<const Json> sweeps);

}  // namespace tuner::report
