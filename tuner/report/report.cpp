// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/report.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/report/device_report.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

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
  constexpr std::size_t kLongest = 100;  // a file's name has 255 characters at most
  text.resize(std::min(text.size(), kLongest));
  while (!text.empty() && text.back() == '-') text.pop_back();
  return text.empty() ? "device" : text;
}

/// The names of the devices, each once; several cards may share one.
std::set<std::string> devices_of(const store::Store& store) {
  std::set<std::string> names;
  for (const space::DeviceInfo& device : store.devices()) names.insert(device.name);
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

/// Writes the page of each device that `page_of` has one of.
template <class PageOf>
std::vector<std::filesystem::path> write_pages(const std::set<std::string>& names,
                                               const std::filesystem::path& directory,
                                               const PageOf& page_of) {
  std::vector<std::filesystem::path> written;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    const std::optional<std::string> page = page_of(name);
    if (!page) continue;
    std::string file = slug(name);
    for (int i = 2; !taken.insert(file).second; ++i) file = fmt::format("{}-{}", slug(name), i);
    const std::filesystem::path path = directory / (file + ".html");
    write_file(path, *page);
    written.push_back(path);
  }
  return written;
}

/// None of a device without results.
std::optional<std::string> page_of_device(const store::Store& store, const std::string& name,
                                          const Additions& additions) {
  std::vector<KernelHistory> kernels = kernel_histories(store, name);
  if (!kernels.empty()) {
    const DeviceReport report(store, device_named(store, name), std::move(kernels), additions);
    return render_page(
        report.overview(), report.bests(),
        [&](std::size_t kernel, std::size_t size) { return report.size(kernel, size); });
  }
  if (!devices_of(additions.sweeps).contains(name)) return std::nullopt;
  return render_page(sweep_document(name, additions.sweeps));
}

}  // namespace

std::filesystem::path page_path(const std::filesystem::path& where, const std::string& device) {
  return where.extension() == ".html" ? where : where / (slug(device) + ".html");
}

void write_report(const store::Store& store, const std::string& device,
                  const std::filesystem::path& file, const Additions& additions) {
  const std::optional<std::string> page = page_of_device(store, device, additions);
  if (!page) fail_without_results(store, device);
  write_file(file, *page);
}

std::vector<std::filesystem::path> write_reports(const store::Store& store,
                                                 const std::optional<std::string>& device,
                                                 const std::filesystem::path& directory,
                                                 const Additions& additions) {
  std::set<std::string> names = devices_of(additions.sweeps);
  if (device) {
    if (!names.contains(*device)) static_cast<void>(device_named(store, *device));
    names = {*device};
  } else {
    names.merge(devices_of(store));
  }
  for (const ComparedResults& other : additions.compared) require_results_of(names, other);
  std::vector<std::filesystem::path> written =
      write_pages(names, directory,
                  [&](const std::string& name) { return page_of_device(store, name, additions); });
  if (written.empty()) fail_without_results(store, device);
  return written;
}

std::vector<std::filesystem::path> write_sweep_reports(const std::optional<std::string>& device,
                                                       const std::filesystem::path& directory,
                                                       std::span<const Json> sweeps) {
  const std::set<std::string> names = devices_of(sweeps);
  if (device && !names.contains(*device)) {
    throw Error(ErrorCode::nothing_found, fmt::format("no sweep is of the device '{}'", *device));
  }
  return write_pages(device ? std::set{*device} : names, directory,
                     [&](const std::string& name) -> std::optional<std::string> {
                       return render_page(sweep_document(name, sweeps));
                     });
}

}  // namespace tuner::report
