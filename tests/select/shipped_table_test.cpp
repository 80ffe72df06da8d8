// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/shipped_table.hpp"

#include "tuned_database.hpp"

#include <gtest/gtest.h>

namespace tuner::select {
namespace {

class ShippedKnowsMoreTest : public TunedDatabase {
 protected:
  [[nodiscard]] Catalogue known() const { return catalogue(store, {.family = "tiles"}); }
};

TEST_F(ShippedKnowsMoreTest, UnlessMoreSizesWereTunedHere) {
  put({.problem = "1024,1024"});
  const Catalogue shipped = known();
  EXPECT_TRUE(shipped_knows_more(shipped, shipped, "tiles"));
  put({.problem = "2048,1024"});
  EXPECT_FALSE(shipped_knows_more(shipped, known(), "tiles"));
  EXPECT_TRUE(shipped_knows_more(known(), shipped, "tiles"));
}

TEST_F(ShippedKnowsMoreTest, WhatWasImportedWasNotTunedHere) {
  put({.problem = "1024,1024"});
  const Catalogue shipped = known();
  store::StoredBest theirs = store.bests({}).at(0);
  theirs.best.problem = "2048,1024";
  theirs.best.run_uuid = "theirs";
  store.import_bests(std::vector{theirs}, "h200.jsonl");
  EXPECT_TRUE(shipped_knows_more(shipped, known(), "tiles"));
}

TEST_F(ShippedKnowsMoreTest, OfTheKernelAlone) {
  put({.problem = "1024,1024"});
  const Catalogue shipped = known();
  put({.problem = "2048,1024"});
  EXPECT_FALSE(shipped_knows_more(shipped, known(), "tiles", "tiled"));
  EXPECT_TRUE(shipped_knows_more(shipped, known(), "tiles", "another")) << "of which none has any";
}

}  // namespace
}  // namespace tuner::select
