// SPDX-License-Identifier: Apache-2.0
// The commands of the tune program. Each takes its options as parsed, writes its result to stdout
// and everything else to stderr, and returns the exit code; it throws Error for what the user must
// fix.
#pragma once

#include "tuner/cli/terminal.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::cli {

/// What every command understands.
struct CommonOptions {
  std::optional<std::filesystem::path> database;  ///< --db
  bool trust_database = false;                    ///< --trust-db: any owner, any file system
  bool json = false;                              ///< --json: one JSON document on stdout
  bool markdown = false;                          ///< --markdown: tables on stdout
  bool quiet = false;                             ///< -q: no progress
  ColorChoice color = ColorChoice::automatic;     ///< --color: of results
};

/// Which device, and how what runs on it is isolated.
struct DeviceOptions {
  std::string backend = "auto";
  std::string device = "0";  ///< as chosen_devices reads it
  std::string compile_timeout = "60s";
  std::string launch_timeout = "10s";
  bool no_cache = false;
};

struct TuneOptions : DeviceOptions {
  std::string space;
  std::string kernel;  ///< empty: every kernel of the family
  std::vector<std::string> sizes;
  std::vector<std::string> lists;
  std::string strategy = "auto";
  std::optional<std::uint64_t> max_evaluations;
  std::string max_time;
  std::optional<std::uint64_t> patience;
  std::string effort = "normal";  ///< sets what is absent of these, as set_effort says
  std::uint64_t seed = 0;
  std::vector<std::string> set;     ///< "BM=64,128"
  int jobs = 0;                     ///< 0: one less than the cores
  std::vector<std::string> launch;  ///< "srun -u -k -N4 -n4"; empty: the devices of this machine
  std::string agent_wait = "60s";
  std::string heartbeat = "10s";
  bool allow_shared = false;
  std::optional<bool> energy = {};  ///< absent: where it takes little of the time
  bool fresh = false;
  bool dry_run = false;
  bool explain_winner = false;    ///< as `explain` does, each size afterwards
  std::string report;             ///< directory or .html file; empty: none
  bool verbose = false;           ///< -v: each trial
  std::string progress = "auto";  ///< auto, json
  std::string log;                ///< file for events; empty: none
  std::string command_line;
};
int tune(const CommonOptions& common, const TuneOptions& options);
/// Runs the final round of each size of a space file's kernels that has screening times only.
int finalize(const CommonOptions& common, const TuneOptions& options);

struct BenchOptions : DeviceOptions {
  std::string space;
  std::vector<std::string> kernels;  ///< may be empty when the file has one, and in a sweep
  std::string size;
  std::vector<std::string> configs;  ///< "BM=64,BN=128", a JSON object, "best", "default"
  std::uint64_t seed = 0;
  int rounds = 100;
  std::string max_time = "15s";
  std::string save_outputs;  ///< a folder; empty: outputs are not saved
  // of a sweep
  std::string range;  ///< "64:4096:x2"
  bool cpu = false;
  bool transfers = false;
  std::vector<std::string> memory;  ///< "mapped", "A=mapped,B=pinned"
  std::string limit = "1s";
  std::string bound;  ///< a space file, such as of a copy, whose fastest kernel bounds the others
  std::string table;  ///< a file of `tune export --format json`; empty: the database
};
/// Verifies and times configurations beside the default and the library, or a range of sizes on the
/// device and on the processor, and stores nothing.
int bench(const CommonOptions& common, const BenchOptions& options);

/// Whether the options of `tune bench` ask for a sweep rather than for configurations by hand.
[[nodiscard]] bool is_sweep(const BenchOptions& options);
/// `tune bench` over a range of sizes: who is the fastest on the device, on the processor, and what
/// transfers cost.
int sweep(const CommonOptions& common, const BenchOptions& options);

struct PortfolioOptions : DeviceOptions {
  std::string space;
  std::vector<std::string> kernels;    ///< empty: all of the family
  std::vector<std::string> lists;      ///< as of `tune`
  std::string like;                    ///< a distribution to draw sizes from
  std::size_t draws = 24;              ///< of `like`
  std::optional<std::size_t> members;  ///< absent: 16, or as many as there are
  bool extend = false;                 ///< the portfolios that there are, by more sizes
  std::string max_time = "10m";        ///< of the command
  std::uint64_t seed = 0;              ///< of the draws, searches and inputs
  std::string command_line;
};
/// Chooses few configurations, over all kernels of a family, that serve many sizes, and stores them
/// for the sizes that were not tuned.
int portfolio(const CommonOptions& common, const PortfolioOptions& options);

struct SetupOptions : DeviceOptions {
  std::string max_time = "5m";  ///< of the command
  std::uint64_t seed = 0;
  std::string command_line;
};
/// Measures portfolios of the included families on this device.
int setup(const CommonOptions& common, const SetupOptions& options);

struct JudgeOptions : DeviceOptions {
  std::string space;
  std::string kernel;  ///< empty: the only one beside the reference
  std::string config;  ///< as of bench; empty: the default
  std::string size;    ///< empty: the first that `tune` would take
  std::uint64_t seed = 0;
  std::string max_time = "2m";  ///< for the whole
  bool store = false;
  std::string command_line;
};
/// Judges one configuration of one kernel and prints the document "judge/1", whatever happens.
/// Returns 0 when it is right, 4 when it is refused.
int judge(const CommonOptions& common, const JudgeOptions& options);

struct ExplainOptions : DeviceOptions {
  std::string space;   ///< empty: that of the kernel's newest run
  std::string kernel;  ///< may be empty when the file has one
  std::string size;
};
/// Says why the best stored configuration is the fastest, and stores it for the report.
int explain(const CommonOptions& common, const ExplainOptions& options);

struct QueryOptions {
  std::string kernel, family;
  std::string size;
  std::string device;
  std::string policy = "nearest";
  std::string format = "table";
  bool explain = false;
};
int query(const CommonOptions& common, const QueryOptions& options);

/// `tune query` without a size: lists the sizes with a best configuration, of the kernel, family
/// and device that are named. Throws Error(nothing_found) where there is none.
int list_tuned(const CommonOptions& common, const QueryOptions& options);

struct ReportOptions {
  std::string device;
  std::string directory = "reports/out";
  std::vector<std::string> sweeps;    ///< files of `tune bench --range … --json`
  std::vector<std::string> compared;  ///< results as of `tune compare`
  bool all_environments = false;
};
int report(const CommonOptions& common, const ReportOptions& options);

struct CompareOptions {
  std::string a, b;         ///< "DB", "DB@WORDS" or "@WORDS"
  std::string by = "time";  ///< time, library
  std::string fail_on;      ///< "3%"; empty: never
  std::string output;       ///< a page to write; empty: none
};
/// Says of each size whether B is faster than A. Returns 6 where one is slower by more than
/// `fail_on`.
int compare(const CommonOptions& common, const CompareOptions& options);

struct ExportOptions {
  std::string device;            ///< empty: all; of a dispatch table the one used last
  std::string family;            ///< of a dispatch table alone; empty: all
  std::string kernel;            ///< of recordings and dispatch tables alone; empty: all
  std::string size;              ///< of recordings alone; empty: all
  std::string name;              ///< of the function in a header; empty: after the family
  std::string format = "bests";  ///< bests, json, header, cache, t4
  std::string code;              ///< compiled into a dispatch table: members, bests; empty: none
  std::string from;              ///< a recording of another tool; empty: the database
  std::string output;            ///< empty: stdout
};
/// Writes the best known configurations as canonical JSON lines ("tune.best/2"), sorted; or the
/// table that the dispatcher serves a device from ("dispatch/1"), as JSON or as a C++ header; or
/// all that was measured of one kernel at one size on one device, as other tools read it.
int export_results(const CommonOptions& common, const ExportOptions& options);

struct ImportOptions {
  std::vector<std::string> files;
};
/// Adds what `tune export` wrote elsewhere; each file all or nothing.
int import_bests(const CommonOptions& common, const ImportOptions& options);

struct MergeOptions {
  std::vector<std::string> databases;
};
/// Adds the runs and bests of other databases; each all or nothing.
int merge(const CommonOptions& common, const MergeOptions& options);

struct TablesOptions {
  std::string file;
  std::vector<std::string> suites;  ///< "FILE" or "FILE:GROUP"
  bool submission = false;          ///< whether to judge it as results that others shall get
};
/// Says what a dispatch table has: families, sizes, what they were measured with, and which of the
/// suites' sizes it does not answer; then returns 5. Of a submission with something against it,
/// which it prints: 1.
int check_table(const CommonOptions& common, const TablesOptions& options);

struct MergeTablesOptions {
  std::vector<std::string> files;
  std::string output;
};
/// Writes one dispatch table with what several of one device model have, as merged_catalogue does.
int merge_tables(const CommonOptions& common, const MergeTablesOptions& options);

struct TableCodeOptions {
  std::string file;
  std::string code = "members";  ///< or bests
  std::string output;            ///< empty: the file itself
};
/// Puts compiled code of a dispatch table's configurations into it, in place of what it has.
int compile_table(const CommonOptions& common, const TableCodeOptions& options);

struct QuarantineOptions {
  std::string action;  ///< list, clear
  std::string kernel;  ///< empty: all
};
/// The configurations that crashed or hung.
int quarantine(const CommonOptions& common, const QuarantineOptions& options);

struct SpaceOptions {
  std::string action;  ///< init, check, count, show, why, import, export
  std::string file;
  std::string output;  ///< of `import` and `export`; empty: stdout
  std::string config;  ///< of `why`
  std::string kernel;
  std::string size;
  std::string device = "h200";
  bool coverage = false;         ///< of `check`
  std::string backend = "auto";  ///< that runs the reference for it
};
int space(const CommonOptions& common, const SpaceOptions& options);

struct ResultsOptions : DeviceOptions {
  std::string file;
  std::vector<std::string> sizes, lists;
  std::uint64_t seed = 0;
};
/// Has the program at stdout and stdin compute the results of a space file's reference.
int make_results(const CommonOptions& common, const ResultsOptions& options);

struct RunsOptions {
  std::string action;  ///< list, show
  std::string id;
};
int runs(const CommonOptions& common, const RunsOptions& options);

struct ReplayOptions {
  std::vector<std::string> files;
  std::vector<std::string> strategies = {"auto"};
  std::uint64_t seed = 0;  ///< of the first run; the others follow
  std::size_t repeats = 1;
  std::optional<std::uint64_t> max_evaluations;
  std::string max_time;
  std::size_t in_flight = 1;
  std::size_t jobs = 0;         ///< 0: as many as there are cores
  std::filesystem::path trace;  ///< a file, or for several recordings a directory; empty: none
  bool score = false;
};
/// Lets strategies search recorded measurements as if they were the device.
int replay(const CommonOptions& common, const ReplayOptions& options);

struct RecordOptions {
  std::vector<std::string> program;  ///< and its arguments
  std::string output;                ///< a suite to write; empty: none
};
/// Runs a program and notes the matrix products that it asks cuBLAS for. Returns its exit code.
int record(const CommonOptions& common, const RecordOptions& options);

struct CaptureOptions {
  std::vector<std::string> program;   ///< and its arguments
  std::string kernel;                 ///< its function
  std::string source;                 ///< empty: what the program gave to NVRTC
  std::string output;                 ///< a folder; empty: captured_KERNEL
  std::uint64_t launch = 1;           ///< which of the kernel's launches
  std::uint64_t limit_mib = 4096;     ///< of all its buffers
  std::vector<std::string> elements;  ///< "x=1000": of buffers whose allocation is longer
};
/// Runs a program and makes a folder to tune of one launch of a kernel. Returns the program's exit
/// code.
int capture(const CommonOptions& common, const CaptureOptions& options);

struct ExecOptions {
  std::vector<std::string> program;  ///< and its arguments
};
/// Becomes a program whose matrix products tuned kernels serve.
int exec(const CommonOptions& common, const ExecOptions& options);

/// Serves a client of the Model Context Protocol over stdin and stdout until its input ends.
int mcp();

int doctor(const CommonOptions& common);

}  // namespace tuner::cli
