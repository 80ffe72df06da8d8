// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/option_kinds.hpp"

#include "tuner/cli/data_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace tuner::cli {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most,
                            std::optional<std::uint64_t> alone) {
  const auto check = [least, most, alone](const std::string& text) -> std::string {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    const bool is_number = error == std::errc{} && after == end;
    if (is_number && ((number >= least && number <= most) || number == alone)) return "";
    const bool is_open = most == std::numeric_limits<std::uint64_t>::max();
    return fmt::format(
        "'{}' must be {}a whole number {}", text, alone ? fmt::format("{} or ", *alone) : "",
        is_open ? fmt::format("of at least {}", least) : fmt::format("from {} to {}", least, most));
  };
  return {check, ""};
}

CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                      const std::string& type, const std::string& text) {
  return add_value(app, names, values, type, text)->take_all()->allow_extra_args(false);
}

CLI::Option* add_space_file(CLI::App& app, const std::string& names, std::string& file,
                            const std::string& text) {
  return add_value(app, names, file, "FILE", text)->transform(given_or_installed);
}

void add_seed(CLI::App& app, std::uint64_t& seed, const std::string& text) {
  add_number(app, "--seed", seed, 0, text)->capture_default_str();
}

void add_device_options(CLI::App& app, DeviceOptions& options) {
  add_value(app, "--backend", options.backend, "auto|cuda|cpu", "What runs the kernels");
  add_value(app, "--device", options.device, "DEVICE",
            "Index or UUID of the device; to tune on several: 0,1 or all");
  add_value(app, "--compile-timeout", options.compile_timeout, "TIME",
            "Kill a compilation that takes longer; recorded as compile_timeout");
  add_value(app, "--launch-timeout", options.launch_timeout, "TIME",
            "Kill a launch that takes longer than this, or than 20 times an earlier launch if that "
            "is more; recorded as timeout");
  app.add_flag("--no-cache", options.no_cache, "Do not use the cache of compiled kernels");
}

}  // namespace tuner::cli
