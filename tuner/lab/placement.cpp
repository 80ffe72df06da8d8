// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/placement.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace tuner::lab {
namespace {

measure::HostPlace place_named(const std::string& name) {
  if (const auto place = measure::host_place(name)) return *place;
  const std::vector<std::string> known = {"pageable", "pinned", "mapped"};
  throw Error(ErrorCode::usage, fmt::format("--memory: there is no '{}'{}; there are pageable, "
                                            "pinned and mapped",
                                            name, did_you_mean(name, known)));
}

std::vector<std::string> buffers_of(const family::Family& family) {
  std::vector<std::string> buffers;
  for (const family::Argument& argument : family.arguments) {
    if (std::holds_alternative<family::BufferArgument>(argument.what))
      buffers.push_back(argument.name);
  }
  return buffers;
}

}  // namespace

Placement parse_placement(const std::string& text, const family::Family& family) {
  const std::vector<std::string> buffers = buffers_of(family);
  if (text.find('=') == std::string::npos) {
    return {.name = text, .places = std::vector(buffers.size(), place_named(text))};
  }
  Placement placement{.name = text,
                      .places = std::vector(buffers.size(), measure::HostPlace::pageable)};
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    const std::string buffer = one.substr(0, one.find('='));
    const auto found = std::ranges::find(buffers, buffer);
    if (found == buffers.end() || buffer.size() == one.size()) {
      throw Error(ErrorCode::usage,
                  fmt::format("--memory {}: {} has no buffer '{}'{}; write A=mapped,B=pinned", text,
                              family.name, buffer, did_you_mean(buffer, buffers)));
    }
    placement.places[static_cast<std::size_t>(found - buffers.begin())] =
        place_named(one.substr(buffer.size() + 1));
  }
  return placement;
}

}  // namespace tuner::lab
