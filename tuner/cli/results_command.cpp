// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/results_folder.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/core/error.hpp"
#include "tuner/family/data_files.hpp"
#include "tuner/verify/stored_results.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

namespace tuner::cli {
namespace {

using verify::ResultsAnswer;

void print_json_line(const Json& line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);  // a program waits for it
}

ResultsAnswer read_results_answer() {
  constexpr std::string_view kRefused = "refused: ", kFailed = "failed: ";
  std::string line;
  if (!std::getline(std::cin, line)) {
    throw Error(ErrorCode::failure,
                "the program that computes results ended without an answer on stdin; run the "
                "command again: what is finished is kept");
  }
  if (line == "ok") return {};
  if (line.starts_with(kRefused)) {
    return {.kind = ResultsAnswer::Kind::refused, .reason = line.substr(kRefused.size())};
  }
  if (line.starts_with(kFailed)) {
    return {.kind = ResultsAnswer::Kind::failed, .reason = line.substr(kFailed.size())};
  }
  throw Error(ErrorCode::usage,
              fmt::format("{} on stdin is no answer: write \"ok\", \"refused: REASON\" or "
                          "\"failed: REASON\" and a line end",
                          in_quotes(line)));
}

}  // namespace

int make_results(const CommonOptions&, const ResultsOptions& options) {
  const family::Family family = family::load_family(options.file);
  const std::filesystem::path path = family::results_folder(family);
  if (path.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: check.reference names no folder of results: write {{\"results\": "
                            "\"expected\"}}, or leave out this command",
                            options.file));
  }
  ResultsFolder folder(path);
  OpenedDevice opened(options, family, options.seed);
  TuneOptions sizes;
  sizes.sizes = options.sizes;
  sizes.lists = options.lists;
  const verify::ResultsProgram program = {
      .exchange = {},
      .ask =
          [](const verify::ResultsRequest& request) {
            print_json_line(
                {{"inputs", request.inputs.string()}, {"results", request.results.string()}});
            return read_results_answer();
          },
      .keep =
          [&](const std::string& key, const std::filesystem::path& file) {
            if (file.empty()) {
              folder.confirm(key);
            } else {
              folder.keep(key, file);
            }
          }};
  for (const space::Size& size : chosen_sizes(family, sizes, opened.device().device().backend)) {
    opened.device().make_results(size, program);
  }
  folder.finish();
  print_json_line({{"identity", folder.identity()},
                   {"files", folder.size()},
                   {"made", folder.kept()},
                   {"replaced", folder.replaced()}});
  return 0;
}

}  // namespace tuner::cli
