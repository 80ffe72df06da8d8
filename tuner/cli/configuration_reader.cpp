// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/configuration_reader.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/earlier_winners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tuner::cli {

ConfigurationReader::ConfigurationReader(const CommonOptions& common, const family::Family& family,
                                         const family::Kernel& kernel,
                                         const space::DeviceInfo& device, const space::Size& size)
    : common_(common),
      family_(family),
      kernel_(kernel),
      device_(device),
      size_(size),
      space_(kernel.space, device.attributes, size) {}

space::Config ConfigurationReader::read(const std::string& text) const {
  space::Config config = named(text);
  if (const auto violation = space_.violation(config)) {
    throw Error(
        ErrorCode::no_valid_config,
        fmt::format("--config {}: constraint {} of {} rejects it at {} on {}: {}", text,
                    violation->constraint + 1, kernel_.space->constraints.size(),
                    space::display(size_, family_.problem.dims), device_.name, violation->message));
  }
  return config;
}

std::vector<space::Config> ConfigurationReader::read(const std::vector<std::string>& texts) const {
  if (texts.empty()) return {best_or_default()};
  std::vector<space::Config> configs;
  for (const std::string& text : texts) {
    space::Config config = read(text);
    if (std::ranges::count(configs, config) == 0) configs.push_back(std::move(config));
  }
  return configs;
}

space::Config ConfigurationReader::named(const std::string& text) const {
  if (text == "default") return space_.default_config();
  if (text == "best") {
    if (const auto best = stored_best()) return *best;
    throw Error(ErrorCode::nothing_found,
                fmt::format("--config best: {} has no result for kernel {} at {} on {}; `tune` "
                            "finds one",
                            database_path(common_).string(), kernel_.name,
                            space::display(size_, family_.problem.dims), device_.name));
  }
  try {
    return space_.canonical(text.starts_with('{') ? space::config_from_json(*kernel_.space, text)
                                                  : space::config_from_text(*kernel_.space, text));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("--config {}: {}", text, error.what()));
  }
}

std::optional<space::Config> ConfigurationReader::stored_best() const {
  const store::Store store = open_database(common_, store::Store::Mode::read_only);
  return session::incumbent(store, family_, kernel_, device_, size_);
}

space::Config ConfigurationReader::best_or_default() const {
  if (!std::filesystem::exists(database_path(common_))) return space_.default_config();
  const auto best = stored_best();
  return best && space_.contains(*best) ? *best : space_.default_config();
}

}  // namespace tuner::cli
