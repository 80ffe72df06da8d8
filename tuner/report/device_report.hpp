// SPDX-License-Identifier: Apache-2.0
// The document of a device (report_document) in parts, of which few are in memory together.
#pragma once

#include "tuner/report/history.hpp"
#include "tuner/report/importance.hpp"
#include "tuner/report/metric.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/snippet.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tuner::report {

/// The device of that name. Throws Error(nothing_found), naming the devices that are known, when
/// there is none.
[[nodiscard]] space::DeviceInfo device_named(const store::Store& store, const std::string& name);

/// Throws Error(nothing_found): there is nothing to report, of the device where one is given. Names
/// the command of the last run there, of which no trial has ended, else one that begins.
[[noreturn]] void fail_without_results(const store::Store& store,
                                       const std::optional<std::string>& device);

/// The details of a kernel's size by their places in a document. Threads call it at the same time.
using SizeDetails = std::function<Json(std::size_t kernel, std::size_t size)>;

/// The best known configurations of a kernel, as a page without scripts shows them.
struct PlainKernel {
  struct Best {
    std::string size;
    double ns = 0;  ///< ranking_ns
    ConfigValues values;
  };
  std::string family, kernel;
  std::vector<std::string> parameters;
  std::vector<Best> bests;  ///< of each size with a result
};

class DeviceReport {
 public:
  /// Of a device that has `kernels`.
  DeviceReport(const store::Store& store, const space::DeviceInfo& device,
               std::vector<KernelHistory> kernels, const Additions& additions);

  /// The document, of whose sizes only the problem is in it.
  [[nodiscard]] const Json& overview() const { return overview_; }
  /// The rest of a size of it.
  [[nodiscard]] Json size(std::size_t kernel, std::size_t size) const;
  /// The best configurations of each kernel that has a result.
  [[nodiscard]] std::vector<PlainKernel> bests() const;

 private:
  space::DeviceInfo device_;
  std::vector<KernelHistory> kernels_;
  std::vector<Metric> metrics_;
  std::vector<KernelImportances> ranked_;
  std::vector<std::unique_ptr<const SnippetKernel>> stored_;  ///< null where it cannot be printed
  /// Kernels with the problems at which they are their family's best: these have launch code.
  std::set<std::pair<std::size_t, std::string>> best_;
  Json overview_;
};

/// The page of a document whose sizes have the problem alone; `details` gives the rest. Without
/// scripts it shows `bests`.
[[nodiscard]] std::string render_page(const Json& overview, std::span<const PlainKernel> bests,
                                      const SizeDetails& details);

}  // namespace tuner::report
