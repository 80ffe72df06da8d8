// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/catalogue.hpp"

#include "tuned_database.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace tuner::select {
namespace {

class CatalogueTest : public TunedDatabase {
 protected:
  /// Of the only configuration; 0 where there is none.
  [[nodiscard]] double time_at(const std::string& size) const {
    const Catalogue known = catalogue(store, {});
    const CatalogueKernel& kernel = known.kernels.at(0);
    for (const Timing& it : kernel.configs.at(0).timings) {
      if (kernel.sizes.at(it.size).text == size) return it.ns;
    }
    return 0;
  }
};

TEST_F(CatalogueTest, TimesAreBackToBackAlsoOfWhatWasTimedInSingleLaunches) {
  put({.problem = "64,64", .median_ns = 6400});
  const auto trial = [&](const std::string& size, double ns, std::optional<double> series_ns) {
    put({.problem = size, .median_ns = ns, .back_to_back_ns = series_ns, .outcome = Outcome::ok});
  };
  trial("64,64", 6400, 2000);
  trial("128,64", 8300, 4000);
  trial("256,64", 12'200, 8000);
  trial("1024,64", 150'000, 170'000);  // at another clock
  trial("512,64", 30'000, std::nullopt);
  trial("32,64", 5000, std::nullopt);
  EXPECT_EQ(time_at("64,64"), 2000);
  EXPECT_EQ(time_at("1024,64"), 170'000);
  EXPECT_EQ(time_at("512,64"), 30'000 - 4300) << "single launches add 4.3 us";
  EXPECT_EQ(time_at("32,64"), 2000) << "no shorter than what was timed";
}

TEST_F(CatalogueTest, TimesOfSingleLaunchesStayAsTheyAreWhereThereAreNoOthers) {
  put({.problem = "64,64", .median_ns = 6400});
  put({.problem = "128,64", .median_ns = 8000, .outcome = Outcome::ok});
  put({.problem = "256,64", .median_ns = 9000, .back_to_back_ns = 7000});
  EXPECT_EQ(time_at("64,64"), 6400);
  EXPECT_EQ(time_at("128,64"), 8000);
  EXPECT_EQ(time_at("256,64"), 7000) << "that of its final round";
}

}  // namespace
}  // namespace tuner::select
