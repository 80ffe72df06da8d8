// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trial_database.hpp"

#include <map>
#include <random>

namespace tuner::report {

/// A random database: kernels, sizes, runs, outcomes, final rounds with and without a library.
inline Database random_database(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return static_cast<int>(random() % limit); };
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Database database;
  const bool typed = seed % 2 == 0;
  if (typed) database.use_types();
  const int kernels = 1 + below(3), sizes = 1 + below(9);
  for (int k = 0; k < kernels; ++k) {
    database.use_kernel(fmt::format("kernel_{}", static_cast<char>('a' + k)));
    for (int run = 1 + below(5); run > 0; --run) {
      database.begin_run(fmt::format("{:08x}", random() & 0xffffffffU));
      for (int s = 0; s < sizes; ++s) {
        const std::string type = typed && below(2) == 0 ? ",TYPE=bf16" : "";
        const std::string problem = fmt::format("{0},{0},{1}{2}", 128 << s, 64 << below(2), type);
        std::map<int, double> times;
        for (int i = below(90); i > 0; --i) {
          const int a = below(40);
          const bool failed = below(4) == 0;
          const double ns = uniform(1e4, 1e5) * (1 + a);
          const Outcome outcome =
              failed ? kOutcomes[static_cast<std::size_t>(1 + below(11))] : Outcome::ok;
          database.add_trial(a, 0, failed ? std::optional<double>() : ns, outcome, 32 + below(3),
                             problem);
          if (failed) {
            times.erase(a);
          } else {
            times[a] = ns;
          }
        }
        if (times.empty() || below(4) == 0) continue;
        std::vector<store::FinalistRecord> finalists;
        const auto winner = times.begin();
        for (const auto& [a, ns] : times) {
          const double ratio = a == winner->first ? 1 : uniform(0.99, 1.3);
          const double half = a == winner->first ? 0 : uniform(0.001, 0.02);
          finalists.push_back(Database::finalist(below(5) == 0 ? "incumbent" : "candidate", a,
                                                 ratio * winner->second, ratio, ratio - half,
                                                 ratio + half));
          if (finalists.size() == 6) break;
        }
        database.add_final(finalists, below(3),
                           below(3) == 0 ? std::nullopt : std::optional(uniform(0.5, 1.8)),
                           problem);
      }
    }
  }
  return database;
}

}  // namespace tuner::report
