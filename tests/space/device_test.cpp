// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/device.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tuner::space {
namespace {

TEST(Backends, AreOfTheHostOrOfGpus) {
  EXPECT_TRUE(runs_on_host("cpu"));
  EXPECT_FALSE(runs_on_host("cuda"));
  EXPECT_FALSE(runs_on_host("none"));
}

TEST(AttributeFields, NameEveryAttributeOnce) {
  std::set<std::string_view> names;
  DeviceAttributes attributes;
  std::int64_t next = 1;
  for (const AttributeField& field : attribute_fields()) {
    names.insert(field.name);
    EXPECT_EQ(attributes.*field.member, 0) << field.name << " shares its member";
    attributes.*field.member = next++;
  }
  EXPECT_EQ(names.size(), attribute_fields().size());
  EXPECT_EQ(attribute_fields().size() * sizeof(std::int64_t), sizeof(DeviceAttributes));
}

TEST(DeviceProfile, H200HasItsPublishedLimits) {
  const auto device = device_profile("h200");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->backend, "cuda");
  EXPECT_EQ(device->name, "NVIDIA H200");
  EXPECT_EQ(device->architecture, "sm_90");
  EXPECT_EQ(device->attributes.compute_capability, 90);
  EXPECT_EQ(device->attributes.sm_count, 132);
  EXPECT_EQ(device->attributes.max_threads_per_block, 1024);
  EXPECT_EQ(device->attributes.max_smem_per_block_optin, 232448);
  EXPECT_EQ(device->attributes.l2_bytes, 62914560);
}

TEST(DeviceProfile, ComputeCapabilityDecidesOnTheLimitsOfAMultiprocessor) {
  const auto expect_limits = [](std::string_view name, std::string_view architecture,
                                std::int64_t threads, std::int64_t smem_of_block,
                                std::int64_t smem) {
    SCOPED_TRACE(name);
    const auto device = device_profile(name);
    ASSERT_TRUE(device);
    EXPECT_EQ(device->architecture, architecture);
    EXPECT_EQ(device->attributes.max_threads_per_sm, threads);
    EXPECT_EQ(device->attributes.max_smem_per_block_optin, smem_of_block);
    EXPECT_EQ(device->attributes.smem_per_sm, smem);
  };
  expect_limits("t4", "sm_75", 1024, 65536, 65536);
  expect_limits("a100", "sm_80", 2048, 166912, 167936);
  expect_limits("rtx3090", "sm_86", 1536, 101376, 102400);
  expect_limits("l40s", "sm_89", 1536, 101376, 102400);
  expect_limits("b300", "sm_103", 2048, 232448, 233472);
  expect_limits("rtx5090", "sm_120", 1536, 101376, 102400);
}

TEST(DeviceProfile, EveryProfileIsComplete) {
  for (const std::string& name : device_profile_names()) {
    const auto device = device_profile(name);
    ASSERT_TRUE(device) << name;
    for (const AttributeField& field : attribute_fields()) {
      const bool may_be_zero = device->backend == "cpu" && field.name == "compute_capability";
      EXPECT_TRUE(may_be_zero || device->attributes.*field.member > 0) << name << ' ' << field.name;
    }
  }
}

TEST(DeviceProfile, UnknownNameHasNone) {
  EXPECT_FALSE(device_profile("h20"));
}

}  // namespace
}  // namespace tuner::space
