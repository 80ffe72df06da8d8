// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/device_arguments.hpp"

#include "tuner/session/bench.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace tuner::cli {
namespace {

constexpr std::uint64_t kMostRounds = 10'000;

}  // namespace

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

void add_device_options(CLI::App& app, DeviceOptions& options) {
  app.add_option("--backend", options.backend, "What runs the kernels")
      ->capture_default_str()
      ->type_name("auto|cuda|cpu");
  app.add_option("--device", options.device,
                 "Index or UUID of the device; to tune on several: 0,1 or all")
      ->capture_default_str()
      ->type_name("DEVICE");
  app.add_option("--compile-timeout", options.compile_timeout,
                 "Kill a compilation that takes longer; recorded as compile_timeout")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_option(
         "--launch-timeout", options.launch_timeout,
         "Kill a launch that takes longer than this, or than 20 times an earlier launch if that is "
         "more; recorded as timeout")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_flag("--no-cache", options.no_cache, "Do not use the cache of compiled kernels");
}

void add_bench_options(CLI::App& app, BenchOptions& options) {
  app.add_option("--space", options.space, "Space file: kernels, parameters, constraints")
      ->type_name("FILE");
  app.add_option("--kernel", options.kernels,
                 "Kernel of the space file; with --range may be repeated, default: all")
      ->type_name("NAME")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--size", options.size, "Problem size such as 4096,4096,4096")->type_name("SIZE");
  app.add_option("--config", options.configs,
                 "TILE_M=64,TILE_N=32,… (other parameters have their default), a JSON object, best "
                 "(the best stored) or default; may be repeated; default: best if there is one")
      ->type_name("CONFIG")
      ->delimiter(';')
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--range", options.range,
                 "Sizes with all dimensions equal, START:STOP:STRIDE or START:STOP:xFACTOR: times "
                 "every kernel with its default and its tuned configuration")
      ->type_name("RANGE");
  app.add_flag("--cpu", options.cpu,
               "Also time the CPU: its library and the kernels for the cpu backend only");
  app.add_flag("--transfers", options.transfers,
               "Also time each contender with allocation and copies");
  app.add_option("--memory", options.memory,
                 "Host memory of the data: pageable, pinned, mapped, or A=mapped,B=pinned (others "
                 "pageable); may be repeated; default: each of the three")
      ->type_name("PLACE")
      ->delimiter(';')
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--bound", options.bound,
                 "Also time the kernels of this space file, such as a copy; rates are shown "
                 "relative to the fastest of them")
      ->type_name("FILE");
  app.add_option("--limit", options.limit,
                 "Over a range, skip contenders with a longer expected time")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_option(
         "--table", options.table,
         "Tuned results for a range: a file of `tune export --format json` instead of the database")
      ->type_name("FILE");
  app.add_option("--seed", options.seed, "Seed of the inputs; the message of a failure states it")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0));
  app.add_option(
         "--rounds", options.rounds,
         "At most N repetitions, fewer if the ranking is certain earlier; 0: one launch for "
         "--save-outputs, neither verified nor timed")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(static_cast<std::uint64_t>(measure::RoundsPlan{}.fewest_rounds),
                           kMostRounds, 0));
  app.add_option("--save-outputs", options.save_outputs,
                 "Write what each configuration computes to a file in this folder")
      ->type_name("DIR");
  app.add_option("--max-time", options.max_time, "Start no round after this time")
      ->capture_default_str()
      ->type_name("TIME");
  add_device_options(app, options);
}

}  // namespace tuner::cli
