// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/random_options.hpp"

#include "tuner/core/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>

namespace tuner::gemm_benchmark {
namespace {

struct Typed {
  std::string database, table, tuned, write_sizes, json;
  bool measured = false;
  RandomOptions options = {};
};

void declare(CLI::App& app, Typed& typed) {
  app.add_option("--db", typed.database, "Database that the dispatcher chooses from")
      ->check(CLI::ExistingFile);
  app.add_option("--table", typed.table, "Or a table that `tune export --format json` wrote")
      ->check(CLI::ExistingFile);
  app.add_option("--tuned", typed.tuned,
                 "Database in which the first 20 of the sizes were tuned: shows what choosing "
                 "without costs")
      ->check(CLI::ExistingFile);
  app.add_flag("--measured", typed.measured,
               "Prepares the sizes by measurement, not by the model's expectation alone");
  app.add_flag("--kernels-too", typed.options.kernels_too,
               "Where the library is chosen, times the best kernel, too; needs --db");
  app.add_option("--write-sizes", typed.write_sizes,
                 "Only writes the sizes as a suite: `tune --sizes FILE:regret` tunes the first 20");
  app.add_option("--count", typed.options.count, "Sizes")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seed", typed.options.seed, "Of the sizes")->capture_default_str();
  app.add_option("--time-per-size", typed.options.time_per_size_s, "Seconds of timing for each")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  app.add_option("--json", typed.json, "Where the figures go");
  app.add_option("--device", typed.options.device, "GPU, counted from 0")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

std::optional<RandomOptions> parse_random_options(int count, char** arguments) {
  CLI::App app(
      "Times what the dispatcher chooses for random matrix products that were never tuned, each "
      "dimension log-uniform from 16 to 8192, beside cublasSgemm, interleaved in one process.",
      "random_sizes_benchmark");
  Typed typed;
  declare(app, typed);
  try {
    app.parse(count, arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage,
                fmt::format("{}; see random_sizes_benchmark --help", error.what()));
  }
  const int sources = static_cast<int>(!typed.database.empty()) +
                      static_cast<int>(!typed.table.empty()) +
                      static_cast<int>(!typed.write_sizes.empty());
  if (sources != 1) {
    throw Error(ErrorCode::usage,
                "name what the dispatcher chooses from, --db FILE or --table FILE; or "
                "--write-sizes FILE, which only writes the sizes");
  }
  if (typed.options.kernels_too && typed.database.empty()) {
    throw Error(ErrorCode::usage, "--kernels-too needs the database: name it with --db FILE");
  }
  RandomOptions options = typed.options;
  if (typed.measured) options.choose_by = ChooseBy::measurement;
  if (!typed.write_sizes.empty()) options.write_sizes = typed.write_sizes;
  if (!typed.database.empty()) {
    options.table = Table::database(typed.database);
    options.database = typed.database;
  }
  if (!typed.table.empty()) options.table = Table::file(typed.table);
  if (!typed.tuned.empty()) options.tuned = Table::database(typed.tuned);
  if (!typed.json.empty()) options.json = typed.json;
  return options;
}

}  // namespace tuner::gemm_benchmark
