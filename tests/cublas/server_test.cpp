// SPDX-License-Identifier: Apache-2.0
// Which device a call is for, and what is recorded, where the process is a made-up one.
#include "tuner/cublas/server.hpp"

#include "tests/cublas/fake_application.hpp"
#include "tests/cublas/gemm_family.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/core/file.hpp"
#include "tuner/cublas/call_log.hpp"
#include "tuner/cublas/recorder.hpp"
#include "tuner/family/recorded_calls.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace tuner::cublas {
namespace {

alignas(16) const std::array<float, 4> kTwoByTwo = {1, 2, 3, 4};
const float kOne = 1;

ProductCall product(void* handle, float* c, backend::StreamHandle stream = nullptr) {
  return {.function = "cublasSgemm_v2",
          .handle = handle,
          .m = 2,
          .n = 2,
          .k = 2,
          .alpha = &kOne,
          .a = {.data = kTwoByTwo.data(), .ld = 2},
          .b = {.data = kTwoByTwo.data(), .ld = 2},
          .beta = &kOne,
          .c = {.data = c, .ld = 2},
          .stream = stream};
}

class ServerTest : public testing::Test {
 protected:
  ServerTest()
      : executor_(backend::open_executor("cpu", 0)),
        database(executor_->device(), executor_->environment()),
        server(std::make_unique<FakeApplication>(process)) {
    database.add_all(tuned_gemm({"2,2,2"}));
    ::setenv("TUNER_DB", database.path().c_str(), 1);
    ::setenv("TUNER_CUBLAS_BACKEND", "cpu", 1);
  }
  [[nodiscard]] std::optional<PassReason> take() { return server.take(product(&handle, c.data())); }

 private:
  std::unique_ptr<backend::Executor> executor_;

 protected:
  dispatch::TunedDatabase database;
  FakeProcess process;
  Server server;
  char handle = 0;
  std::array<float, 4> c{};
};

TEST_F(ServerTest, AmongSeveralDevicesTheHandleSaysWhich) {
  EXPECT_EQ(take(), PassReason::device) << "of a handle whose making was not seen";
  server.note_created(&handle);
  EXPECT_EQ(take(), std::nullopt);
  EXPECT_EQ(c, (std::array<float, 4>{7, 10, 15, 22}));
  process.current = 1;
  EXPECT_EQ(take(), PassReason::device) << "of device 0, called on device 1";
  process.current = std::nullopt;
  EXPECT_EQ(take(), PassReason::device);
  process.current = 0;
  server.note_destroyed(&handle);
  EXPECT_EQ(take(), PassReason::device) << "the next handle may have its address";
}

TEST(CallLog, IsNotWrittenThroughALinkOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder.path() / "real");
  const std::filesystem::path link = folder.path() / "link";
  std::filesystem::create_symlink("real", link);
  constexpr uid_t kSomebody = 12345;
  ASSERT_EQ(::lchown(link.c_str(), kSomebody, kSomebody), 0);
  ::setenv("TUNER_CUBLAS_LOG", (link / "log").c_str(), 1);
  testing::internal::CaptureStderr();
  write_line("one");
  write_line("two");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tuner: TUNER_CUBLAS_LOG is not written: " + link.string() +
                " is a link that belongs to another user: name the file that it leads to\n"
                "tuner: one\ntuner: two\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "real"));
}

TEST_F(ServerTest, OfOneDeviceAnyHandleIs) {
  process.devices = 1;
  EXPECT_EQ(take(), std::nullopt);
  process.current = std::nullopt;
  EXPECT_EQ(take(), PassReason::device) << "the thread has no context yet";
}

class RecorderTest : public testing::Test {
 protected:
  void call(backend::StreamHandle stream = nullptr, const float* a = kTwoByTwo.data()) {
    ProductCall it = product(&handle, c.data(), stream);
    it.a.data = a;
    if (const auto mark = recorder.begin(it, stream, std::nullopt)) recorder.end(*mark, stream);
  }
  [[nodiscard]] std::vector<family::RecordedProduct> written() {
    recorder.write();
    const auto file = folder.path() / (std::to_string(::getpid()) + ".json");
    return family::parse_recorded_calls(read_file(file, 1 << 20), file.string()).products;
  }

  TemporaryDirectory folder;
  FakeProcess process;
  Recorder recorder{std::make_unique<FakeApplication>(process), folder.path()};
  char handle = 0;
  alignas(16) std::array<float, 4> c{};
};

TEST_F(RecorderTest, EveryCallIsCountedAndFewAreTimed) {
  for (int i = 0; i < 10'000; ++i) call();
  const auto rows = written();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.front().count, 10'000U);
  EXPECT_GE(rows.front().timed, 3U) << "the second to the fourth, always";
  EXPECT_LT(rows.front().timed, 1000U);
  EXPECT_DOUBLE_EQ(rows.front().estimated_ns(), 10'000 * 1000.0);
}

TEST_F(RecorderTest, NothingIsTimedInACapture) {
  const auto stream = reinterpret_cast<backend::StreamHandle>(std::uintptr_t{8});
  process.capturing.insert(stream);
  for (int i = 0; i < 5; ++i) call(stream);
  EXPECT_EQ(process.begun, 0);
  const auto rows = written();
  EXPECT_EQ(rows.front().count, 5U);
  EXPECT_EQ(rows.front().captured, 5U);
}

TEST_F(RecorderTest, TheLeastAlignedMatrixIsNoted) {
  alignas(16) static std::array<float, 8> memory{};
  call(nullptr, memory.data());
  call(nullptr, memory.data() + 2);
  call(nullptr, memory.data() + 1);
  std::vector<std::int64_t> alignments;
  for (const auto& row : written()) alignments.push_back(row.align);
  EXPECT_THAT(alignments, testing::UnorderedElementsAre(1, 2, 4));
}

}  // namespace
}  // namespace tuner::cublas
