// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/table_code.hpp"

#include "tuner/backend/binary_cache.hpp"
#include "tuner/backend/registry.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/code_jobs.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/process_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <thread>

namespace tuner::cli {
namespace {

constexpr std::chrono::seconds kCodeDeadline{120};

select::CodeScope scope_named(std::string_view name) {
  if (name == "members") return select::CodeScope::members;
  if (name == "bests") return select::CodeScope::bests;
  const std::vector<std::string> known = {"members", "bests"};
  throw Error(ErrorCode::usage, fmt::format("--code: there is no '{}'{}: members (of portfolios) "
                                            "or bests (and what was best at each size)",
                                            name, did_you_mean(name, known)));
}

select::CodeJobs jobs_of(const select::Catalogue& known, std::string_view scope) {
  select::CodeJobs jobs = select::code_jobs(known, scope_named(scope));
  if (!jobs.jobs.empty() || !jobs.problems.empty()) return jobs;
  throw Error(ErrorCode::nothing_found,
              fmt::format("--code {}: the table of {} has no portfolios: `tune portfolio` makes "
                          "them, `--code bests` compiles what was best at each size",
                          scope, known.device.name));
}

select::CodeOrigin origin_of(const space::DeviceInfo& device) {
  select::CodeOrigin origin{.architecture = device.architecture,
                            .recipe = backend::compile_recipe(device.backend),
                            .compiler = backend::portable_compiler(device.backend)};
  if (!origin.compiler.empty()) return origin;
  throw Error(ErrorCode::usage,
              fmt::format("--code: the {} backend compiles kernels for the processor at hand: "
                          "tables of {} hold sources alone",
                          device.backend, device.name));
}

select::CompiledKernel kernel_of(const backend::Binary& binary) {
  return {.image = {reinterpret_cast<const char*>(binary.image.data()), binary.image.size()},
          .symbols = binary.symbols};
}

/// Compiles on all cores. For a job that failed, prints the first line of the compiler's message.
std::map<select::CodeKey, select::CompiledKernel> compile(const backend::Compiler& compiler,
                                                          const select::CodeJobs& jobs) {
  worker::CompilePool pool(compiler,
                           static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  std::vector<std::shared_future<worker::Compiled>> results;
  for (const select::CodeJob& it : jobs.jobs) results.push_back(pool.submit(it.job));
  std::map<select::CodeKey, select::CompiledKernel> kernels;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& binary = results[i].get().binary;
    if (binary) {
      kernels.emplace(jobs.jobs[i].key, kernel_of(*binary));
      continue;
    }
    const std::string& why = binary.error().message;
    tell(printable(fmt::format("warning: {} is not compiled: {}\n", jobs.jobs[i].title,
                               why.substr(0, why.find('\n')))));
  }
  return kernels;
}

}  // namespace

std::string read_table(const std::filesystem::path& file) {
  constexpr std::size_t kMostTableBytes = std::size_t{256} << 20;
  return read_file(file, kMostTableBytes);
}

std::string compiled_code(const CommonOptions& common, const select::Catalogue& known,
                          std::string_view scope) {
  const select::CodeJobs jobs = jobs_of(known, scope);
  const select::CodeOrigin origin = origin_of(known.device);
  for (const std::string& problem : jobs.problems) {
    tell(printable(fmt::format("warning: not compiled: {}\n", problem)));
  }
  const auto isolated = worker::make_isolated_compiler(known.device, kCodeDeadline);
  backend::BinaryCache cache(backend::default_binary_cache());
  const space::EnvironmentInfo environment{
      .driver = {}, .compiler = origin.compiler, .library = {}, .tool = TUNER_VERSION};
  const backend::CachedCompiler compiler(*isolated, cache,
                                         backend::compiler_identity(known.device, environment));
  const auto kernels = compile(compiler, jobs);
  if (kernels.empty()) {
    throw Error(ErrorCode::failure,
                fmt::format("--code: none of {} could be compiled for {}",
                            quantity::count(jobs.configs, "configuration"), origin.architecture));
  }
  std::string text = select::code_text(origin, kernels);
  if (!common.quiet) {
    tell(fmt::format("{} compiled for {} by {}: {:.0f} KiB in the table\n",
                     quantity::count(kernels.size(), "kernel"), origin.architecture,
                     origin.compiler, static_cast<double>(text.size()) / 1024));
  }
  return text;
}

int compile_table(const CommonOptions& common, const TableCodeOptions& options) {
  const select::Catalogue known = select::parse_catalogue(read_table(options.file), options.file);
  const std::string code = compiled_code(common, known, options.code);
  write_file(options.output.empty() ? options.file : options.output,
             select::catalogue_json(known, code));
  return 0;
}

TableCodeReport check_code(const select::TableCode* code, const select::Catalogue& known) {
  TableCodeReport report;
  if (code == nullptr) return report;
  if (!code->problem().empty()) report.warnings.push_back(code->problem());
  if (!code->origin()) return report;
  const select::CodeOrigin& origin = *code->origin();
  const std::string objection =
      code->objection(known.device.architecture, backend::compile_recipe(known.device.backend));
  if (!objection.empty()) report.warnings.push_back(objection);
  std::set<select::CodeKey> readable;
  for (const select::CodeKey& key : code->keys()) {
    if (const auto found = code->find(key)) {
      if (*found) readable.insert(key);
    } else {
      report.warnings.push_back(fmt::format("{}: {}", key.job_key, found.error()));
    }
  }
  const select::CodeJobs members = select::code_jobs(known, select::CodeScope::members);
  report.kernels = readable.size();
  report.members = members.jobs.size();
  for (const select::CodeJob& it : members.jobs) {
    if (readable.contains(it.key)) {
      ++report.members_with_code;
    } else {
      report.warnings.push_back(
          fmt::format("{} is compiled from source: the table has no code of "
                      "it",
                      it.title));
    }
  }
  report.compiler = origin.compiler;
  report.summary =
      fmt::format("compiled code for {} by {}: {}, {} of {} of portfolios", origin.architecture,
                  origin.compiler, quantity::count(report.kernels, "kernel"),
                  report.members_with_code, report.members);
  return report;
}

}  // namespace tuner::cli
