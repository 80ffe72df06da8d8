// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/open_devices.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/space/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

namespace tuner::worker {
namespace {

/// A device that --device names.
struct ChosenDevice {
  int ordinal = 0;   ///< of its backend
  std::string name;  ///< "0"
};

using Devices = std::vector<space::DeviceInfo>;

constexpr std::size_t kMostDigits = 4;
constexpr std::size_t kFewestOfUuid = 4;  // characters: a beginning of less says nothing

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words{""};
  for (const char letter : text) {
    if (letter == ',') {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  return words;
}

std::optional<int> as_number(const std::string& word) {
  int number = 0;
  const char* const end = word.data() + word.size();
  const auto [after, error] = std::from_chars(word.data(), end, number);
  if (word.empty() || word.size() > kMostDigits || error != std::errc{} || after != end ||
      number < 0) {
    return std::nullopt;
  }
  return number;
}

[[noreturn]] void fail_usage(const std::string& text, const std::string& why) {
  throw Error(
      ErrorCode::usage,
      fmt::format("--device {}: {}; write a number such as 0, several such as 0,1, uuids as "
                  "`nvidia-smi -L` shows them, or all",
                  printable(text.empty() ? "''" : text), why));
}

std::string inventory(const Devices& devices) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    lines.push_back(fmt::format("\n  {}: {}{}", i, printable(devices[i].name),
                                devices[i].uuid.empty() ? "" : " " + devices[i].uuid));
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

int ordinal_of(const std::string& word, const std::string& text, const Devices& devices) {
  if (const auto number = as_number(word)) {
    if (static_cast<std::size_t>(*number) < devices.size()) return *number;
    throw Error(ErrorCode::no_device,
                fmt::format("--device {}: there is no device {}; there are:{}", printable(text),
                            *number, inventory(devices)));
  }
  std::vector<int> matching;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string& uuid = devices[i].uuid;
    const bool begins = word.size() >= kFewestOfUuid && uuid.starts_with(word);
    if (uuid == word) return static_cast<int>(i);
    if (begins) matching.push_back(static_cast<int>(i));
  }
  if (matching.size() == 1) return matching.front();
  if (matching.size() > 1) {
    fail_usage(text, fmt::format("{} devices begin with '{}'", matching.size(), printable(word)));
  }
  if (word.find('-') == std::string::npos) {
    fail_usage(text, fmt::format("'{}' is not a device", printable(word)));
  }
  throw Error(ErrorCode::no_device,
              fmt::format("--device {}: there is no device {}; there are:{}", printable(text),
                          printable(word), inventory(devices)));
}

/// The devices that the text of --device names: "0", "0,2", uuids or unambiguous beginnings of
/// them, or "all". `list` is asked for the devices that there are, by ordinal, unless the text is a
/// single number: the device itself says then whether there is one. Throws Error(usage) for a text
/// that is none of these or names a device twice, Error(no_device) for a device that there is not,
/// and as `list` does.
std::vector<ChosenDevice> chosen_devices(const std::string& text,
                                         const std::function<Devices()>& list) {
  if (text.empty()) fail_usage(text, "names no device");
  if (const auto number = as_number(text)) return {{.ordinal = *number, .name = text}};
  std::vector<ChosenDevice> chosen;
  const auto choose = [&](int ordinal) {
    if (std::ranges::find(chosen, ordinal, &ChosenDevice::ordinal) != chosen.end()) {
      fail_usage(text, fmt::format("names device {} twice", ordinal));
    }
    chosen.push_back({.ordinal = ordinal, .name = fmt::format("{}", ordinal)});
  };
  if (text == "all") {
    const Devices devices = list();
    for (std::size_t i = 0; i < devices.size(); ++i) choose(static_cast<int>(i));
    return chosen;
  }
  // Errors that do not depend on the devices are reported before they are listed.
  for (const std::string& word : words_of(text)) {
    if (word.empty()) fail_usage(text, "a device has no name");
    if (word == "all") fail_usage(text, "'all' cannot be combined with other devices");
    const bool may_be_uuid = word.size() >= kFewestOfUuid && !word.starts_with('-');
    if (!as_number(word) && !may_be_uuid) {
      fail_usage(text, fmt::format("'{}' is not a device", printable(word)));
    }
  }
  const Devices devices = list();
  for (const std::string& word : words_of(text)) choose(ordinal_of(word, text, devices));
  return chosen;
}

}  // namespace

OpenedDevices open_devices(const std::string& backend, const std::string& devices,
                           const family::Family& family, std::uint64_t seed,
                           const DeviceDeadlines& deadlines) {
  const std::vector<ChosenDevice> chosen = chosen_devices(devices, [&] {
    return list_devices(worker_command({"devices", backend}));
  });
  std::vector<NamedDevice> started;
  for (const ChosenDevice& each : chosen) {
    started.push_back({.name = each.name,
                       .process = std::make_unique<DeviceProcess>(
                           worker_command({"device", backend, fmt::format("{}", each.ordinal)}),
                           family, seed, deadlines, Opening::later)});
  }
  OpenedDevices opened;
  for (NamedDevice& each : started) {
    try {
      each.process->finish_opening();
      opened.devices.push_back(std::move(each));
    } catch (const Error& error) {
      const bool last = opened.devices.empty() && &each == &started.back();
      if (last || error.code() != ErrorCode::no_device) throw;
      opened.left_out.push_back(fmt::format("device {} is left out: {}", each.name, error.what()));
    }
  }
  return opened;
}

}  // namespace tuner::worker
