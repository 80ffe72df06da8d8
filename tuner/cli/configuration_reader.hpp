// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/family/family.hpp"
#include "tuner/space/bound_definition.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner::cli {

/// What `--config` names on a device at a size. What it is made of must outlive it.
class ConfigurationReader {
 public:
  ConfigurationReader(const CommonOptions& common, const family::Family& family,
                      const family::Kernel& kernel, const space::DeviceInfo& device,
                      const space::Size& size);

  /// The configuration of a text: "default", "best" (the best stored), values or a JSON object.
  /// Throws Error(usage) for what is none, Error(nothing_found) where nothing is stored and
  /// Error(no_valid_config) with the constraint that rejects it.
  [[nodiscard]] space::Config read(const std::string& text) const;
  /// Each of them once; of no text the best stored one, else the default.
  [[nodiscard]] std::vector<space::Config> read(const std::vector<std::string>& texts) const;

 private:
  [[nodiscard]] space::Config named(const std::string& text) const;
  [[nodiscard]] std::optional<space::Config> stored_best() const;
  [[nodiscard]] space::Config best_or_default() const;

  const CommonOptions& common_;
  const family::Family& family_;
  const family::Kernel& kernel_;
  const space::DeviceInfo& device_;
  const space::Size& size_;
  space::BoundDefinition space_;
};

}  // namespace tuner::cli
