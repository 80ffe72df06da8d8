// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/code_jobs.hpp"

#include "tests/dispatch/product_family.hpp"
#include "tuner/core/error.hpp"
#include "tuner/space/device.hpp"

#include <gmock/gmock.h>

namespace tuner::select {
namespace {

using dispatch::Tuned;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class CodeJobsTest : public testing::Test {
 protected:
  [[nodiscard]] Catalogue known() const {
    const store::Store store(database.path(), store::Store::Mode::read_only);
    return catalogue(store, {});
  }
  [[nodiscard]] static std::vector<std::string> entries(const CodeJobs& jobs) {
    std::vector<std::string> result;
    for (const CodeJob& it : jobs.jobs) result.push_back(it.job.entries.front());
    return result;
  }

  dispatch::TunedDatabase database{
      space::device_profile("h200").value(),
      {.driver = "580", .compiler = "NVRTC 13.0", .library = "cuBLAS 13", .tool = "1"}};
};

TEST_F(CodeJobsTest, AreThoseOfMembersOrOfAllBests) {
  const Tuned member = {.size = "8,16,4"};
  database.add(member);
  database.add({.size = "64,16,4", .kernel = "split", .config = R"({"PARTS":4})"});
  database.add_portfolio({member});
  EXPECT_THAT(entries(code_jobs(known(), CodeScope::members)), ElementsAre("rows<2,4>"));
  EXPECT_THAT(entries(code_jobs(known(), CodeScope::bests)),
              UnorderedElementsAre("rows<2,4>", "split<4>"));
}

TEST_F(CodeJobsTest, AreOfEachCodeThatAConfigurationHasAtItsSizesOnce) {
  for (const char* size : {"8,16,4", "16,16,4", "8,16,4,ALIGN=1"}) database.add({.size = size});
  const CodeJobs jobs = code_jobs(known(), CodeScope::bests);
  EXPECT_THAT(entries(jobs), UnorderedElementsAre("rows<2,4>", "rows<2,1>"));
  EXPECT_EQ(jobs.configs, 1U);
}

TEST_F(CodeJobsTest, AMemberHasAlsoTheCodeOfSizesBetweenThoseOfItsPortfolio) {
  std::string space = dispatch::kProductSpace;
  const std::string by_alignment = R"("VEC": "ALIGN")";
  space.replace(space.find(by_alignment), by_alignment.size(),
                R"("VEC": "K <= 4 ? 1 : K <= 16 ? 2 : 4")");
  const Tuned short_one = {.size = "8,16,4", .space = space};
  const Tuned long_one = {.size = "8,16,64", .space = space};
  database.add_all({short_one, long_one});
  database.add_portfolio({short_one, long_one});
  EXPECT_THAT(entries(code_jobs(known(), CodeScope::members)),
              UnorderedElementsAre("rows<2,1>", "rows<2,2>", "rows<2,4>"));
}

TEST_F(CodeJobsTest, AreBoundToTheHashOfTheCodeAndToTheCompilation) {
  database.add({.size = "8,16,4"});
  const Catalogue table = known();
  const CodeJobs jobs = code_jobs(table, CodeScope::bests);
  EXPECT_EQ(jobs.jobs.front().key.kernel_hash, table.kernels.front().record->hash);
  EXPECT_EQ(jobs.jobs.front().key.job_key, jobs.jobs.front().job.key);
}

TEST_F(CodeJobsTest, AMemberThatNoSizeCanBeLaunchedWithIsNamed) {
  const Tuned member = {.size = "7,16,4"};  // TILE is 2
  database.add({.size = "8,16,4"});
  database.add_portfolio({member});
  const CodeJobs jobs = code_jobs(known(), CodeScope::members);
  EXPECT_THAT(jobs.jobs, IsEmpty());
  EXPECT_THAT(jobs.problems, ElementsAre(HasSubstr(R"(rows {"TILE":2}: )")));
}

TEST_F(CodeJobsTest, SourcesThatAreNotThoseOfTheResultsAreRefused) {
  database.add({.size = "8,16,4", .hash = std::string(64, 'a')});
  EXPECT_THROW(static_cast<void>(code_jobs(known(), CodeScope::bests)), Error);
}

}  // namespace
}  // namespace tuner::select
