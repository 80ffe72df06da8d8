// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/host_place.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tuner::measure {
namespace {

constexpr std::array<std::pair<HostPlace, std::string_view>, 3> kNames = {
    {{HostPlace::pageable, "pageable"},
     {HostPlace::pinned, "pinned"},
     {HostPlace::mapped, "mapped"}}};

}  // namespace

std::string_view name(HostPlace place) {
  return std::ranges::find(kNames, place, &std::pair<HostPlace, std::string_view>::first)->second;
}

std::optional<HostPlace> host_place(std::string_view name) {
  const auto found =
      std::ranges::find(kNames, name, &std::pair<HostPlace, std::string_view>::second);
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace tuner::measure
