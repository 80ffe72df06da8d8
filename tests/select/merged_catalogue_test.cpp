// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/merged_catalogue.hpp"

#include "tuned_database.hpp"
#include "tuner/core/error.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/select/rank.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

namespace tuner::select {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

class MergedCatalogueTest : public TunedDatabase {
 protected:
  /// The catalogue of what was put, which is forgotten.
  Catalogue taken() {
    Catalogue known = catalogue(store, {});
    store = store::Store::in_memory();
    return known;
  }
  static store::PortfolioRecord portfolio(const std::string& types, const std::string& recorded) {
    store::PortfolioRecord record;
    record.family = "tiles";
    record.types = types;
    record.recorded_at = recorded;
    return record;
  }
  static std::string best_at(const Catalogue& known, const std::string& size) {
    return rank(known, {.family = "tiles", .size = size}).answers.front().config_json;
  }
};

TEST_F(MergedCatalogueTest, HasTheSizesOfBothAndTheFasterOfTwoEntries) {
  put({.problem = "1024,1024", .value = 16, .median_ns = 1000});
  put({.problem = "2048,2048", .value = 16, .median_ns = 1000});
  const Catalogue one = taken();
  put({.problem = "1024,1024", .value = 32, .median_ns = 900});
  put({.problem = "2048,2048", .value = 32, .median_ns = 1100});
  put({.problem = "4096,4096", .value = 64, .median_ns = 5000});
  const Catalogue other = taken();
  for (const Catalogue& both :
       {merged_catalogue(one, other).catalogue, merged_catalogue(other, one).catalogue}) {
    ASSERT_THAT(both.kernels, SizeIs(1));
    EXPECT_THAT(both.kernels.front().entries, SizeIs(3));
    EXPECT_EQ(best_at(both, "1024,1024"), R"({"TILE":32})");
    EXPECT_EQ(best_at(both, "2048,2048"), R"({"TILE":16})");
    EXPECT_EQ(best_at(both, "4096,4096"), R"({"TILE":64})");
  }
}

TEST_F(MergedCatalogueTest, AnEntryKeepsItsClocks) {
  put({.problem = "1024,1024"});
  const Catalogue one = taken();
  put({.problem = "2048,2048"});
  Catalogue other = taken();
  store::BestRecord& best = other.kernels.front().entries.front().best;
  best.clock_mhz = 1755;
  best.clock_limit = {.max_clock_mhz = 1980, .power_limit_w = 700};
  const Catalogue both = merged_catalogue(one, other).catalogue;
  const std::vector<Entry>& entries = both.kernels.front().entries;
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_FALSE(entries.front().best.clock_mhz);
  EXPECT_EQ(entries.back().best.clock_mhz, 1755);
  EXPECT_EQ(entries.back().best.clock_limit, best.clock_limit);
}

TEST_F(MergedCatalogueTest, AConfigurationHasTheTimesOfBoth) {
  put({.problem = "1024,1024", .value = 16});
  const Catalogue one = taken();
  put({.problem = "4096,4096", .value = 16, .median_ns = 700});
  const Catalogue both = merged_catalogue(one, taken()).catalogue;
  const CatalogueKernel& kernel = both.kernels.front();
  ASSERT_THAT(kernel.configs, SizeIs(1));
  ASSERT_THAT(kernel.configs.front().timings, SizeIs(2));
  EXPECT_EQ(kernel.sizes[kernel.configs.front().timings.back().size].text, "4096,4096");
  EXPECT_EQ(kernel.configs.front().timings.back().ns, 700);
}

TEST_F(MergedCatalogueTest, AKernelOfAnotherSourceIsReplaced) {
  put({.problem = "1024,1024", .hash = "old"});
  const Catalogue old = taken();
  put({.problem = "2048,2048", .value = 32});
  const MergedCatalogue both = merged_catalogue(old, taken());
  ASSERT_THAT(both.catalogue.kernels, SizeIs(1));
  EXPECT_EQ(both.catalogue.kernels.front().record->hash, "new");
  EXPECT_THAT(both.replaced, ElementsAre(HasSubstr("1 tuned size of the earlier one left out")));
  const Catalogue read = parse_catalogue(catalogue_json(both.catalogue), "test");
  EXPECT_EQ(best_at(read, "2048,2048"), R"({"TILE":32})");
}

TEST_F(MergedCatalogueTest, OfTwoPortfoliosForTheSameTypesTheNewerStays) {
  put({.problem = "1024,1024"});
  Catalogue one = taken();
  Catalogue other = one;
  one.portfolios = {portfolio("TYPE=f32", "2026-01-02"), portfolio("TYPE=f16", "2026-01-02")};
  other.portfolios = {portfolio("TYPE=f32", "2026-01-03"), portfolio("TYPE=f16", "2026-01-01"),
                      portfolio("TYPE=s8", "2026-01-01")};
  const Catalogue both = merged_catalogue(one, other).catalogue;
  std::vector<std::string> kept;
  for (const store::PortfolioRecord& it : both.portfolios) {
    kept.push_back(it.types + " " + it.recorded_at);
  }
  EXPECT_THAT(kept,
              ElementsAre("TYPE=f32 2026-01-03", "TYPE=f16 2026-01-02", "TYPE=s8 2026-01-01"));
}

TEST_F(MergedCatalogueTest, PortfoliosOfTheSameVersionsHaveTheMembersAndSizesOfBoth) {
  put({.problem = "1024,1024"});
  Catalogue older = taken();
  Catalogue newer = older;
  const auto record = [](const std::string& recorded, std::vector<int> tiles,
                         std::vector<std::string> problems) {
    store::PortfolioRecord it = portfolio("", recorded);
    it.environment = {.driver = "13.0", .compiler = "NVRTC 13.0", .library = "cuBLAS", .tool = ""};
    for (const int tile : tiles) {
      it.members.push_back({"tiled", "new", fmt::format(R"({{"TILE":{}}})", tile)});
    }
    for (std::string& problem : problems) {
      it.sizes.push_back({.problem = std::move(problem), .library_ns = 10.0 * tiles.front()});
    }
    return it;
  };
  older.portfolios = {record("2026-01-01", {8, 16}, {"8,8", "64,64"})};
  newer.portfolios = {record("2026-01-02", {16, 32}, {"64,64", "16,16"})};
  for (const auto& [one, other] : {std::pair(older, newer), std::pair(newer, older)}) {
    const store::PortfolioRecord both = merged_catalogue(one, other).catalogue.portfolios.front();
    EXPECT_EQ(both.recorded_at, "2026-01-02");
    std::vector<std::string> members, sizes;
    for (const store::PortfolioMember& it : both.members) members.push_back(it.config_json);
    for (const store::PortfolioSize& it : both.sizes) sizes.push_back(it.problem);
    EXPECT_THAT(members, ElementsAre(R"({"TILE":16})", R"({"TILE":32})", R"({"TILE":8})"));
    EXPECT_THAT(sizes, ElementsAre("64,64", "16,16", "8,8"));
    EXPECT_EQ(both.sizes.front().library_ns, 160) << "of both the newer's";
  }
  older.portfolios.front().environment.driver = "12.0";
  EXPECT_THAT(merged_catalogue(older, newer).catalogue.portfolios.front().members, SizeIs(2));
  older = newer;
  older.portfolios.front() = record("2026-01-01", {8}, {"8,8"});
  older.portfolios.front().members.front().kernel_hash = "old";
  EXPECT_THAT(merged_catalogue(older, newer).catalogue.portfolios.front().members, SizeIs(2));
}

TEST_F(MergedCatalogueTest, OneSourceMayHaveBeenTunedInTwoSpaces) {
  std::string larger = kTilesSpace;
  const std::string values = "[8, 16, 32, 64]";
  larger.replace(larger.find(values), values.size(), "[4, 8, 16, 32, 64, 128]");
  put({.problem = "1024,1024", .value = 8});
  const Catalogue old = taken();
  put({.problem = "2048,2048", .value = 64, .space = larger});
  put({.problem = "4096,4096", .value = 4, .space = larger});
  const Catalogue extended = taken();
  for (const auto& [one, other] : {std::pair(old, extended), std::pair(extended, old)}) {
    const Catalogue both = merged_catalogue(one, other).catalogue;
    ASSERT_THAT(both.kernels, SizeIs(1));
    EXPECT_EQ(both.kernels.front().record->space_text, larger);
    for (const KnownConfig& it : both.kernels.front().configs) {
      ASSERT_TRUE(it.config) << it.json << ": " << it.refusal;
      EXPECT_EQ(space::canonical_json(both.kernels.front().stored->definition(), *it.config),
                it.json);
    }
    EXPECT_EQ(best_at(both, "1024,1024"), R"({"TILE":8})");
    EXPECT_EQ(best_at(both, "4096,4096"), R"({"TILE":4})");
  }
}

TEST_F(MergedCatalogueTest, TablesOfTwoDeviceModelsAreRefused) {
  put({.problem = "1024,1024"});
  const Catalogue h200 = taken();
  put({.problem = "1024,1024", .device = "h100"});
  Catalogue other = taken();
  EXPECT_THAT([&] { static_cast<void>(merged_catalogue(h200, other)); },
              ThrowsMessage<Error>(HasSubstr("merge tables of one device model")));
  other = h200;
  other.device.architecture = "sm_120";
  EXPECT_THAT([&] { static_cast<void>(merged_catalogue(h200, other)); },
              ThrowsMessage<Error>(HasSubstr("a model has one architecture")));
}

}  // namespace
}  // namespace tuner::select
