// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/stored_space.hpp"

#include "example_kernels.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

namespace tuner {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Numbers = std::vector<std::int64_t>;

TEST(StoredSpace, ReadsDimensionsAndKernelsInTheOrderOfTheFile) {
  EXPECT_THAT(stored_dims(example_kernel("tiled")).names(), ElementsAre("M", "N"));
  EXPECT_THAT(stored_kernel_names(example_kernel("tiled")), ElementsAre("plain", "tiled"));
}

TEST(StoredSpace, IsBoundToTheSizeAndTheDevice) {
  DeviceAttributes device{.max_threads_per_block = 1024};
  EXPECT_EQ(stored_space(example_kernel("tiled"), device, Numbers{64, 1}).size(), 4U);
  EXPECT_EQ(stored_space(example_kernel("tiled"), device, Numbers{48, 1}).size(), 2U);
  device.max_threads_per_block = 512;
  EXPECT_EQ(stored_space(example_kernel("tiled"), device, Numbers{64, 1}).size(), 3U);
}

TEST(StoredSpace, SaysWhichKernelsStoredTextIsNoSpaceFile) {
  for (const char* text : {"", "{", "{}", "[]", R"({"problem":{"dims":7}})"}) {
    KernelRecord kernel = example_kernel("tiled");
    kernel.space_text = text;
    EXPECT_THAT(
        [&] { static_cast<void>(stored_dims(kernel)); },
        ThrowsMessage<Error>(AllOf(HasSubstr("stored space file of tiled"), HasSubstr("tune"))))
        << text;
  }
}

}  // namespace
}  // namespace tuner
