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
  std::vector<Json> sweeps = {};  ///< parse_sweep; those of the device
  /// The latest beside the one before it, or beside each other one.
  Environments environments = Environments::latest;
  std::vector<ComparedResults> compared = {};  ///< each, on this device, beside the results
  int reloaded_every_s = 0;  ///< the page loads itself again, as during a run; 0: never
};

/// Everything the page of one device shows, as a document of format "tune.report/3"
/// (docs/reference/report.md): facts, of which the page's script (reports/src) makes all that a
/// reader sees. Holds no host name and no directories of the machine. Throws Error(nothing_found),
/// naming the devices that are known, when the device has no results.
[[nodiscard]] Json report_document(const store::Store& store, const std::string& device_name,
                                   const Additions& additions = {});

/// The page of a document: one HTML file that needs nothing else. Its script renders the document,
/// whose text is shown as text, whatever it holds. Without scripts it shows a sentence alone; a
/// page of write_reports also a table of the best configurations.
[[nodiscard]] std::string render_page(const Json& document);

/// Writes <directory>/<device>.html for each device, or for the one named, and returns the paths.
/// A device of a sweep needs no other results. Throws Error(nothing_found) when there is nothing to
/// report, or nothing of these devices to compare with, Error(failure) when a page cannot be
/// written.
std::vector<std::filesystem::path> write_reports(const store::Store& store,
                                                 const std::optional<std::string>& device,
                                                 const std::filesystem::path& directory,
                                                 const Additions& additions = {});

/// Where the page of a device is written: `where` itself if it ends in ".html", else a file in that
/// folder.
[[nodiscard]] std::filesystem::path page_path(const std::filesystem::path& where,
                                              const std::string& device);

/// Writes the page of one device into a file. Throws as write_reports.
void write_report(const store::Store& store, const std::string& device,
                  const std::filesystem::path& file, const Additions& additions = {});

/// As write_reports, of sweeps alone, without a database.
std::vector<std::filesystem::path> write_sweep_reports(const std::optional<std::string>& device,
                                                       const std::filesystem::path& directory,
                                                       std::span<const Json> sweeps);

}  // namespace tuner::report
