// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/transfer.hpp"

#include "tests/support/scripted_backend.hpp"
#include "tuner/backend/cpu/cpu_backend.hpp"
#include "tuner/backend/owned.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <memory>

namespace tuner::measure {
namespace {

using testing::ElementsAre;

/// The product of two 2x2 matrices, which begin 3 floats into their buffers.
class TransferTest : public testing::Test {
 protected:
  static constexpr std::size_t kOffset = 12, kBytes = 16;

  TransferTest() {
    write(a_, {1, 2, 3, 4});
    write(b_, {5, 6, 7, 8});
    write(c_, {0, 0, 0, 0});
  }

  void write(const backend::Buffer& buffer, const std::array<float, 4>& values) {
    backend_->write(at(buffer), std::as_bytes(std::span(values)));
  }
  [[nodiscard]] std::array<float, 4> result() const {
    std::array<float, 4> values{};
    backend_->read(at(c_), std::as_writable_bytes(std::span(values)));
    return values;
  }
  [[nodiscard]] static backend::Region at(const backend::Buffer& buffer) {
    return {buffer.id(), kOffset};
  }

  [[nodiscard]] Expected<TransferTimes, Failure> transfer(HostPlace a, HostPlace b, HostPlace c) {
    const backend::LibraryCall product{
        .operation = {.type = family::ElementType::f32, .shape = blas::packed_gemm(2, 2, 2)},
        .operands = {.places = {{at(a_), at(b_), at(c_)}}}};
    const std::array<TransferData, 3> data = {
        {{.region = at(a_), .size_bytes = kBytes, .place = a},
         {.region = at(b_), .size_bytes = kBytes, .place = b},
         {.region = at(c_), .size_bytes = kBytes, .role = family::BufferRole::output, .place = c}}};
    return time_transfers(*backend_, product, data, 3);
  }

  std::unique_ptr<backend::Backend> backend_ = backend::open_cpu_backend();
  backend::Buffer a_{*backend_, kOffset + kBytes}, b_{*backend_, kOffset + kBytes},
      c_{*backend_, kOffset + kBytes};
};

TEST_F(TransferTest, BringsTheResultBackWhereverTheHostKeepsTheData) {
  using enum HostPlace;
  for (const auto& [a, b, c] :
       {std::array{pageable, pageable, pageable}, std::array{pinned, pinned, pinned},
        std::array{mapped, mapped, mapped}, std::array{mapped, pageable, pinned}}) {
    write(c_, {0, 0, 0, 0});
    const auto times = transfer(a, b, c);
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_THAT(result(), ElementsAre(19, 22, 43, 50));
    EXPECT_GT(times->work_ns, 0);
    EXPECT_DOUBLE_EQ(times->total_ns(), times->allocate_ns + times->to_device_ns + times->work_ns +
                                            times->to_host_ns + times->free_ns);
    const bool is_pinned = a != pageable || b != pageable || c != pageable;
    EXPECT_EQ(times->pin_ns > 0, is_pinned);
  }
}

/// What the device is asked to allocate and to copy.
class CountingBackend : public testing_support::ScriptedBackend {
 public:
  using ScriptedBackend::ScriptedBackend;
  backend::BufferId allocate(std::size_t size_bytes) override {
    allocated.push_back(ScriptedBackend::allocate(size_bytes));
    return allocated.back();
  }
  void release(backend::BufferId buffer) override {
    released.push_back(buffer);
    ScriptedBackend::release(buffer);
  }
  void write(backend::Region to, std::span<const std::byte>) override {
    written.push_back(to.buffer);
  }
  void read(backend::Region from, std::span<std::byte>) const override {
    read_back.push_back(from.buffer);
  }

  std::vector<backend::BufferId> allocated, released;
  std::vector<backend::BufferId> written;
  mutable std::vector<backend::BufferId> read_back;
};

TEST(Transfer, AllocatesAndCopiesNothingThatIsMapped) {
  std::vector<backend::Region> seen;
  CountingBackend backend([&](const backend::Work& work) {
    seen = {std::get<backend::Region>(std::get<backend::Launch>(work).steps[0].arguments[0]),
            std::get<backend::Region>(std::get<backend::Launch>(work).steps[0].arguments[1])};
    return 100.0;
  });
  const backend::BufferId in = backend.allocate(8), out = backend.allocate(8);
  backend.allocated.clear();
  const backend::Launch launch{
      .kernel = {},
      .steps = {{.geometry = {}, .arguments = {backend::Region(in), backend::Region(out)}}}};
  const std::array<TransferData, 2> data = {
      {{.region = in, .size_bytes = 8, .place = HostPlace::pinned},
       {.region = out,
        .size_bytes = 8,
        .role = family::BufferRole::output,
        .place = HostPlace::mapped}}};
  const auto times = time_transfers(backend, launch, data, 2);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->work_ns, 100);
  ASSERT_EQ(backend.allocated.size(), 3U) << "the input's, in each of three transfers";
  EXPECT_EQ(seen[0], backend::Region(backend.allocated.back()))
      << "it works on the transfer's memory";
  EXPECT_NE(seen[1].buffer, out) << "mapped: it works on the host's";
  const auto& transfers = backend.allocated;
  EXPECT_THAT(backend.written, ElementsAre(transfers[0], transfers[1], transfers[2], out))
      << "three transfers, and the delivery";
  EXPECT_THAT(backend.read_back, ElementsAre(in, out)) << "the numbers, before the first transfer";
  for (const backend::BufferId buffer : transfers)
    EXPECT_THAT(backend.released, testing::Contains(buffer));
}

TEST(Transfer, AFailureOfTheWorkIsTheTransfers) {
  testing_support::ScriptedBackend backend([](const backend::Work&) -> Expected<double, Failure> {
    return Unexpected(Failure{Outcome::crashed, "it fell"});
  });
  const auto times = time_transfers(backend, testing_support::work_number(1), {}, 2);
  ASSERT_FALSE(times);
  EXPECT_EQ(times.error().outcome, Outcome::crashed);
}

TEST(HostPlaces, HaveNames) {
  for (const HostPlace place : {HostPlace::pageable, HostPlace::pinned, HostPlace::mapped}) {
    EXPECT_EQ(host_place(name(place)), place);
  }
  EXPECT_EQ(host_place("managed"), std::nullopt);
}

}  // namespace
}  // namespace tuner::measure
