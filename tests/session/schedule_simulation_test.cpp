// SPDX-License-Identifier: Apache-2.0
// How well SizeBoard shares a suite out among cards, on a virtual clock: what each size takes is
// modelled after a run on an H200 (benchmarks/results/cards-simulation.md).
#include "tests/session/toy.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/session/size_board.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <random>

namespace tuner::session {
namespace {

/// A size of the suite: what the board is told of it, and what it takes on a card, in seconds.
struct Load {
  double work = 0;
  double seconds = 0;
};

/// Wall seconds that the suite took on one card with 15 compilers (docs/results/fp32-gemm.md).
constexpr double kSuiteSeconds = 763;

/// The 72 shapes. The seconds of a size are of its trials: as many as a log-normal distribution
/// says, each as long as its compilation takes 15 compilers or, if that is more, as verifying and
/// screening it takes; scaled to the whole. The board knows neither the number nor the times.
std::vector<Load> fp32_suite(unsigned seed) {
  const Json document = Json::parse(read_file(
      std::string(TUNER_SOURCE_DIR) + "/benchmarks/results/fp32-h200-2026-11-22.json", 1 << 24));
  std::mt19937 random(seed);
  std::lognormal_distribution<double> trials(0, 0.4);
  std::vector<Load> loads;
  double all = 0;
  for (const Json& shape : document.at("shapes")) {
    double m = 0, n = 0, k = 0;
    const auto name = shape.at("shape").get<std::string>();
    if (std::sscanf(name.c_str(), "%lfx%lfx%lf", &m, &n, &k) != 3) ADD_FAILURE() << name;
    const double flops = 2 * m * n * k;
    const double bytes = 4 * (m * k + k * n + m * n);
    const double launch_s = std::max(flops / 50e12, bytes / 4e12) + 3e-6;
    const double screening_s = std::min(25 * launch_s, std::max(0.2, 6 * launch_s));
    const double seconds = trials(random) * std::max(0.07, 0.04 + screening_s + 5 * launch_s);
    loads.push_back({.work = 1e11 + flops + 16 * bytes, .seconds = seconds});
    all += seconds;
  }
  for (Load& load : loads) load.seconds *= kSuiteSeconds / all;
  return loads;
}

/// One card falls silent. It drops out after two and a half heartbeats of 10 s, and what leads at
/// its sizes is timed again by the cards that they go to.
struct Loss {
  double at_s;
  double noticed_after_s = 25;
  double leaders_again_s = 5;
};

/// When the last size ends. A card works on the sizes that it holds in equal shares.
double makespan(const std::vector<Load>& loads, std::size_t cards,
                const std::optional<Loss>& loss = {}) {
  const family::Family family = toy::family();
  const family::Kernel& kernel = family.kernels.front();
  std::vector<space::Size> sizes;
  std::vector<double> work;
  for (const Load& load : loads) {
    sizes.push_back({static_cast<std::int64_t>(10 + sizes.size())});
    work.push_back(load.work);
  }
  SizeBoard board(sizes, kernel.space->dims, work, cards);
  for (const space::Size& size : sizes) {
    board.add(size, space::Space(kernel.space, {}, size), "exhaustive", 0, {}, {});
  }
  struct Held {
    SizeSearch* search;
    double left_s;
  };
  std::vector<std::vector<Held>> lanes(cards);
  std::map<SizeSearch*, double> left_s;  // at sizes that a lost card has begun
  std::vector<Held>& first = lanes.front();
  bool silent = false;
  bool dropped = false;
  double now_s = 0;
  for (;;) {
    for (bool any = true; any;) {
      any = false;
      for (std::vector<Held>& held : lanes) {
        if (&held == &first && (silent || dropped)) continue;
        std::vector<SizeSearch*> open;
        for (const Held& size : held) open.push_back(size.search);
        const auto taken = board.take(open);
        if (!taken) continue;
        const auto begun = left_s.find(taken->search);
        held.push_back({taken->search, begun != left_s.end()
                                           ? begun->second + loss->leaders_again_s
                                           : loads[board.index(*taken->search)].seconds});
        any = true;
      }
    }
    double next_s = INFINITY;
    for (const std::vector<Held>& held : lanes) {
      if (&held == &first && silent) continue;
      for (const Held& size : held) {
        next_s = std::min(next_s, size.left_s * static_cast<double>(held.size()));
      }
    }
    if (loss && !dropped) {
      const double event_s = silent ? loss->at_s + loss->noticed_after_s : loss->at_s;
      next_s = std::min(next_s, event_s - now_s);
    }
    if (std::isinf(next_s)) return now_s;
    now_s += next_s;
    for (std::vector<Held>& held : lanes) {
      if (&held == &first && silent) continue;
      const double share_s = next_s / static_cast<double>(held.size());
      for (Held& size : held) size.left_s -= share_s;
      std::erase_if(held, [&](const Held& size) {
        const bool done = size.left_s < 1e-9;
        if (done) board.finish(*size.search);
        return done;
      });
    }
    if (!loss || dropped) continue;
    if (!silent) {
      silent = now_s >= loss->at_s;
    } else if (now_s >= loss->at_s + loss->noticed_after_s) {
      for (const Held& size : first) {
        left_s[size.search] = size.left_s;
        board.give_back(*size.search, SizeBoard::Stage::begun);
      }
      first.clear();
      board.remove_card();
      silent = false;
      dropped = true;
    }
  }
}

/// No schedule of sizes that stay on one card can end sooner.
double bound(const std::vector<Load>& loads, std::size_t cards) {
  std::vector<double> seconds;
  double all = 0;
  for (const Load& load : loads) {
    seconds.push_back(load.seconds);
    all += load.seconds;
  }
  std::ranges::sort(seconds, std::greater<>());
  double most = std::max(all / static_cast<double>(cards), seconds.front());
  if (seconds.size() > cards) most = std::max(most, seconds[cards - 1] + seconds[cards]);
  return most;
}

std::vector<Load> many(std::size_t suites) {
  std::vector<Load> loads;
  for (std::size_t i = 0; i < suites; ++i) {
    const std::vector<Load> suite = fp32_suite(static_cast<unsigned>(i));
    loads.insert(loads.end(), suite.begin(), suite.end());
  }
  return loads;
}

struct Efficiency {
  double of_bound = 0, of_cards = 0, speed_up = 0;  // means over the seeds
};

Efficiency efficiency(std::size_t suites, std::size_t cards) {
  constexpr std::size_t kSeeds = 10;
  Efficiency mean;
  for (std::size_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<Load> loads =
        suites == 1 ? fp32_suite(static_cast<unsigned>(seed)) : many(suites);
    const double took = makespan(loads, cards);
    const double all = kSuiteSeconds * static_cast<double>(suites);
    mean.of_bound += bound(loads, cards) / took / kSeeds;
    mean.speed_up += all / took / kSeeds;
    if (suites > 1) {
      return {.of_bound = bound(loads, cards) / took,
              .of_cards = all / took / static_cast<double>(cards),
              .speed_up = all / took};
    }
  }
  mean.of_cards = mean.speed_up / static_cast<double>(cards);
  return mean;
}

TEST(ScheduleSimulation, IsNearWhatAnyScheduleCanReach) {
  for (const std::size_t cards : std::initializer_list<std::size_t>{1, 2, 4, 8, 16, 32, 64}) {
    const Efficiency reached = efficiency(1, cards);
    fmt::print("72 sizes, {} cards: ×{:.2f}, {:.3f} of the bound, cards busy {:.3f}\n", cards,
               reached.speed_up, reached.of_bound, reached.of_cards);
    EXPECT_GE(reached.of_bound, 0.95) << cards;
  }
}

TEST(ScheduleSimulation, KeepsManyCardsBusyWithManySizes) {
  for (const std::size_t cards : std::initializer_list<std::size_t>{8, 64, 256}) {
    const Efficiency reached = efficiency(10, cards);
    fmt::print("720 sizes, {} cards: ×{:.1f}, {:.3f} of the bound, cards busy {:.3f}\n", cards,
               reached.speed_up, reached.of_bound, reached.of_cards);
    EXPECT_GE(reached.of_bound, 0.95) << cards;
  }
}

/// What the lost card would still have done, shared out among the others, plus 60 s.
TEST(ScheduleSimulation, ALostCardCostsItsShareAndAMinute) {
  for (const std::size_t cards : std::initializer_list<std::size_t>{2, 4, 8}) {
    double most = 0;
    for (unsigned seed = 0; seed < 5; ++seed) {
      const std::vector<Load> loads = cards <= 4 ? fp32_suite(seed) : many(3);
      const double whole = makespan(loads, cards);
      for (const double part : {0.1, 0.5, 0.9}) {
        const double at_s = part * whole;
        const double share = (whole - at_s) / static_cast<double>(cards - 1);
        most = std::max(most, makespan(loads, cards, Loss{.at_s = at_s}) - whole - share);
      }
      if (cards > 4) break;  // one seed of three suites
    }
    fmt::print("{} cards, one lost: its share and at most {:.0f} s\n", cards, most);
    EXPECT_LE(most, 60) << cards;
  }
}

}  // namespace
}  // namespace tuner::session
