// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/size_recorder.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/suite.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <latch>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace tuner::dispatch {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class SizeRecorderTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "new" / "sizes.json"; }
  [[nodiscard]] const space::Dimensions& dims() const { return gemm_.problem.dims; }
  [[nodiscard]] space::Size size(std::string_view text) const {
    return space::parse_size(text, dims());
  }
  [[nodiscard]] std::vector<space::Size> recorded() const {
    return family::parse_suite(read_file(file(), 1 << 20), "sizes.json", gemm_).sizes("");
  }

 private:
  TemporaryDirectory folder_;
  family::Family gemm_ = family::load_family(TUNER_SOURCE_DIR "/spaces/gemm.json");
};

TEST_F(SizeRecorderTest, WritesASuiteThatHasEachSizeOnce) {
  SizeRecorder recorder(file());
  recorder.record("gemm", dims(), size("16,32,64"));
  recorder.record("gemm", dims(), size("16,32,64"));
  recorder.record("gemm", dims(), size("16,32,64,TRANS_B=1"));
  EXPECT_THAT(recorded(), UnorderedElementsAre(size("16,32,64"), size("16,32,64,TRANS_B=1")));
}

TEST_F(SizeRecorderTest, KeepsWhatEarlierProcessesRecorded) {
  SizeRecorder(file()).record("gemm", dims(), size("1,2,3"));
  SizeRecorder(file()).record("gemm", dims(), size("1,2,3"));
  SizeRecorder(file()).record("gemm", dims(), size("4,5,6"));
  EXPECT_THAT(recorded(), UnorderedElementsAre(size("1,2,3"), size("4,5,6")));
}

TEST_F(SizeRecorderTest, KeepsWhatManyRecordAtOnce) {
  constexpr int kRecorders = 8, kSizes = 8;
  std::latch begin(kRecorders);
  std::vector<std::jthread> threads;
  for (int m = 1; m <= kRecorders; ++m) {
    threads.emplace_back([this, m, &begin] {
      begin.arrive_and_wait();
      for (int n = 1; n <= kSizes; ++n) {  // each as if of another process
        const auto is_recorded = [&] {
          try {
            SizeRecorder(file()).record("gemm", dims(), {m, n, 1, 1, 0, 0, 1, n, n, 4});
            return true;
          } catch (const Error&) {  // the others held the lock for too long: the process ends
            return false;
          }
        };
        while (!is_recorded()) {
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(recorded().size(), std::size_t{kRecorders} * kSizes);
}

/// Whoever may read the folder can lock it, and keep it locked.
TEST_F(SizeRecorderTest, WaitsForNoForeignLockAndWritesTheSizesLater) {
  SizeRecorder recorder(file());
  recorder.record("gemm", dims(), size("1,2,3"));
  const int foreign = ::open(file().parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(foreign, LOCK_EX), 0);
  for (const char* each : {"4,5,6", "7,8,9"}) {
    EXPECT_THAT([&] { recorder.record("gemm", dims(), size(each)); },
                testing::ThrowsMessage<Error>(HasSubstr("locked its folder")));
  }
  ::close(foreign);
  EXPECT_EQ(recorded().size(), 1U);
  recorder.record("gemm", dims(), size("1,1,1"));
  EXPECT_THAT(recorded(),
              UnorderedElementsAre(size("1,2,3"), size("4,5,6"), size("7,8,9"), size("1,1,1")));
}

TEST_F(SizeRecorderTest, GivesEachFamilyAFile) {
  SizeRecorder recorder(file());
  recorder.record("gemm", dims(), size("1,2,3"));
  recorder.record("other", dims(), size("4,5,6"));
  EXPECT_THAT(recorded(), UnorderedElementsAre(size("1,2,3")));
  const auto beside = file().parent_path() / "sizes.other.json";
  EXPECT_EQ(recorder.file("other"), beside);
  EXPECT_EQ(parse_json(read_file(beside, 1 << 20), "other")["family"], "other");
}

TEST_F(SizeRecorderTest, BeginsAnotherGroupWhereASuitesLimitIs) {
  std::string sizes;
  for (int m = 1; m <= 1000; ++m) sizes += (m > 1 ? "," : "") + ("[" + std::to_string(m) + ",1,1]");
  write_file(
      file(),
      R"({"format": "suite/1", "family": "gemm", "groups": [{"name": "mine", "doc": "kept", "sizes": [)" +
          sizes + "]}]}");
  SizeRecorder(file()).record("gemm", dims(), size("1,2,3"));
  EXPECT_EQ(recorded().size(), 1001U);
  EXPECT_THAT(read_file(file(), 1 << 20), HasSubstr(R"({"name": "mine", "doc": "kept", "sizes")"));
}

TEST_F(SizeRecorderTest, LeavesAFileAloneThatIsNoSuite) {
  for (const char* text :
       {"[]", R"({"format": "suite/1", "family": "gemm", "groups": [1]})", "{"}) {
    write_file(file(), text);
    EXPECT_THROW(SizeRecorder(file()).record("gemm", dims(), size("1,2,3")), Error) << text;
    EXPECT_EQ(read_file(file(), 100), text);
  }
}

TEST_F(SizeRecorderTest, WritesLaterWhatItCouldNotWrite) {
  SizeRecorder recorder(file());
  std::filesystem::create_directories(file());  // in the place of the file
  EXPECT_THROW(recorder.record("gemm", dims(), size("1,2,3")), Error);
  std::filesystem::remove(file());
  recorder.record("gemm", dims(), size("4,5,6"));
  EXPECT_THAT(recorded(), UnorderedElementsAre(size("1,2,3"), size("4,5,6")));
}

TEST_F(SizeRecorderTest, OneFamilysFileHoldsUpNoOther) {
  SizeRecorder recorder(file());
  const auto beside = file().parent_path() / "sizes.a_family.json";
  recorder.record("gemm", dims(), size("1,2,3"));
  std::filesystem::create_directories(beside);
  EXPECT_THROW(recorder.record("a_family", dims(), size("1,2,3")), Error);
  EXPECT_THROW(recorder.record("gemm", dims(), size("4,5,6")), Error) << "still that of a_family";
  EXPECT_THAT(recorded(), UnorderedElementsAre(size("1,2,3"), size("4,5,6")));
}

TEST_F(SizeRecorderTest, SaysThatItCannotWrite) {
  try {
    SizeRecorder("/proc/none/sizes.json").record("gemm", dims(), size("1,2,3"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/proc/none"));
  }
}

}  // namespace
}  // namespace tuner::dispatch
