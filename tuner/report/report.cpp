// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/report.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/sweep_sections.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

/// The names of the devices to report on, each once; several cards may share one.
std::set<std::string> reported_devices(const store::Store& store) {
  std::set<std::string> names;
  for (const space::DeviceInfo& device : store.devices()) {
    if (!kernel_histories(store, device.name).empty()) names.insert(device.name);
  }
  if (names.empty()) {
    throw Error(ErrorCode::nothing_found,
                fmt::format("{} holds no results to report; tune something first: "
                            "tune --kernel NAME --space FILE",
                            store.path().string()));
  }
  return names;
}

}  // namespace

std::vector<std::filesystem::path> write_reports(const store::Store& store,
                                                 const std::optional<std::string>& device,
                                                 const std::filesystem::path& directory,
                                                 std::span<const Json> sweeps) {
  const std::set<std::string> names = device ? std::set{*device} : reported_devices(store);
  for (const Json& sweep : sweeps) {
    if (names.contains(sweep_device(sweep))) continue;
    throw Error(ErrorCode::usage,
                fmt::format("a sweep is of '{}', of which there is no page: tune something there "
                            "first, or leave the sweep out",
                            sweep_device(sweep)));
  }
  std::vector<std::filesystem::path> written;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    std::string file = slug(name);
    for (int i = 2; !taken.insert(file).second; ++i) file = fmt::format("{}-{}", slug(name), i);
    const std::filesystem::path path = directory / (file + ".html");
    write_file(path, render_page(report_document(store, name, sweeps)));
    written.push_back(path);
  }
  return written;
}

}  // namespace tuner::report
