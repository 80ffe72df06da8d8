// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/report.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/sweep_sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <set>

namespace tuner::report {
namespace {

/// A device's name as a file name: "NVIDIA H200" → "nvidia-h200".
std::string slug(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      text += static_cast<char>(std::tolower(byte));
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  while (!text.empty() && text.back() == '-') text.pop_back();
  return text.empty() ? "device" : text;
}

/// The names of the devices with results, each once; several cards may share one.
std::set<std::string> reported_devices(const store::Store& store) {
  std::set<std::string> names;
  for (const space::DeviceInfo& device : store.devices()) {
    if (!kernel_histories(store, device.name).empty()) names.insert(device.name);
  }
  return names;
}

void require_results_of(const std::set<std::string>& names, const ComparedResults& other) {
  const auto is_reported = [&](const store::StoredBest& one) {
    return names.contains(one.subject->device.name);
  };
  if (std::ranges::any_of(other.bests, is_reported)) return;
  throw Error(ErrorCode::nothing_found, fmt::format("{} has no results of {} to compare with",
                                                    other.name, fmt::join(names, ", ")));
}

std::set<std::string> devices_of(std::span<const Json> sweeps) {
  std::set<std::string> names;
  for (const Json& sweep : sweeps) names.insert(sweep_device(sweep));
  return names;
}

/// Writes the page of each device, whose document `document_of` makes.
template <class DocumentOf>
std::vector<std::filesystem::path> write_pages(const std::set<std::string>& names,
                                               const std::filesystem::path& directory,
                                               const DocumentOf& document_of) {
  std::vector<std::filesystem::path> written;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    std::string file = slug(name);
    for (int i = 2; !taken.insert(file).second; ++i) file = fmt::format("{}-{}", slug(name), i);
    const std::filesystem::path path = directory / (file + ".html");
    write_file(path, render_page(document_of(name)));
    written.push_back(path);
  }
  return written;
}

}  // namespace

std::vector<std::filesystem::path> write_reports(const store::Store& store,
                                                 const std::optional<std::string>& device,
                                                 const std::filesystem::path& directory,
                                                 const Additions& additions) {
  const std::set<std::string> tuned = reported_devices(store);
  std::set<std::string> all = devices_of(additions.sweeps);
  all.insert(tuned.begin(), tuned.end());
  if (all.empty()) {
    throw Error(ErrorCode::nothing_found,
                fmt::format("{} holds no results to report; tune something first: "
                            "tune --kernel NAME --space FILE",
                            store.path().string()));
  }
  // That of an unknown device says which are known.
  const std::set<std::string> names = device ? std::set{*device} : all;
  for (const ComparedResults& other : additions.compared) require_results_of(names, other);
  return write_pages(names, directory, [&](const std::string& name) {
    return !tuned.contains(name) && all.contains(name) ? sweep_document(name, additions.sweeps)
                                                       : report_document(store, name, additions);
  });
}

std::vector<std::filesystem::path> write_sweep_reports(const std::optional<std::string>& device,
                                                       const std::filesystem::path& directory,
                                                       std::span<const Json> sweeps) {
  const std::set<std::string> names = devices_of(sweeps);
  if (device && !names.contains(*device)) {
    throw Error(ErrorCode::nothing_found, fmt::format("no sweep is of the device '{}'", *device));
  }
  return write_pages(device ? std::set{*device} : names, directory,
                     [&](const std::string& name) { return sweep_document(name, sweeps); });
}

}  // namespace tuner::report
