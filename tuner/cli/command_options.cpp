// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/command_options.hpp"

#include "tuner/cli/data_file.hpp"
#include "tuner/cli/device_arguments.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/space/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

namespace tuner::cli {

CLI::App* add_command(CLI::App& app, Arguments& arguments, const std::string& name,
                      const std::string& description, std::function<int()> command) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->final_callback([&arguments, command = std::move(command)] { arguments.command = command; });
  return sub;
}

void write_no_document(CLI::App& command, Arguments& arguments, std::string why) {
  command.parse_complete_callback(
      [&arguments, why = std::move(why)] { arguments.no_document = why; });
}

namespace {

constexpr const char* kWritesFile = "it writes the file that -o names";
constexpr const char* kOutputOfProgram = "stdout is the program's";

constexpr std::uint64_t kMostThreads = 1024;
constexpr std::uint64_t kMostDraws = 1000;

std::string device_help() {
  return fmt::format("Device limits to use: {}", fmt::join(space::device_profile_names(), ", "));
}

std::string strategies() {
  return fmt::format("How to search: {}", fmt::join(search::strategy_names(), ", "));
}

/// How a run is followed.
void add_progress_options(CLI::App& app, TuneOptions& o) {
  app.add_flag("-v,--verbose", o.verbose, "Print a line for each trial");
  app.add_option("--progress", o.progress, "json: events as lines of JSON on stderr")
      ->capture_default_str()
      ->type_name("auto|json");
  app.add_option("--log", o.log, "Also append the events to this file")->type_name("FILE");
}

void add_energy_options(CLI::App& app, TuneOptions& o) {
  app.add_flag_callback(
      "--energy", [&o] { o.energy = true; },
      "Measure the energy of all finalists, about 7 s for each; default: of two "
      "and the library, while that takes at most a tenth of the search");
  app.add_flag_callback(
      "--no-energy", [&o] { o.energy = false; }, "Measure no energy");
}

void add_problem_options(CLI::App& app, TuneOptions& o) {
  app.add_option("--space", o.space, "Space file: kernels, parameters, constraints")
      ->transform(given_or_installed)
      ->type_name("FILE");
  app.add_option("--kernel", o.kernel, "Kernel of the space file; default: all of them")
      ->type_name("NAME");
  app.add_option("--size", o.sizes,
                 "Problem size such as 4096,4096,4096 or 4096,4096,64,TRANS_B=1; may be repeated")
      ->type_name("SIZE")
      ->delimiter(';')
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--sizes", o.lists,
                 "Named list of sizes of the space file, or a suite: FILE or FILE:GROUP; may be "
                 "repeated")
      ->type_name("LIST")
      ->take_all()
      ->allow_extra_args(false);
}

void add_search_options(CLI::App& app, TuneOptions& o) {
  app.add_option("--strategy", o.strategy, strategies())
      ->capture_default_str()
      ->type_name("STRATEGY");
  app.add_option("--max-evals", o.max_evaluations, "Evaluate at most N configurations at each size")
      ->type_name("N")
      ->check(whole_number(1));
  app.add_option(
         "--max-time", o.max_time,
         "End within 10 % or 10 s of this time, e.g. 90s or 10m: all kernels, sizes and final "
         "rounds")
      ->type_name("TIME");
  app.add_option(
         "--patience", o.patience,
         "End the search at a size after N results without an improvement; default 150 without "
         "--max-evals and --strategy exhaustive")
      ->type_name("N")
      ->check(whole_number(1));
  app.add_option("--effort", o.effort,
                 "How long to search: sets what --max-evals and --patience do not say, the number "
                 "of finalists, and energy")
      ->capture_default_str()
      ->type_name("quick|normal|full");
  app.add_option("--seed", o.seed, "Seed of the search and of the inputs")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0));
  app.add_option("--set", o.set,
                 "Keep only these values of a parameter, e.g. TILE_M=64,128; may be repeated")
      ->type_name("P=V,…")
      ->delimiter(';')
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--jobs", o.jobs,
                 "Compile N configurations at a time; default: one less than the cores")
      ->type_name("N")
      ->check(whole_number(1, kMostThreads));
}

void add_agent_options(CLI::App& app, TuneOptions& o) {
  app.add_option(
         "--launch", o.launch,
         "Tune on the devices of agents that a program starts, such as 'srun -u -k -N4 -n4' or "
         "'ssh HOST', instead of this machine's; may be repeated")
      ->type_name("PROGRAM")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--agent-wait", o.agent_wait, "End if no agent has started within this time")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_option("--heartbeat", o.heartbeat,
                 "Interval of heartbeats; an agent that is silent for 2.5 intervals is lost")
      ->capture_default_str()
      ->type_name("TIME");
}

void add_tune(CLI::App& app, Arguments& arguments) {
  TuneOptions& o = arguments.tune;
  add_problem_options(app, o);
  add_device_options(app, o);
  add_search_options(app, o);
  add_agent_options(app, o);
  app.add_flag("--allow-shared", o.allow_shared,
               "Tune even while other processes use the GPU; the results are marked");
  add_energy_options(app, o);
  app.add_flag("--fresh", o.fresh, "Repeat all trials instead of resuming from the database");
  app.add_flag("--dry-run", o.dry_run,
               "Validate, count, compile the default configuration; launch nothing");
  app.add_flag("--explain-winner", o.explain_winner,
               "Explain the best configuration of each size afterwards, as `tune explain` does");
  app.add_option("--report", o.report,
                 "Write the HTML report into this directory or .html file, and anew during the run")
      ->type_name("PATH");
  add_progress_options(app, o);
}

void add_finalize(CLI::App& app, Arguments& arguments) {
  TuneOptions& o = arguments.tune;
  CLI::App* sub =
      add_command(app, arguments, "finalize", "Run the final round of each size that has none",
                  [&arguments] { return finalize(arguments.common, arguments.tune); });
  sub->add_option("--space", o.space, "Space file of the kernels")
      ->transform(given_or_installed)
      ->type_name("FILE");
  sub->add_option("--kernel", o.kernel, "Only this kernel")->type_name("NAME");
  add_device_options(*sub, o);
  add_energy_options(*sub, o);
  sub->add_flag("--allow-shared", o.allow_shared,
                "Run even while other processes use the GPU; the results are marked");
  add_progress_options(*sub, o);
}

void add_bench(CLI::App& app, Arguments& arguments) {
  CLI::App* sub =
      add_command(app, arguments, "bench", "Verify and time named configurations; stores nothing",
                  [&arguments] { return bench(arguments.common, arguments.bench); });
  add_bench_options(*sub, arguments.bench);
}

/// Options of the commands that measure portfolios.
template <class Options>
void add_portfolio_run_options(CLI::App& sub, Options& o) {
  sub.add_option("--max-time", o.max_time, "Begin no trial after this time")
      ->capture_default_str()
      ->type_name("TIME");
  sub.add_option("--seed", o.seed, "Seed of the draws, searches and inputs")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0));
  add_device_options(sub, o);
}

void add_portfolio(CLI::App& app, Arguments& arguments) {
  PortfolioOptions& o = arguments.portfolio;
  CLI::App* sub =
      add_command(app, arguments, "portfolio",
                  "Choose few configurations of a family that serve many sizes, and store them",
                  [&arguments] { return portfolio(arguments.common, arguments.portfolio); });
  sub->add_option("--space", o.space, "Space file of the family")
      ->transform(given_or_installed)
      ->type_name("FILE");
  sub->add_option("--kernel", o.kernels, "Only this kernel; may be repeated; default: all")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--sizes", o.lists, "The sizes: as for `tune`; may be repeated")
      ->type_name("LIST")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option(
         "--like", o.like,
         "Draw the sizes from a distribution, or those of a suite by what `tune record` saw")
      ->type_name("FILE");
  sub->add_option("--draw", o.draws, "Draw N sizes")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0, kMostDraws));
  sub->add_option("-k,--members", o.members, "At most N members; default: 16")
      ->type_name("N")
      ->check(whole_number(0));
  sub->add_flag("--extend", o.extend,
                "Choose nothing: time the members of the present portfolios at more sizes");
  add_portfolio_run_options(*sub, o);
}

void add_setup(CLI::App& app, Arguments& arguments) {
  SetupOptions& o = arguments.setup;
  CLI::App* sub = add_command(app, arguments, "setup",
                              "Measure portfolios of the included families on this device",
                              [&arguments] { return setup(arguments.common, arguments.setup); });
  add_portfolio_run_options(*sub, o);
}

void add_judge(CLI::App& app, Arguments& arguments) {
  JudgeOptions& o = arguments.judge;
  CLI::App* sub = add_command(app, arguments, "judge",
                              "Judge one configuration of a kernel: a verdict for programs",
                              [&arguments] { return judge(arguments.common, arguments.judge); });
  sub->add_option("space", o.space, "Space file")
      ->transform(given_or_installed)
      ->type_name("FILE")
      ->required();
  sub->add_option("--kernel", o.kernel,
                  "Kernel to judge; default: the only one beside the reference")
      ->type_name("NAME");
  sub->add_option("--config", o.config,
                  "TILE_M=64,… (other parameters have their default), a JSON object, best (the "
                  "best stored) or default; default: default")
      ->type_name("CONFIG");
  sub->add_option("--size", o.size, "Problem size; default: the first that `tune` would take")
      ->type_name("SIZE");
  sub->add_option("--seed", o.seed, "Seed of the inputs")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0));
  sub->add_option("--max-time", o.max_time, "End with the verdict timeout after this time")
      ->capture_default_str()
      ->type_name("TIME");
  sub->add_flag("--store", o.store, "Add the trial to the database");
  add_device_options(*sub, o);
}

void add_explain(CLI::App& app, Arguments& arguments) {
  ExplainOptions& o = arguments.explain;
  CLI::App* sub = add_command(
      app, arguments, "explain", "Explain why the best configuration of a size is the fastest",
      [&arguments] { return explain(arguments.common, arguments.explain); });
  sub->add_option("--kernel", o.kernel, "Kernel to explain")->type_name("NAME");
  sub->add_option("--size", o.size, "Problem size such as 4096,4096,4096")->type_name("SIZE");
  sub->add_option("--space", o.space, "Space file; default: that of the kernel's newest run")
      ->transform(given_or_installed)
      ->type_name("FILE");
  add_device_options(*sub, o);
}

void add_query(CLI::App& app, Arguments& arguments) {
  QueryOptions& o = arguments.query;
  CLI::App* sub =
      add_command(app, arguments, "query",
                  "Print the best configuration for a size; without one list what is tuned",
                  [&arguments] { return query(arguments.common, arguments.query); });
  sub->add_option("--kernel", o.kernel, "Kernel to query")->type_name("NAME");
  sub->add_option("--family", o.family, "Family to query: the best of its kernels")
      ->type_name("NAME");
  sub->add_option("--size", o.size, "Problem size such as 4096,4096,4096")->type_name("SIZE");
  sub->add_option("--device", o.device,
                  "Name of the device; default: the one with the newest results")
      ->type_name("NAME");
  sub->add_option("--policy", o.policy, "nearest: also answer from another size")
      ->capture_default_str()
      ->type_name("exact|nearest");
  sub->add_option("--format", o.format, "args: compiler options; cpp: launch code")
      ->capture_default_str()
      ->type_name("table|json|args|cpp");
  sub->add_flag("--explain", o.explain,
                "Print every possible answer with the reason for or against it");
}

void add_report(CLI::App& app, Arguments& arguments) {
  ReportOptions& o = arguments.report;
  CLI::App* sub = add_command(app, arguments, "report", "Write one HTML page for each device",
                              [&arguments] { return report(arguments.common, arguments.report); });
  sub->add_option("--device", o.device, "Only this device")->type_name("NAME");
  sub->add_option("--sweep", o.sweeps,
                  "Also show this result of `tune bench --range … --json`; may be repeated")
      ->type_name("FILE");
  sub->add_option("--compare", o.compared,
                  "Also compare with these results (see `tune compare`); may be repeated")
      ->type_name("DB");
  sub->add_flag("--all-environments", o.all_environments,
                "Also compare the latest driver and versions with each earlier one");
  sub->add_option("-o,--output", o.directory, "Directory to write into")
      ->capture_default_str()
      ->type_name("DIR");
}

void add_compare(CLI::App& app, Arguments& arguments) {
  CompareOptions& o = arguments.compare;
  CLI::App* sub = add_command(
      app, arguments, "compare", "Show which sizes are faster or slower in other results",
      [&arguments] { return compare(arguments.common, arguments.compare); });
  const std::string side =
      "A database; DB@WORDS: only results whose device, driver, compiler, library, kernel or hash "
      "matches; @WORDS: of the default database";
  sub->add_option("A", o.a, side)->type_name("A")->required();
  sub->add_option("B", o.b, "Like A; its sizes are reported as faster or slower than those of A")
      ->type_name("B")
      ->required();
  sub->add_option("--by", o.by,
                  "Compare the times, or the ratios to the library timed in the same rounds")
      ->capture_default_str()
      ->type_name("time|library");
  sub->add_option("--fail-on", o.fail_on,
                  "Exit with 6 if a size is SLOWER by more than this, such as 3%")
      ->type_name("SHARE");
  sub->add_option("-o,--output", o.output, "Also write an HTML page")->type_name("FILE");
}

void add_export(CLI::App& app, Arguments& arguments) {
  ExportOptions& o = arguments.export_;
  CLI::App* sub =
      add_command(app, arguments, "export", "Write the best configurations, or all trials",
                  [&arguments] { return export_results(arguments.common, arguments.export_); });
  sub->add_option("--format", o.format,
                  "bests: JSON lines; json, header: a table for the dispatcher; cache (Kernel "
                  "Tuner), t4: all trials of a kernel and size")
      ->capture_default_str()
      ->type_name("bests|json|header|cache|t4");
  sub->add_option("--device", o.device, "Only this device; json, header: the one used last")
      ->type_name("NAME");
  sub->add_option("--family", o.family, "bests, json, header: only this family")->type_name("NAME");
  sub->add_option("--kernel", o.kernel, "Only this kernel")->type_name("NAME");
  sub->add_option("--code", o.code,
                  "json, header: add compiled code of portfolios' members, or also of all bests")
      ->type_name("members|bests");
  sub->add_option("--name", o.name, "header: its function; default: FAMILY_table")
      ->type_name("NAME");
  sub->add_option("--size", o.size, "cache, t4: only this problem size")->type_name("SIZE");
  sub->add_option("--from", o.from,
                  "cache, t4: convert this cache, T4 or KTT file instead of the database")
      ->type_name("FILE");
  sub->add_option("-o,--output", o.output, "File to write; default: stdout")->type_name("FILE");
  write_no_document(*sub, arguments,
                    "it writes the format that --format names, of which json is one");
}

void add_import(CLI::App& app, Arguments& arguments) {
  CLI::App* sub =
      add_command(app, arguments, "import", "Add best configurations that were exported elsewhere",
                  [&arguments] { return import_bests(arguments.common, arguments.import_); });
  sub->add_option("files", arguments.import_.files, "Files of `tune export`")
      ->type_name("FILE")
      ->required();
}

void add_merge(CLI::App& app, Arguments& arguments) {
  CLI::App* sub = add_command(app, arguments, "merge",
                              "Add the runs and best configurations of other databases",
                              [&arguments] { return merge(arguments.common, arguments.merge); });
  sub->add_option("databases", arguments.merge.databases, "Databases to add; they are not changed")
      ->type_name("DB")
      ->required();
}

void add_check_table(CLI::App& tables, Arguments& arguments) {
  TablesOptions& o = arguments.tables;
  CLI::App* leaf = tables.add_subcommand(
      "check", "Show the sizes of a table, their versions, and which are stale");
  leaf->final_callback([&arguments] {
    arguments.command = [&arguments] { return check_table(arguments.common, arguments.tables); };
  });
  leaf->add_option("file", o.file, "The table")->type_name("FILE")->required();
  leaf->add_option("--sizes", o.suites,
                   "Suites whose sizes the table should have; missing ones are listed")
      ->type_name("FILE[:GROUP]");
  leaf->add_flag("--submission", o.submission,
                 "Judge it as results that others shall get: all must be beyond doubt");
}

void add_merge_tables(CLI::App& tables, Arguments& arguments) {
  MergeTablesOptions& o = arguments.merged_tables;
  CLI::App* leaf = tables.add_subcommand("merge", "Write one table with what several have");
  leaf->final_callback([&arguments] {
    arguments.command = [&arguments] {
      return merge_tables(arguments.common, arguments.merged_tables);
    };
  });
  leaf->add_option("files", o.files, "Tables of one device model")->type_name("FILE")->required();
  leaf->add_option("-o,--output", o.output, "The table to write")->type_name("FILE")->required();
  write_no_document(*leaf, arguments, kWritesFile);
}

void add_compile_table(CLI::App& tables, Arguments& arguments) {
  TableCodeOptions& o = arguments.table_code;
  CLI::App* leaf = tables.add_subcommand(
      "compile", "Put compiled code of its configurations into a table; needs no GPU");
  leaf->final_callback([&arguments] {
    arguments.command = [&arguments] {
      return compile_table(arguments.common, arguments.table_code);
    };
  });
  leaf->add_option("file", o.file, "The table")->type_name("FILE")->required();
  leaf->add_option("--code", o.code, "Of portfolios' members, or also of all bests")
      ->capture_default_str()
      ->type_name("members|bests");
  leaf->add_option("-o,--output", o.output, "File to write; default: the table itself")
      ->type_name("FILE");
  write_no_document(*leaf, arguments, "it writes the table");
}

void add_tables(CLI::App& app, Arguments& arguments) {
  CLI::App* sub = app.add_subcommand(
      "tables", "Inspect, merge and compile tables of `tune export --format json`");
  sub->require_subcommand(1);
  add_check_table(*sub, arguments);
  add_merge_tables(*sub, arguments);
  add_compile_table(*sub, arguments);
}

void add_quarantine(CLI::App& app, Arguments& arguments) {
  CLI::App* sub = app.add_subcommand("quarantine", "Configurations that crashed or hung");
  sub->require_subcommand(1);
  const std::vector<std::pair<std::string, std::string>> actions = {
      {"list", "List them, with number and cause of the failures"},
      {"clear", "Remove them, so that they run again"}};
  for (const auto& [action, description] : actions) {
    CLI::App* leaf = sub->add_subcommand(action, description);
    leaf->final_callback([&arguments, name = action] {
      arguments.quarantine.action = name;
      arguments.command = [&arguments] {
        return quarantine(arguments.common, arguments.quarantine);
      };
    });
    leaf->add_option("--kernel", arguments.quarantine.kernel, "Only this kernel")
        ->type_name("NAME");
  }
}

void add_results(CLI::App& space, Arguments& arguments) {
  ResultsOptions& o = arguments.results;
  CLI::App* leaf = space.add_subcommand(
      "results",
      "Have a program compute the results of a reference: requests on stdout, answers on "
      "stdin");
  leaf->final_callback([&arguments] {
    arguments.command = [&arguments] { return make_results(arguments.common, arguments.results); };
  });
  leaf->add_option("file", o.file, "Space file")
      ->transform(given_or_installed)
      ->type_name("FILE")
      ->required();
  leaf->add_option("--size", o.sizes, "Problem size that is to be tuned; may be repeated")
      ->type_name("SIZE")
      ->delimiter(';')
      ->take_all()
      ->allow_extra_args(false);
  leaf->add_option("--sizes", o.lists, "Named list of sizes of the space file, or a suite")
      ->type_name("LIST")
      ->take_all()
      ->allow_extra_args(false);
  leaf->add_option("--seed", o.seed, "Seed of the inputs, as of the run")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0));
  add_device_options(*leaf, o);
  write_no_document(*leaf, arguments, "it writes requests to the program that computes");
}

void add_space(CLI::App& app, Arguments& arguments) {
  CLI::App* sub = app.add_subcommand("space", "Inspect a space file; needs no GPU");
  sub->require_subcommand(1);
  const std::vector<std::pair<std::string, std::string>> actions = {
      {"init", "Draft a space file for a kernel, from its signature"},
      {"check", "Validate a space file"},
      {"count", "Count the configurations, and how many each constraint removes"},
      {"show", "List parameters, values, defaults and their meaning"},
      {"why", "Show which constraint rejects a configuration"},
      {"import", "Convert a T1 description to a space file"},
      {"export", "Convert a kernel to a T1 description"}};
  for (const auto& [action, description] : actions) {
    SpaceOptions& o = arguments.space;
    CLI::App* leaf = sub->add_subcommand(action, description);
    leaf->final_callback([&arguments, name = action] {
      arguments.space.action = name;
      arguments.command = [&arguments] { return space(arguments.common, arguments.space); };
    });
    leaf->add_option("file", o.file,
                     action == "import" ? "T1 file"
                     : action == "init" ? "Source of the kernel"
                                        : "Space file")
        ->transform(given_or_installed)
        ->type_name("FILE")
        ->required();
    if (action == "import" || action == "export" || action == "init") {
      leaf->add_option("-o,--output", o.output, "File to write; default: stdout")
          ->type_name("FILE");
      write_no_document(*leaf, arguments, "it writes a file, by default to stdout");
    }
    if (action == "check") {
      leaf->add_flag("--coverage", o.coverage,
                     "Run the reference kernel and list what of its source no check reaches");
      leaf->add_option("--backend", o.backend, "What runs it")
          ->capture_default_str()
          ->type_name("auto|cuda|cpu");
    }
    if (action == "why") {
      leaf->add_option("configuration", o.config, "TILE_M=64,TILE_N=32,…; the rest is default")
          ->type_name("P=V,…");
    }
    if (action != "import") {
      leaf->add_option("--kernel", o.kernel, "Only this kernel")->type_name("NAME");
    }
    if (action != "import" && action != "init") {
      leaf->add_option("--size", o.size,
                       "Problem size to evaluate; default: the first of the list 'default'")
          ->type_name("SIZE");
    }
    if (action != "init")
      leaf->add_option("--device", o.device, device_help())
          ->capture_default_str()
          ->type_name("MODEL");
  }
  add_results(*sub, arguments);
}

void add_runs(CLI::App& app, Arguments& arguments) {
  CLI::App* sub = app.add_subcommand("runs", "Past runs: lists them, or shows one");
  sub->require_subcommand(0, 1);
  sub->parse_complete_callback([&arguments] {
    if (!arguments.command) {
      arguments.runs.action = "list";
      arguments.command = [&arguments] { return runs(arguments.common, arguments.runs); };
    }
  });
  for (const std::string action : {"list", "show"}) {
    CLI::App* leaf = sub->add_subcommand(
        action, action == "list" ? "List the runs, newest first"
                                 : "One run: totals, failures with an example each");
    leaf->final_callback([&arguments, action] {
      arguments.runs.action = action;
      arguments.command = [&arguments] { return runs(arguments.common, arguments.runs); };
    });
    if (action == "show")
      leaf->add_option("run", arguments.runs.id, "Its id; default: the newest")->type_name("ID");
  }
}

void add_replay(CLI::App& app, Arguments& arguments) {
  ReplayOptions& o = arguments.replay;
  CLI::App* sub = add_command(app, arguments, "replay",
                              "Run searches on recorded measurements instead of a device",
                              [&arguments] { return replay(arguments.common, arguments.replay); });
  sub->add_option("files", o.files, "Kernel Tuner caches, T4 or KTT results")
      ->type_name("FILE")
      ->required();
  sub->add_option("--strategy", o.strategies, strategies())
      ->capture_default_str()
      ->type_name("STRATEGY,…")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--seed", o.seed, "Seed of the first run; each further run adds 1")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(0));
  sub->add_option("--repeats", o.repeats, "Runs of each strategy on each file")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1));
  sub->add_option("--max-evals", o.max_evaluations, "Evaluate at most N configurations in a run")
      ->type_name("N")
      ->check(whole_number(1));
  sub->add_option("--max-time", o.max_time,
                  "Recorded time of a run; default: what scoring needs, without --max-evals")
      ->type_name("TIME");
  sub->add_option("--in-flight", o.in_flight,
                  "Propose N configurations before their results are known")
      ->capture_default_str()
      ->type_name("N")
      ->check(whole_number(1));
  sub->add_option("--jobs", o.jobs, "Concurrent runs; default: number of cores")
      ->type_name("N")
      ->check(whole_number(1, kMostThreads));
  sub->add_option("--trace", o.trace,
                  "Write the tried configurations to this file of JSON lines, or with several "
                  "FILEs to files in this directory")
      ->type_name("PATH");
  sub->add_flag("--score", o.score,
                "Score the runs: 0 is random search, 1 finds the optimum immediately");
}

/// Everything after `--` belongs to the program.
void add_program(CLI::App& sub, std::vector<std::string>& program) {
  sub.add_option("program", program, "The program and its arguments, after --")
      ->type_name("PROGRAM")
      ->required();
}

void add_record(CLI::App& app, Arguments& arguments) {
  CLI::App* sub = add_command(app, arguments, "record",
                              "Record the matrix products that a program computes with cuBLAS",
                              [&arguments] { return record(arguments.common, arguments.record); });
  sub->add_option("-o,--output", arguments.record.output,
                  "Write the sizes that can be tuned to a suite, for tune --sizes")
      ->type_name("FILE");
  add_program(*sub, arguments.record.program);
  write_no_document(*sub, arguments, kOutputOfProgram);
}

void add_capture(CLI::App& app, Arguments& arguments) {
  CaptureOptions& o = arguments.capture;
  CLI::App* sub = add_command(
      app, arguments, "capture",
      "Run a program and make a folder to tune of one launch of a kernel, with its data",
      [&arguments] { return capture(arguments.common, arguments.capture); });
  sub->add_option("--kernel", o.kernel, "The kernel's function")->type_name("NAME")->required();
  sub->add_option("-o,--output", o.output, "A new folder; default captured_NAME")->type_name("DIR");
  sub->add_option("--source", o.source, "The kernel's source; default: what NVRTC compiles there")
      ->type_name("FILE");
  sub->add_option("--launch", o.launch, "Which of the kernel's launches, from 1")
      ->type_name("N")
      ->check(whole_number(1));
  sub->add_option("--limit", o.limit_mib, "Most MiB of all its buffers")
      ->type_name("MIB")
      ->check(whole_number(1));
  sub->add_option("--elements", o.elements,
                  "Elements of a buffer, where its memory goes on behind them")
      ->type_name("NAME=N");
  add_program(*sub, o.program);
  write_no_document(*sub, arguments, kOutputOfProgram);
}

void add_exec(CLI::App& app, Arguments& arguments) {
  CLI::App* sub =
      add_command(app, arguments, "exec", "Run a program with tuned kernels in place of cuBLAS",
                  [&arguments] { return exec(arguments.common, arguments.exec); });
  add_program(*sub, arguments.exec.program);
  write_no_document(*sub, arguments, kOutputOfProgram);
}

}  // namespace

void add_commands(CLI::App& app, Arguments& arguments) {
  add_tune(app, arguments);
  add_finalize(app, arguments);
  add_bench(app, arguments);
  add_portfolio(app, arguments);
  add_setup(app, arguments);
  add_judge(app, arguments);
  add_explain(app, arguments);
  add_query(app, arguments);
  add_report(app, arguments);
  add_compare(app, arguments);
  add_export(app, arguments);
  add_import(app, arguments);
  add_merge(app, arguments);
  add_tables(app, arguments);
  add_quarantine(app, arguments);
  add_space(app, arguments);
  add_runs(app, arguments);
  add_replay(app, arguments);
  add_record(app, arguments);
  add_capture(app, arguments);
  add_exec(app, arguments);
  CLI::App* server = add_command(
      app, arguments, "mcp", "Serve a client of the Model Context Protocol, on stdin and stdout",
      [] { return mcp(); });
  write_no_document(*server, arguments, "it writes answers to its client");
  add_command(app, arguments, "doctor",
              "Show what is available, what is missing, and how to install it",
              [&arguments] { return doctor(arguments.common); });
}

}  // namespace tuner::cli
