// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/code_jobs.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/stored_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tuner::select {
namespace {

class CodeJobCollector {
 public:
  explicit CodeJobCollector(const Catalogue& catalogue) : catalogue_(catalogue) {}

  void add(const CatalogueKernel& kernel, const std::string& config_json,
           const std::vector<std::string>& sizes) {
    const std::string title = fmt::format("{} {}", kernel.record->kernel, config_json);
    configs_.insert(title);
    std::string why = "the table has no size of it";
    bool is_compiled = false;
    const family::Kernel& source = source_of(kernel);
    try {
      const space::Config config = space::config_from_json(*source.space, config_json);
      for (const std::string& text : sizes) {
        const auto size = known_size(text, kernel);
        if (!size) continue;
        const auto space = kernel.stored->at(catalogue_.device.attributes, size->numbers);
        if (const auto invalid = why_invalid(*kernel.stored, space, config)) {
          why = *invalid;
          continue;
        }
        add({kernel.record->hash, {}},
            family::compile_job(source, space.expression_values(config), config), title);
        is_compiled = true;
      }
    } catch (const Error& error) {
      why = error.what();
    }
    if (!is_compiled) problems_.push_back(fmt::format("{}: {}", title, why));
  }

  CodeJobs jobs() && {
    return {.jobs = std::move(jobs_), .configs = configs_.size(), .problems = std::move(problems_)};
  }

 private:
  void add(CodeKey key, family::CompileJob job, const std::string& title) {
    key.job_key = job.key;
    if (!known_.insert(key).second) return;
    jobs_.push_back({.key = std::move(key), .job = std::move(job), .title = title});
  }

  const family::Kernel& source_of(const CatalogueKernel& kernel) {
    const store::KernelRecord& record = *kernel.record;
    if (kernel.stored == nullptr) {
      throw Error(ErrorCode::usage,
                  fmt::format("{} has results without sources: there is nothing to compile",
                              record.kernel));
    }
    auto known = families_.find(&record);
    if (known == families_.end()) {
      family::Family family = stored_family(record);
      require_own_code(record, family);
      known = families_.emplace(&record, std::move(family)).first;
    }
    return known->second.kernel(record.kernel);
  }

  const Catalogue& catalogue_;
  std::map<const store::KernelRecord*, family::Family> families_;
  std::set<CodeKey> known_;
  std::set<std::string> configs_;
  std::vector<CodeJob> jobs_;
  std::vector<std::string> problems_;
};

const CatalogueKernel& kernel_of(const Catalogue& catalogue, const std::string& family,
                                 const store::PortfolioMember& member) {
  const auto found = std::ranges::find_if(catalogue.kernels, [&](const CatalogueKernel& it) {
    return it.record->family == family && it.record->kernel == member.kernel &&
           it.record->hash == member.kernel_hash;
  });
  if (found != catalogue.kernels.end()) return *found;
  throw Error(ErrorCode::usage, fmt::format("the portfolio of {} has a member of {}, which the "
                                            "table has not in that version",
                                            family, member.kernel));
}

}  // namespace

CodeJobs code_jobs(const Catalogue& catalogue, CodeScope scope) {
  CodeJobCollector collector(catalogue);
  for (const store::PortfolioRecord& portfolio : catalogue.portfolios) {
    std::vector<std::string> sizes;
    for (const store::PortfolioSize& it : portfolio.sizes) sizes.push_back(it.problem);
    for (const store::PortfolioMember& it : portfolio.members) {
      collector.add(kernel_of(catalogue, portfolio.family, it), it.config_json, sizes);
    }
  }
  if (scope == CodeScope::members) return std::move(collector).jobs();
  for (const CatalogueKernel& kernel : catalogue.kernels) {
    for (const Entry& entry : kernel.entries) {
      collector.add(kernel, kernel.configs[entry.config].json, {entry.size.text});
    }
  }
  return std::move(collector).jobs();
}

}  // namespace tuner::select
