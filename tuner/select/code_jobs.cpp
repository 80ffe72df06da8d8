// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/code_jobs.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/drawn_sizes.hpp"
#include "tuner/select/stored_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tuner::select {
namespace {

/// A member may be asked for sizes at which its code differs from that at all sizes of its
/// portfolio: so many sizes are looked at, and so many codes of a member compiled.
constexpr std::size_t kDrawnSizes = 2000;
constexpr std::size_t kMostCodes = 64;

class CodeJobCollector {
 public:
  explicit CodeJobCollector(const Catalogue& catalogue) : catalogue_(catalogue) {}

  /// The codes of a configuration at these sizes.
  void add(const CatalogueKernel& kernel, const std::string& config_json,
           const std::vector<std::string>& sizes) {
    const std::string title = title_of(kernel, config_json);
    configs_.insert(title);
    std::string why = "the table has no size of it";
    bool is_compiled = false;
    const family::Kernel& source = source_of(kernel);
    try {
      const space::Config config = space::config_from_json(*source.space, config_json);
      for (const std::string& text : sizes) {
        const auto size = known_size(text, kernel);
        if (!size) continue;
        auto job = job_at(kernel, source, config, size->numbers);
        if (job) {
          add({kernel.record->hash, {}}, *std::move(job), title);
          is_compiled = true;
        } else {
          why = std::move(job).error();
        }
      }
    } catch (const Error& error) {
      why = error.what();
    }
    if (!is_compiled) problems_.push_back(fmt::format("{}: {}", title, why));
  }

  /// Further codes of a configuration at sizes between these, the most frequent first.
  void add_between(const CatalogueKernel& kernel, const std::string& config_json,
                   const std::vector<std::string>& sizes) {
    std::vector<space::Size> known;
    for (const std::string& text : sizes) {
      if (const auto size = known_size(text, kernel)) known.push_back(size->numbers);
    }
    if (kernel.stored == nullptr || known.empty()) return;
    try {
      add_most_frequent(kernel, config_json,
                        drawn_sizes(kernel.stored->dims(), known, kDrawnSizes));
    } catch (const Error&) {  // which add() has named
    }
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

  void add_most_frequent(const CatalogueKernel& kernel, const std::string& config_json,
                         const std::vector<space::Size>& sizes) {
    struct Code {
      std::size_t sizes = 0;
      family::CompileJob job;
    };
    std::map<std::string, Code> codes;  // by the key of the job
    const family::Kernel& source = source_of(kernel);
    const space::Config config = space::config_from_json(*source.space, config_json);
    for (const space::Size& size : sizes) {
      auto job = job_at(kernel, source, config, size);
      if (!job) continue;
      Code& code = codes[job->key];
      if (code.sizes++ == 0) code.job = *std::move(job);
    }
    std::vector<Code*> in_order;
    for (auto& [key, code] : codes) in_order.push_back(&code);
    std::ranges::stable_sort(in_order, std::greater(), &Code::sizes);
    if (in_order.size() > kMostCodes) in_order.resize(kMostCodes);
    for (Code* const code : in_order) {
      add({kernel.record->hash, {}}, std::move(code->job), title_of(kernel, config_json));
    }
  }

  [[nodiscard]] static std::string title_of(const CatalogueKernel& kernel,
                                            const std::string& config_json) {
    return fmt::format("{} {}", kernel.record->kernel, config_json);
  }

  /// What is compiled of a configuration for a size, or why it is not valid there.
  [[nodiscard]] Expected<family::CompileJob, std::string> job_at(const CatalogueKernel& kernel,
                                                                 const family::Kernel& source,
                                                                 const space::Config& config,
                                                                 const space::Size& size) const {
    const auto space = kernel.stored->at(catalogue_.device.attributes, size);
    if (auto invalid = why_invalid(*kernel.stored, space, config)) {
      return Unexpected(*std::move(invalid));
    }
    return family::compile_job(source, space.expression_values(config), config);
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
      const CatalogueKernel& kernel = kernel_of(catalogue, portfolio.family, it);
      collector.add(kernel, it.config_json, sizes);
      collector.add_between(kernel, it.config_json, sizes);
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
