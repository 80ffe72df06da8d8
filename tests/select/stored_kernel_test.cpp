// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/stored_kernel.hpp"

#include "example_kernels.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

namespace tuner {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::ThrowsMessage;

TEST(StoredKernel, ReadsDimensionsAndKernelsInTheOrderOfTheFile) {
  EXPECT_THAT(stored_dims(example_kernel("tiled")).names(), ElementsAre("M", "N"));
  EXPECT_THAT(stored_kernel(example_kernel("tiled")).family_kernels, ElementsAre("plain", "tiled"));
}

TEST(StoredKernel, ChecksConfigurationsAtASizeOnADevice) {
  const StoredKernel kernel = stored_kernel(example_kernel("tiled"));
  const Config widest = config_from_json(*kernel.definition, R"({"TILE":64})");
  DeviceAttributes device{.max_threads_per_block = 1024};
  EXPECT_EQ(KernelAtSize(kernel, device, {64, 1}).why_invalid(widest), std::nullopt);
  EXPECT_THAT(KernelAtSize(kernel, device, {48, 1}).why_invalid(widest),
              Optional(HasSubstr("only whole tiles")));
  device.max_threads_per_block = 512;
  EXPECT_THAT(KernelAtSize(kernel, device, {64, 1}).why_invalid(widest),
              Optional(HasSubstr("legal block")));
}

TEST(StoredKernel, SaysWhichKernelsStoredTextIsNoSpaceFile) {
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
