// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

// What the header takes of CUDA, on the host.
#define __device__
#define __forceinline__ inline

namespace tuner::kernels {
namespace {

int __clz(int value) {
  return std::countl_zero(static_cast<unsigned>(value));
}
float __fdividef(float a, float b) {
  return a / b;
}

#include "kernels/gemm/tensor_work.cuh"

#undef __device__
#undef __forceinline__

using Tile = std::pair<int, std::pair<int, int>>;  // of a batch, at a row and column of tiles

struct Launch {
  TensorSchedule schedule;
  int workers;

  std::string name() const {
    return std::to_string(schedule.tiles_m) + " x " + std::to_string(schedule.tiles_n) +
           " tiles, " + std::to_string(schedule.splits) + " splits, " +
           std::to_string(schedule.streamed) + " streamed, " + std::to_string(schedule.k_tiles) +
           " deep, " + std::to_string(workers) + " workers";
  }
  /// The work of a worker, in its order.
  std::vector<TensorWork> of(int worker) const {
    TensorQueue queue(schedule, worker, workers, WholeMatrices());
    std::vector<TensorWork> all;
    TensorWork work;
    while (queue.next(work)) all.push_back(work);
    EXPECT_TRUE(queue.is_empty());
    return all;
  }
};

Tile tile_of(const TensorWork& work) {
  return {work.batch, {work.m, work.n}};
}

const std::vector<Launch>& launches() {
  static const std::vector<Launch> all = [] {
    std::vector<Launch> launches;
    for (const auto& [m, n, batches] : {std::tuple{1, 1, 1}, {2, 4, 1}, {3, 5, 2}, {17, 9, 1}}) {
      for (int k_tiles : {7, 64}) {
        for (int splits : {1, 2, 5}) {
          launches.push_back({{m, n, batches, splits, 0, 4, k_tiles}, m * n * batches * splits});
          launches.push_back({{m, n, batches, splits, 0, 1, k_tiles}, 13});
        }
        for (int workers : {1, 13, 30, 132}) {
          const int tiles = m * n * batches;
          const int rest = tiles % workers == 0 ? std::min(tiles, workers) : tiles % workers;
          launches.push_back({{m, n, batches, workers, rest, 4, k_tiles}, workers});
          if (tiles >= workers + rest && rest < workers) {
            launches.push_back({{m, n, batches, workers, rest + workers, 4, k_tiles}, workers});
          }
        }
      }
    }
    return launches;
  }();
  return all;
}

TEST(TensorWorkTest, EveryKTileOfEveryTileIsComputedOnce) {
  for (const Launch& launch : launches()) {
    std::map<Tile, std::vector<int>> times;
    for (int worker = 0; worker < launch.workers; ++worker) {
      for (const TensorWork& work : launch.of(worker)) {
        ASSERT_LT(work.begin, work.end) << launch.name();
        auto& of_tile = times[tile_of(work)];
        of_tile.resize(static_cast<std::size_t>(launch.schedule.k_tiles));
        for (int k = work.begin; k < work.end; ++k) ++of_tile.at(static_cast<std::size_t>(k));
      }
    }
    ASSERT_EQ(times.size(), static_cast<std::size_t>(launch.schedule.tiles())) << launch.name();
    for (const auto& [tile, of_tile] : times) {
      ASSERT_EQ(of_tile, std::vector<int>(of_tile.size(), 1)) << launch.name();
    }
  }
}

TEST(TensorWorkTest, SplitsOfATileAreNumberedAlongKAndHaveSlotsOfTheirOwn) {
  for (const Launch& launch : launches()) {
    std::map<Tile, std::map<int, TensorWork>> splits;
    std::set<int> slots;
    int count = 0;
    for (int worker = 0; worker < launch.workers; ++worker) {
      for (const TensorWork& work : launch.of(worker)) {
        if (work.splits == 1) continue;
        splits[tile_of(work)].emplace(work.split, work);
        slots.insert(work.slot(work.split));
        ++count;
      }
    }
    ASSERT_EQ(slots.size(), static_cast<std::size_t>(count)) << launch.name();
    for (const auto& [tile, of_tile] : splits) {
      const TensorWork& first = of_tile.at(0);
      ASSERT_EQ(of_tile.size(), static_cast<std::size_t>(first.splits)) << launch.name();
      int begin = 0;
      for (const auto& [split, work] : of_tile) {
        ASSERT_EQ(work.begin, begin) << launch.name();
        ASSERT_EQ(work.tile, first.tile) << launch.name();
        ASSERT_EQ(first.slot(split), work.slot(split)) << "a slot is the same to all splits";
        begin = work.end;
      }
    }
  }
}

TEST(TensorWorkTest, ConsecutiveWorkersHaveDifferentTilesAtTheSameDepth) {
  const Launch split{{2, 4, 1, 16, 0, 1, 64}, 128}, streamed{{2, 4, 1, 17, 8, 1, 512}, 132};
  for (const Launch& launch : {split, streamed}) {
    for (int first = 0; first < 128; first += 8) {
      std::set<Tile> tiles;
      std::set<int> depths;
      for (int worker = first; worker < first + 8; ++worker) {
        const TensorWork work = launch.of(worker).front();
        tiles.insert(tile_of(work));
        depths.insert(work.begin);
      }
      EXPECT_EQ(tiles.size(), 8U) << launch.name() << ", from worker " << first;
      EXPECT_LT(*depths.rbegin() - *depths.begin(), 512 * 8 / 132) << launch.name();
    }
  }
}

}  // namespace
}  // namespace tuner::kernels
