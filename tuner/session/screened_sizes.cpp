// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/screened_sizes.hpp"

#include "tuner/session/trial_record.hpp"
#include "tuner/space/size.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace tuner::session {
namespace {

/// The sizes that runs of the subject set out to tune.
std::set<std::string> tuned_problems(const store::Store& store, const store::Subject& subject) {
  std::set<std::string> problems;
  for (const store::RunRecord& run : store.runs()) {
    if (run.device != subject.device.name || run.family != subject.kernel.family ||
        run.kernel_hash != subject.kernel.hash || run.environment != subject.environment) {
      continue;
    }
    problems.insert(run.problems.begin(), run.problems.end());
  }
  return problems;
}

bool has_final_round(const store::Store& store, const store::Subject& subject,
                     const std::string& problem) {
  const std::vector<store::StoredBest> bests = store.bests({.device = subject.device.name,
                                                            .family = subject.kernel.family,
                                                            .kernel = subject.kernel.kernel,
                                                            .problem = problem});
  return std::ranges::any_of(bests, [&](const store::StoredBest& one) {
    if (one.subject->kernel.hash != subject.kernel.hash ||
        one.subject->environment != subject.environment) {
      return false;
    }
    const auto run = store.run(one.best.run_uuid);
    return run && !store.finalists(run->id, problem).empty();
  });
}

}  // namespace

std::vector<space::Size> screened_sizes(const store::Store& store, const family::Family& family,
                                        const family::Kernel& kernel,
                                        const space::DeviceInfo& device,
                                        const space::EnvironmentInfo& environment) {
  const store::Subject subject{.device = device,
                               .environment = environment,
                               .kernel = kernel_record(family, kernel),
                               .check_hash = family::check_hash(family, kernel)};
  std::vector<space::Size> sizes;
  for (const std::string& problem : tuned_problems(store, subject)) {
    const auto known = store.known_trials(subject, problem);
    const bool has_times = std::ranges::any_of(
        known, [](const auto& each) { return each.second.outcome == Outcome::ok; });
    if (has_times && !has_final_round(store, subject, problem)) {
      sizes.push_back(space::parse_size(problem, kernel.space->dims));
    }
  }
  return sizes;
}

}  // namespace tuner::session
