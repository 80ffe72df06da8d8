// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/command_options.hpp"

#include "tuner/cli/option_kinds.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/bench.hpp"
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
constexpr std::uint64_t kMostRounds = 10'000;

/// Adds a command that runs `run` with its options.
template <class Options>
CLI::App& add_command(CLI::App& app, Arguments& arguments, const std::string& name,
                      const std::string& description,
                      int (&run)(const CommonOptions&, const Options&), const Options& options) {
  return *add_command(app, arguments, name, description,
                      [&arguments, &run, &options] { return run(arguments.common, options); });
}

/// Adds an action of a command, whose options take its name.
template <class Options>
CLI::App& add_action(CLI::App& command, Arguments& arguments, const std::string& name,
                     const std::string& description,
                     int (&run)(const CommonOptions&, const Options&), Options& options) {
  return *add_command(command, arguments, name, description, [&arguments, &run, &options, name] {
    options.action = name;
    return run(arguments.common, options);
  });
}

std::string device_help() {
  return fmt::format("Device limits to use: {}", fmt::join(space::device_profile_names(), ", "));
}

std::string strategies() {
  return fmt::format("How to search: {}", fmt::join(search::strategy_names(), ", "));
}

/// How a run is followed.
void add_progress_options(CLI::App& app, TuneOptions& o) {
  app.add_flag("-v,--verbose", o.verbose, "Print a line for each trial");
  add_value(app, "--progress", o.progress, "auto|json", "json: events as lines of JSON on stderr");
  add_value(app, "--log", o.log, "FILE", "Also append the events to this file");
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
  add_space_file(app, "--space", o.space, "Space file: kernels, parameters, constraints");
  add_value(app, "--kernel", o.kernel, "NAME", "Kernel of the space file; default: all of them");
  add_list(app, "--size", o.sizes, "SIZE",
           "Problem size such as 4096,4096,4096 or 4096,4096,64,TRANS_B=1; may be repeated")
      ->delimiter(';');
  add_list(app, "--sizes", o.lists, "LIST",
           "Named list of sizes of the space file, or a suite: FILE or FILE:GROUP; may be "
           "repeated");
}

void add_search_options(CLI::App& app, TuneOptions& o) {
  add_value(app, "--strategy", o.strategy, "STRATEGY", strategies());
  add_number(app, "--max-evals", o.max_evaluations, 1,
             "Evaluate at most N configurations at each size");
  add_value(app, "--max-time", o.max_time, "TIME",
            "End within 10 % or 10 s of this time, e.g. 90s or 10m: all kernels, sizes and final "
            "rounds");
  add_number(app, "--patience", o.patience, 1,
             "End the search at a size after N results without an improvement; default 150 without "
             "--max-evals and --strategy exhaustive");
  add_value(app, "--effort", o.effort, "quick|normal|full",
            "How long to search: sets what --max-evals and --patience do not say, the number "
            "of finalists, and energy");
  add_seed(app, o.seed, "Seed of the search and of the inputs");
  add_list(app, "--set", o.set, "P=V,…",
           "Keep only these values of a parameter, e.g. TILE_M=64,128; may be repeated")
      ->delimiter(';');
  add_number(app, "--jobs", o.jobs, 1,
             "Compile N configurations at a time; default: one less than the cores", kMostThreads);
}

void add_agent_options(CLI::App& app, TuneOptions& o) {
  add_list(app, "--launch", o.launch, "PROGRAM",
           "Tune on the devices of agents that a program starts, such as 'srun -u -k -N4 -n4' or "
           "'ssh HOST', instead of this machine's; may be repeated");
  add_value(app, "--agent-wait", o.agent_wait, "TIME",
            "End if no agent has started within this time");
  add_value(app, "--heartbeat", o.heartbeat, "TIME",
            "Interval of heartbeats; an agent that is silent for 2.5 intervals is lost");
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
  add_value(app, "--report", o.report, "PATH",
            "Write the HTML report into this directory or .html file, and anew during the run");
  add_progress_options(app, o);
}

void add_finalize(CLI::App& app, Arguments& arguments) {
  TuneOptions& o = arguments.tune;
  CLI::App& sub = add_command(app, arguments, "finalize",
                              "Run the final round of each size that has none", finalize, o);
  add_space_file(sub, "--space", o.space, "Space file of the kernels");
  add_value(sub, "--kernel", o.kernel, "NAME", "Only this kernel");
  add_device_options(sub, o);
  add_energy_options(sub, o);
  sub.add_flag("--allow-shared", o.allow_shared,
               "Run even while other processes use the GPU; the results are marked");
  add_progress_options(sub, o);
}

/// What `tune bench` times, and over which sizes.
void add_bench_contenders(CLI::App& app, BenchOptions& o) {
  add_value(app, "--space", o.space, "FILE", "Space file: kernels, parameters, constraints");
  add_list(app, "--kernel", o.kernels, "NAME",
           "Kernel of the space file; with --range may be repeated, default: all")
      ->delimiter(',');
  add_value(app, "--size", o.size, "SIZE", "Problem size such as 4096,4096,4096");
  add_list(app, "--config", o.configs, "CONFIG",
           "TILE_M=64,TILE_N=32,… (other parameters have their default), a JSON object, best "
           "(the best stored) or default; may be repeated; default: best if there is one")
      ->delimiter(';');
  add_value(app, "--range", o.range, "RANGE",
            "Sizes with all dimensions equal, START:STOP:STRIDE or START:STOP:xFACTOR: times "
            "every kernel with its default and its tuned configuration");
  app.add_flag("--cpu", o.cpu,
               "Also time the CPU: its library and the kernels for the cpu backend only");
  app.add_flag("--transfers", o.transfers, "Also time each contender with allocation and copies");
  add_list(app, "--memory", o.memory, "PLACE",
           "Host memory of the data: pageable, pinned, mapped, or A=mapped,B=pinned (others "
           "pageable); may be repeated; default: each of the three")
      ->delimiter(';');
}

void add_bench(CLI::App& app, Arguments& arguments) {
  BenchOptions& o = arguments.bench;
  CLI::App& sub = add_command(app, arguments, "bench",
                              "Verify and time named configurations; stores nothing", bench, o);
  add_bench_contenders(sub, o);
  add_value(sub, "--bound", o.bound, "FILE",
            "Also time the kernels of this space file, such as a copy; rates are shown "
            "relative to the fastest of them");
  add_value(sub, "--limit", o.limit, "TIME",
            "Over a range, skip contenders with a longer expected time");
  add_value(sub, "--table", o.table, "FILE",
            "Tuned results for a range: a file of `tune export --format json` instead of the "
            "database");
  add_seed(sub, o.seed, "Seed of the inputs; the message of a failure states it");
  add_value(sub, "--rounds", o.rounds, "N",
            "At most N repetitions, fewer if the ranking is certain earlier; 0: one launch for "
            "--save-outputs, neither verified nor timed")
      ->capture_default_str()
      ->check(whole_number(static_cast<std::uint64_t>(measure::RoundsPlan{}.fewest_rounds),
                           kMostRounds, 0));
  add_value(sub, "--save-outputs", o.save_outputs, "DIR",
            "Write what each configuration computes to a file in this folder");
  add_value(sub, "--max-time", o.max_time, "TIME", "Start no round after this time");
  add_device_options(sub, o);
}

/// Options of the commands that measure portfolios.
template <class Options>
void add_portfolio_run_options(CLI::App& sub, Options& o) {
  add_value(sub, "--max-time", o.max_time, "TIME", "Begin no trial after this time");
  add_seed(sub, o.seed, "Seed of the draws, searches and inputs");
  add_device_options(sub, o);
}

void add_portfolio(CLI::App& app, Arguments& arguments) {
  PortfolioOptions& o = arguments.portfolio;
  CLI::App& sub = add_command(
      app, arguments, "portfolio",
      "Choose few configurations of a family that serve many sizes, and store them", portfolio, o);
  add_space_file(sub, "--space", o.space, "Space file of the family");
  add_list(sub, "--kernel", o.kernels, "NAME", "Only this kernel; may be repeated; default: all");
  add_list(sub, "--sizes", o.lists, "LIST", "The sizes: as for `tune`; may be repeated");
  add_value(sub, "--like", o.like, "FILE",
            "Draw the sizes from a distribution, or those of a suite by what `tune record` saw");
  add_number(sub, "--draw", o.draws, 0, "Draw N sizes", kMostDraws)->capture_default_str();
  add_number(sub, "-k,--members", o.members, 0,
             "At most N members; default: 16, with --extend no new one");
  sub.add_flag(
      "--extend", o.extend,
      "Keep the members of the present portfolios and time them at more sizes; with -k, the "
      "fastest configurations of tuned sizes become members, too");
  add_portfolio_run_options(sub, o);
}

void add_setup(CLI::App& app, Arguments& arguments) {
  SetupOptions& o = arguments.setup;
  CLI::App& sub =
      add_command(app, arguments, "setup",
                  "Measure portfolios of the included families on this device", setup, o);
  add_portfolio_run_options(sub, o);
}

void add_judge(CLI::App& app, Arguments& arguments) {
  JudgeOptions& o = arguments.judge;
  CLI::App& sub =
      add_command(app, arguments, "judge",
                  "Judge one configuration of a kernel: a verdict for programs", judge, o);
  add_space_file(sub, "space", o.space, "Space file")->required();
  add_value(sub, "--kernel", o.kernel, "NAME",
            "Kernel to judge; default: the only one beside the reference");
  add_value(sub, "--config", o.config, "CONFIG",
            "TILE_M=64,… (other parameters have their default), a JSON object, best (the "
            "best stored) or default; default: default");
  add_value(sub, "--size", o.size, "SIZE",
            "Problem size; default: the first that `tune` would take");
  add_seed(sub, o.seed, "Seed of the inputs");
  add_value(sub, "--max-time", o.max_time, "TIME", "End with the verdict timeout after this time");
  sub.add_flag("--store", o.store, "Add the trial to the database");
  add_device_options(sub, o);
}

void add_explain(CLI::App& app, Arguments& arguments) {
  ExplainOptions& o = arguments.explain;
  CLI::App& sub =
      add_command(app, arguments, "explain",
                  "Explain why the best configuration of a size is the fastest", explain, o);
  add_value(sub, "--kernel", o.kernel, "NAME", "Kernel to explain");
  add_value(sub, "--size", o.size, "SIZE", "Problem size such as 4096,4096,4096");
  add_space_file(sub, "--space", o.space, "Space file; default: that of the kernel's newest run");
  add_device_options(sub, o);
}

void add_query(CLI::App& app, Arguments& arguments) {
  QueryOptions& o = arguments.query;
  CLI::App& sub = add_command(
      app, arguments, "query",
      "Print the best configuration for a size; without one list what is tuned", query, o);
  add_value(sub, "--kernel", o.kernel, "NAME", "Kernel to query");
  add_value(sub, "--family", o.family, "NAME", "Family to query: the best of its kernels");
  add_value(sub, "--size", o.size, "SIZE", "Problem size such as 4096,4096,4096");
  add_value(sub, "--device", o.device, "NAME",
            "Name of the device; default: the one with the newest results");
  add_value(sub, "--policy", o.policy, "exact|nearest", "nearest: also answer from another size");
  add_value(sub, "--format", o.format, "table|json|args|cpp",
            "args: compiler options; cpp: launch code");
  sub.add_flag("--explain", o.explain,
               "Print every possible answer with the reason for or against it");
}

void add_report(CLI::App& app, Arguments& arguments) {
  ReportOptions& o = arguments.report;
  CLI::App& sub =
      add_command(app, arguments, "report", "Write one HTML page for each device", report, o);
  add_value(sub, "--device", o.device, "NAME", "Only this device");
  add_value(sub, "--sweep", o.sweeps, "FILE",
            "Also show this result of `tune bench --range … --json`; may be repeated");
  add_value(sub, "--compare", o.compared, "DB",
            "Also compare with these results (see `tune compare`); may be repeated");
  sub.add_flag("--all-environments", o.all_environments,
               "Also compare the latest driver and versions with each earlier one");
  add_value(sub, "-o,--output", o.directory, "DIR", "Directory to write into");
}

void add_compare(CLI::App& app, Arguments& arguments) {
  CompareOptions& o = arguments.compare;
  CLI::App& sub = add_command(app, arguments, "compare",
                              "Show which sizes are faster or slower in other results", compare, o);
  add_value(sub, "A", o.a, "A",
            "A database; DB@WORDS: only results whose device, driver, compiler, library, kernel or "
            "hash matches; @WORDS: of the default database")
      ->required();
  add_value(sub, "B", o.b, "B",
            "Like A; its sizes are reported as faster or slower than those of A")
      ->required();
  add_value(sub, "--by", o.by, "time|library",
            "Compare the times, or the ratios to the library timed in the same rounds");
  add_value(sub, "--fail-on", o.fail_on, "SHARE",
            "Exit with 6 if a size is SLOWER by more than this, such as 3%");
  add_value(sub, "-o,--output", o.output, "FILE", "Also write an HTML page");
}

void add_export(CLI::App& app, Arguments& arguments) {
  ExportOptions& o = arguments.export_;
  CLI::App& sub = add_command(app, arguments, "export",
                              "Write the best configurations, or all trials", export_results, o);
  add_value(sub, "--format", o.format, "bests|json|header|cache|t4",
            "bests: JSON lines; json, header: a table for the dispatcher; cache (Kernel "
            "Tuner), t4: all trials of a kernel and size");
  add_value(sub, "--device", o.device, "NAME", "Only this device; json, header: the one used last");
  add_value(sub, "--family", o.family, "NAME", "bests, json, header: only this family");
  add_value(sub, "--kernel", o.kernel, "NAME", "Only this kernel");
  add_value(sub, "--code", o.code, "members|bests",
            "json, header: add compiled code of portfolios' members, or also of all bests");
  add_value(sub, "--name", o.name, "NAME", "header: its function; default: FAMILY_table");
  add_value(sub, "--size", o.size, "SIZE", "cache, t4: only this problem size");
  add_value(sub, "--from", o.from, "FILE",
            "cache, t4: convert this cache, T4 or KTT file instead of the database");
  add_value(sub, "-o,--output", o.output, "FILE", "File to write; default: stdout");
  write_no_document(sub, arguments,
                    "it writes the format that --format names, of which json is one");
}

void add_import(CLI::App& app, Arguments& arguments) {
  ImportOptions& o = arguments.import_;
  CLI::App& sub =
      add_command(app, arguments, "import", "Add best configurations that were exported elsewhere",
                  import_bests, o);
  add_value(sub, "files", o.files, "FILE", "Files of `tune export`")->required();
}

void add_merge(CLI::App& app, Arguments& arguments) {
  MergeOptions& o = arguments.merge;
  CLI::App& sub = add_command(app, arguments, "merge",
                              "Add the runs and best configurations of other databases", merge, o);
  add_value(sub, "databases", o.databases, "DB", "Databases to add; they are not changed")
      ->required();
}

void add_check_table(CLI::App& tables, Arguments& arguments) {
  TablesOptions& o = arguments.tables;
  CLI::App& leaf =
      add_command(tables, arguments, "check",
                  "Show the sizes of a table, their versions, and which are stale", check_table, o);
  add_value(leaf, "file", o.file, "FILE", "The table")->required();
  add_value(leaf, "--sizes", o.suites, "FILE[:GROUP]",
            "Suites whose sizes the table should have; missing ones are listed");
  leaf.add_flag("--submission", o.submission,
                "Judge it as results that others shall get: all must be beyond doubt");
}

void add_merge_tables(CLI::App& tables, Arguments& arguments) {
  MergeTablesOptions& o = arguments.merged_tables;
  CLI::App& leaf = add_command(tables, arguments, "merge", "Write one table with what several have",
                               merge_tables, o);
  add_value(leaf, "files", o.files, "FILE", "Tables of one device model")->required();
  add_value(leaf, "-o,--output", o.output, "FILE", "The table to write")->required();
  write_no_document(leaf, arguments, kWritesFile);
}

void add_compile_table(CLI::App& tables, Arguments& arguments) {
  TableCodeOptions& o = arguments.table_code;
  CLI::App& leaf = add_command(tables, arguments, "compile",
                               "Put compiled code of its configurations into a table; needs no GPU",
                               compile_table, o);
  add_value(leaf, "file", o.file, "FILE", "The table")->required();
  add_value(leaf, "--code", o.code, "members|bests",
            "Of portfolios' members, or also of all bests");
  add_value(leaf, "-o,--output", o.output, "FILE", "File to write; default: the table itself");
  write_no_document(leaf, arguments, "it writes the table");
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
  QuarantineOptions& o = arguments.quarantine;
  CLI::App* sub = app.add_subcommand("quarantine", "Configurations that crashed or hung");
  sub->require_subcommand(1);
  const std::vector<std::pair<std::string, std::string>> actions = {
      {"list", "List them, with number and cause of the failures"},
      {"clear", "Remove them, so that they run again"}};
  for (const auto& [action, description] : actions) {
    CLI::App& leaf = add_action(*sub, arguments, action, description, quarantine, o);
    add_value(leaf, "--kernel", o.kernel, "NAME", "Only this kernel");
  }
}

void add_results(CLI::App& space, Arguments& arguments) {
  ResultsOptions& o = arguments.results;
  CLI::App& leaf = add_command(
      space, arguments, "results",
      "Have a program compute the results of a reference: requests on stdout, answers on stdin",
      make_results, o);
  add_space_file(leaf, "file", o.file, "Space file")->required();
  add_list(leaf, "--size", o.sizes, "SIZE", "Problem size that is to be tuned; may be repeated")
      ->delimiter(';');
  add_list(leaf, "--sizes", o.lists, "LIST", "Named list of sizes of the space file, or a suite");
  add_seed(leaf, o.seed, "Seed of the inputs, as of the run");
  add_device_options(leaf, o);
  write_no_document(leaf, arguments, "it writes requests to the program that computes");
}

/// The options of an action of `tune space`.
void add_space_options(CLI::App& leaf, Arguments& arguments, const std::string& action) {
  SpaceOptions& o = arguments.space;
  add_space_file(leaf, "file", o.file,
                 action == "import" ? "T1 file"
                 : action == "init" ? "Source of the kernel"
                                    : "Space file")
      ->required();
  if (action == "import" || action == "export" || action == "init") {
    add_value(leaf, "-o,--output", o.output, "FILE", "File to write; default: stdout");
    write_no_document(leaf, arguments, "it writes a file, by default to stdout");
  }
  if (action == "check") {
    leaf.add_flag("--coverage", o.coverage,
                  "Run the reference kernel and list what of its source no check reaches");
    add_value(leaf, "--backend", o.backend, "auto|cuda|cpu", "What runs it");
  }
  if (action == "why") {
    add_value(leaf, "configuration", o.config, "P=V,…",
              "TILE_M=64,TILE_N=32,…; the rest is default");
  }
  if (action != "import") add_value(leaf, "--kernel", o.kernel, "NAME", "Only this kernel");
  if (action != "import" && action != "init") {
    add_value(leaf, "--size", o.size, "SIZE",
              "Problem size to evaluate; default: the first of the list 'default'");
  }
  if (action != "init") add_value(leaf, "--device", o.device, "MODEL", device_help());
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
    add_space_options(add_action(*sub, arguments, action, description, space, arguments.space),
                      arguments, action);
  }
  add_results(*sub, arguments);
}

void add_runs(CLI::App& app, Arguments& arguments) {
  RunsOptions& o = arguments.runs;
  CLI::App* sub = app.add_subcommand("runs", "Past runs: lists them, or shows one");
  sub->require_subcommand(0, 1);
  sub->parse_complete_callback([&arguments] {
    if (!arguments.command) {
      arguments.runs.action = "list";
      arguments.command = [&arguments] { return runs(arguments.common, arguments.runs); };
    }
  });
  add_action(*sub, arguments, "list", "List the runs, newest first", runs, o);
  CLI::App& show = add_action(*sub, arguments, "show",
                              "One run: totals, failures with an example each", runs, o);
  add_value(show, "run", o.id, "ID", "Its id; default: the newest");
}

void add_replay(CLI::App& app, Arguments& arguments) {
  ReplayOptions& o = arguments.replay;
  CLI::App& sub =
      add_command(app, arguments, "replay",
                  "Run searches on recorded measurements instead of a device", replay, o);
  add_value(sub, "files", o.files, "FILE", "Kernel Tuner caches, T4 or KTT results")->required();
  add_list(sub, "--strategy", o.strategies, "STRATEGY,…", strategies())
      ->delimiter(',')
      ->capture_default_str();
  add_seed(sub, o.seed, "Seed of the first run; each further run adds 1");
  add_number(sub, "--repeats", o.repeats, 1, "Runs of each strategy on each file")
      ->capture_default_str();
  add_number(sub, "--max-evals", o.max_evaluations, 1,
             "Evaluate at most N configurations in a run");
  add_value(sub, "--max-time", o.max_time, "TIME",
            "Recorded time of a run; default: what scoring needs, without --max-evals");
  add_number(sub, "--in-flight", o.in_flight, 1,
             "Propose N configurations before their results are known")
      ->capture_default_str();
  add_number(sub, "--jobs", o.jobs, 1, "Concurrent runs; default: number of cores", kMostThreads);
  add_value(sub, "--trace", o.trace, "PATH",
            "Write the tried configurations to this file of JSON lines, or with several "
            "FILEs to files in this directory");
  sub.add_flag("--score", o.score,
               "Score the runs: 0 is random search, 1 finds the optimum immediately");
}

/// Everything after `--` belongs to the program.
void add_program(CLI::App& sub, Arguments& arguments, std::vector<std::string>& program) {
  add_value(sub, "program", program, "PROGRAM", "The program and its arguments, after --")
      ->required();
  write_no_document(sub, arguments, kOutputOfProgram);
}

void add_record(CLI::App& app, Arguments& arguments) {
  RecordOptions& o = arguments.record;
  CLI::App& sub =
      add_command(app, arguments, "record",
                  "Record the matrix products that a program computes with cuBLAS", record, o);
  add_value(sub, "-o,--output", o.output, "FILE",
            "Write the sizes that can be tuned to a suite, for tune --sizes");
  add_program(sub, arguments, o.program);
}

void add_capture(CLI::App& app, Arguments& arguments) {
  CaptureOptions& o = arguments.capture;
  CLI::App& sub = add_command(
      app, arguments, "capture",
      "Run a program and make a folder to tune of one launch of a kernel, with its data", capture,
      o);
  add_value(sub, "--kernel", o.kernel, "NAME", "The kernel's function")->required();
  add_value(sub, "-o,--output", o.output, "DIR", "A new folder; default captured_NAME");
  add_value(sub, "--source", o.source, "FILE",
            "The kernel's source; default: what NVRTC compiles there");
  add_number(sub, "--launch", o.launch, 1, "Which of the kernel's launches, from 1");
  add_number(sub, "--limit", o.limit_mib, 1, "Most MiB of all its buffers")->type_name("MIB");
  add_value(sub, "--elements", o.elements, "NAME=N",
            "Elements of a buffer, where its memory goes on behind them");
  add_program(sub, arguments, o.program);
}

void add_exec(CLI::App& app, Arguments& arguments) {
  ExecOptions& o = arguments.exec;
  CLI::App& sub = add_command(app, arguments, "exec",
                              "Run a program with tuned kernels in place of cuBLAS", exec, o);
  add_program(sub, arguments, o.program);
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
