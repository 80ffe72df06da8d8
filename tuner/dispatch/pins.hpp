// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/family_table.hpp"
#include "tuner/select/rank.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace tuner::dispatch {

[[nodiscard]] Pin pin_of(const select::Selection& selection);

/// Choices by family and size, and where they are valid.
class Pins {
 public:
  Pins(space::DeviceInfo device, space::EnvironmentInfo environment)
      : device_(std::move(device)), environment_(std::move(environment)) {}

  /// A file that write() wrote; throws DispatchError where it is none, or where the device in use,
  /// its compiler or its library is another one: the same choice would have other results.
  void read(const std::filesystem::path& file);
  /// Throws Error(failure) where it cannot be written.
  void write(const std::filesystem::path& file) const;

  void add(const std::string& family, const std::string& size, Pin pin) {
    pins_[{family, size}] = std::move(pin);
  }
  /// Null where there is none.
  [[nodiscard]] const Pin* find(const std::string& family, const std::string& size) const;

 private:
  space::DeviceInfo device_;
  space::EnvironmentInfo environment_;
  std::map<std::pair<std::string, std::string>, Pin> pins_;
};

/// A pinned choice as an answer of the table that has its kernel.
struct PinnedAnswer {
  const FamilyTable* family = nullptr;
  select::Selection selection;
};
/// Else why the table has none.
[[nodiscard]] Expected<PinnedAnswer, std::string> pinned_answer(const FamilyTable& family,
                                                                const SizeSlot& slot,
                                                                const Pin& pin);

}  // namespace tuner::dispatch
