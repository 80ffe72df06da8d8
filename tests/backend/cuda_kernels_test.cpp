// SPDX-License-Identifier: Apache-2.0
// The kernels of this repository compile for a GPU.
#include "cubin.hpp"
#include "tests/support/part.hpp"
#include "tuner/backend/cuda/backend_kernels.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/core/file.hpp"
#include "tuner/counters/occupancy.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/check_entries.hpp"
#include "tuner/family/family.hpp"
#include "tuner/source/compiled_signature.hpp"
#include "tuner/space/space.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::backend {
namespace {

const std::vector<family::Family>& families() {
  static const std::vector<family::Family> all = {
      family::load_family(TUNER_SOURCE_DIR "/spaces/gemm.json"),
      family::load_family(TUNER_SOURCE_DIR "/spaces/gemm_tensor.json"),
      family::load_family(TUNER_SOURCE_DIR "/spaces/gemm_grouped.json"),
      family::load_family(TUNER_SOURCE_DIR "/spaces/convolution.json"),
      family::load_family(TUNER_SOURCE_DIR "/spaces/copy.json"),
      family::load_family(TUNER_SOURCE_DIR "/spaces/reduction.json"),
      family::load_family(TUNER_SOURCE_DIR "/spaces/transpose.json"),
      family::load_family(TUNER_SOURCE_DIR "/spaces/window_square.json")};
  return all;
}

/// A size at which a kernel has configurations, of this type where it is not empty.
space::Size size_for(const family::Family& family, const family::Kernel& kernel,
                     std::string_view type = "") {
  const bool k_major = type == "tf32" || type == "s8" || type.starts_with("e4m3");
  const bool is_large = kernel.name == "gemm_wgmma" || kernel.name == "gemm_tcgen05";
  const std::string text = kernel.name == "gemm_skinny"            ? "8,4096,4096"
                           : kernel.name == "gemm_few_tiles"       ? "128,256,7168,TRANS_B=1"
                           : kernel.name == "gemm_skinny_mma"      ? "8,4096,4096,TRANS_B=1"
                           : kernel.name == "gemm_skinny_bulk"     ? "16,4096,14336,TRANS_B=1"
                           : is_large && k_major                   ? "1024,1024,8192,TRANS_B=1"
                           : is_large                              ? "1024,1024,8192,TRANS_A=1"
                           : kernel.name == "gemm_wgmma_realigned" ? "1023,1025,1027,TRANS_B=1"
                           : kernel.name == "gemm_mma"             ? "1000,1032,2064,TRANS_A=1"
                           : family.name == "gemm"                 ? "1024,1024,1024"
                           : family.name == "gemm_grouped"         ? "512,1024,1024"
                           : family.name == "reduction"            ? "1048576"
                           : family.name == "convolution"          ? "1024,1024,15"
                                                                   : "1024,1024";
  return space::parse_size(type.empty() ? text : fmt::format("{},TYPE={}", text, type),
                           family.problem.dims);
}

/// The names of a family's types; an empty one where it has none.
std::vector<std::string> types_of(const family::Family& family) {
  const auto dimension = family.problem.dims.find("TYPE");
  return dimension ? family.problem.dims[*dimension].value_names : std::vector<std::string>{""};
}

/// A kernel of a family, with one of its types: an empty one where it has none.
struct TypedCase {
  const family::Family* family;
  const family::Kernel* kernel;
  std::string type;
};

std::vector<TypedCase> typed_cases() {
  std::vector<TypedCase> cases;
  for (const family::Family& family : families()) {
    for (const family::Kernel& kernel : family.kernels) {
      if (std::ranges::count(kernel.backends, "cuda") == 0 && !kernel.backends.empty()) continue;
      for (const std::string& type : types_of(family)) cases.push_back({&family, &kernel, type});
    }
  }
  return cases;
}

/// Whether a kernel is the family's reference, which gets operands in a type of its own.
bool is_wider_reference(const TypedCase& tested) {
  const auto* const reference =
      std::get_if<family::KernelReference>(&tested.family->check.reference);
  return reference != nullptr && reference->type && reference->kernel == tested.kernel->name;
}

/// Of the cards of tune space --device, one for each compute capability.
class CompileMatrix : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string why = compiler_.why_not_for(device_.architecture); !why.empty()) {
      ASSERT_LT(CUDART_VERSION, 13000) << "13.0 compiles for each of these cards: " << why;
      GTEST_SKIP() << why;
    }
  }
  /// The configuration compiles, and a multiprocessor of the card holds a block of it.
  void expect_runs(const TypedCase& tested, const space::Space& space,
                   const space::Config& config) const {
    SCOPED_TRACE(fmt::format("{} {} {}", tested.kernel->name, tested.type,
                             space::display(*tested.kernel->space, config)));
    const auto binary = compiler_.compile(family::compile_job(*tested.kernel, space, config));
    ASSERT_TRUE(binary) << binary.error().message;
    EXPECT_EQ(source::compiled_signatures(binary->image).size(), tested.kernel->steps.size());
    if (!is_wider_reference(tested)) {
      const auto size = size_for(*tested.family, *tested.kernel, tested.type);
      EXPECT_EQ(family::signature_mismatch(*tested.family, *tested.kernel,
                                           family::family_values(size), binary->image),
                "");
    }
    const auto fixed = static_cast<std::int64_t>(
        testing_support::static_shared_bytes(*binary, device_.attributes.compute_capability));
    for (std::size_t step = 0; step < tested.kernel->steps.size(); ++step) {
      const family::Geometry launch =
          family::geometry(*tested.kernel, step, space.expression_values(config));
      const counters::Footprint footprint{
          .threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2],
          .registers = testing_support::registers(*binary),
          .shared_bytes = fixed + launch.dynamic_shared_bytes};
      EXPECT_TRUE(counters::occupancy(footprint, device_.attributes))
          << footprint.threads << " threads of " << footprint.registers << " registers and "
          << footprint.shared_bytes << " bytes of shared memory";
      EXPECT_LE(footprint.shared_bytes, device_.attributes.max_smem_per_block_optin);
    }
  }

  const space::DeviceInfo device_ = *space::device_profile(GetParam());
  const NvrtcCompiler compiler_{device_.architecture};
};

/// All kernels and types at their defaults on the H200; elsewhere, and of other configurations, a
/// few. With TUNER_ALL_TESTS=1 all, and 20 configurations of each, which every run draws anew.
TEST_P(CompileMatrix, WhatASpaceAllowsRunsOnTheCard) {
  const bool takes_all = testing_support::takes_all();
  constexpr std::size_t kFew = 6;
  const unsigned seed = takes_all ? std::random_device()() : 90U;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  std::vector<TypedCase> cases = typed_cases();
  std::ranges::shuffle(cases, random);
  const bool has_all_defaults = takes_all || device_.attributes.compute_capability == 90;
  std::size_t tried = 0;
  for (const TypedCase& tested : cases) {
    if (!has_all_defaults && tried == kFew) break;
    const space::Space space(tested.kernel->space, device_.attributes,
                             size_for(*tested.family, *tested.kernel, tested.type));
    const space::Config usual = space.default_config();
    if (space.size() == 0 || !space.contains(usual)) continue;  // not for this card or type
    ++tried;
    expect_runs(tested, space, usual);
    for (int i = 0; i < (takes_all ? 20 : tried <= kFew ? 1 : 0); ++i) {
      expect_runs(tested, space, space.sample(random));
    }
  }
  EXPECT_GE(tried, kFew);
}

/// What no card has run at least compiles: every type, at its default and a few configurations.
TEST_P(CompileMatrix, UnprovenKernelsRunOnTheCard) {
  std::mt19937_64 random(100);
  int tried = 0;
  for (const TypedCase& tested : typed_cases()) {
    if (tested.kernel->unproven.empty()) continue;
    const space::Space space(tested.kernel->space, device_.attributes,
                             size_for(*tested.family, *tested.kernel, tested.type));
    if (space.size() == 0) continue;
    ++tried;
    expect_runs(tested, space, space.default_config());
    for (int i = 0; i < (testing_support::takes_all() ? 20 : 1); ++i) {
      expect_runs(tested, space, space.sample(random));
    }
  }
  const std::string card = GetParam();
  EXPECT_EQ(tried, card == "b200" ? 6 : card == "b300" ? 5 : 0);
}

INSTANTIATE_TEST_SUITE_P(Cards, CompileMatrix,
                         testing::Values("t4", "a100", "rtx3090", "l40s", "h200", "b200", "b300",
                                         "rtx5090"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(CompileMatrixTest, SpacesHaveConfigurationsWhereTheInstructionsAre) {
  const auto kernels = [](const char* name) {
    const space::DeviceAttributes device = space::device_profile(name)->attributes;
    std::set<std::string> found;
    for (const TypedCase& each : typed_cases()) {
      if (each.kernel->name != "gemm_mma" && each.kernel->name != "gemm_wgmma" &&
          each.kernel->name != "gemm_tcgen05") {
        continue;
      }
      const space::Space space(each.kernel->space, device,
                               size_for(*each.family, *each.kernel, each.type));
      if (space.size() > 0) found.insert(each.kernel->name + " " + each.type);
    }
    return found;
  };
  using testing::AllOf, testing::Contains, testing::IsEmpty, testing::Not;
  EXPECT_THAT(kernels("t4"), IsEmpty());
  EXPECT_THAT(kernels("a100"), AllOf(Contains("gemm_mma s8"), Not(Contains("gemm_mma e4m3"))));
  EXPECT_THAT(kernels("rtx5090"),
              AllOf(Contains("gemm_mma e4m3"), Not(Contains("gemm_wgmma bf16"))));
  EXPECT_THAT(kernels("h200"), AllOf(Contains("gemm_mma e4m3"), Contains("gemm_wgmma bf16"),
                                     Not(Contains("gemm_tcgen05 bf16"))));
  EXPECT_THAT(kernels("b200"),
              AllOf(Contains("gemm_tcgen05 s8"), Not(Contains("gemm_wgmma bf16"))));
  EXPECT_THAT(kernels("b300"),
              AllOf(Contains("gemm_tcgen05 bf16"), Not(Contains("gemm_tcgen05 s8"))));
}

/// A kernel and a type, empty for its family's default.
using TypedKernel = std::pair<std::string, std::string>;

class SpillsTest : public testing::TestWithParam<TypedKernel> {};

/// The constraints exclude configurations whose registers spill, but for a tenth at most. A sample
/// of a space with nearly as many has more at times: it grows before it decides.
TEST_P(SpillsTest, AreRareInTheSpace) {
  const bool takes_all = testing_support::takes_all();
  const int fewest = takes_all ? 20 : 10;
  const int enough = takes_all ? 20 : 5;  // where not one spills
  const int most = 6 * fewest;
  const NvrtcCompiler compiler("sm_90");
  const auto& [name, type] = GetParam();
  const family::Family& family = *std::ranges::find_if(families(), [&](const family::Family& each) {
    return std::ranges::count(each.kernels, GetParam().first, &family::Kernel::name) > 0;
  });
  const family::Kernel& kernel = family.kernel(name);
  const space::Space space(kernel.space, space::device_profile("h200")->attributes,
                           size_for(family, kernel, type));
  std::mt19937_64 random(2026);
  int tried = 0;
  int spilled = 0;
  std::string spilling;
  const auto are_rare = [&] {
    return spilled == 0 ? tried >= enough : tried >= fewest && 10 * spilled <= tried;
  };
  while (!are_rare() && tried < most) {
    const space::Config config = space.sample(random);
    const auto binary = compiler.compile(family::compile_job(kernel, space, config));
    ASSERT_TRUE(binary) << space::display(*kernel.space, config) << "\n" << binary.error().message;
    ++tried;
    if (testing_support::stack_bytes(*binary) == 0) continue;
    ++spilled;
    spilling += space::display(*kernel.space, config) + "\n";
  }
  EXPECT_TRUE(are_rare()) << spilled << " of " << tried << " spill:\n" << spilling;
}

INSTANTIATE_TEST_SUITE_P(
    OfKernels, SpillsTest,
    testing::Values(TypedKernel("convolution_tiled", ""), TypedKernel("gemm_tiled", ""),
                    TypedKernel("gemm_tma", ""), TypedKernel("gemm_skinny", ""),
                    TypedKernel("gemm_wgmma", ""), TypedKernel("gemm_skinny_mma", ""),
                    TypedKernel("gemm_mma", ""), TypedKernel("gemm_mma", "e4m3"),
                    TypedKernel("gemm_mma", "tf32"), TypedKernel("gemm_mma", "s8"),
                    TypedKernel("gemm_mma", "bf16,LDA=1001,LDB=1033"),
                    TypedKernel("gemm_mma", "bf16,BIAS=1,ACTIVATION=2,RESIDUAL=1"),
                    TypedKernel("gemm_skinny_bulk", ""), TypedKernel("gemm_skinny_bulk", "e4m3"),
                    TypedKernel("gemm_skinny_bulk", "e4m3_fast"),
                    TypedKernel("gemm_skinny_bulk", "bf16,BIAS=1,ACTIVATION=2,RESIDUAL=1"),
                    TypedKernel("gemm_few_tiles", ""), TypedKernel("gemm_few_tiles", "e4m3"),
                    TypedKernel("gemm_few_tiles", "s8"),
                    TypedKernel("gemm_few_tiles", "bf16,BIAS=1,ACTIVATION=2,RESIDUAL=1"),
                    TypedKernel("gemm_grouped", ""), TypedKernel("gemm_wgmma", "tf32"),
                    TypedKernel("gemm_wgmma", "s8"), TypedKernel("gemm_wgmma", "e4m3"),
                    TypedKernel("gemm_wgmma", "e4m3_fast"),
                    TypedKernel("gemm_wgmma", "bf16,BIAS=1,ACTIVATION=2,RESIDUAL=1"),
                    TypedKernel("gemm_tiled", "bf16"), TypedKernel("gemm_tiled", "f64"),
                    TypedKernel("gemm_tiled", "s8"), TypedKernel("gemm_skinny", "bf16"),
                    TypedKernel("gemm_skinny", "f64"), TypedKernel("reduction_last_block", ""),
                    TypedKernel("transpose_tiled", ""), TypedKernel("transpose_tma", "")),
    [](const auto& tested) {
      std::string name = tested.param.first + tested.param.second;
      std::erase_if(name, [](char c) { return c == ',' || c == '='; });
      return name;
    });

/// Whether an index is known to the compiler or not.
TEST(ConvolutionKernels, ReadTheFilterWhereItIsPassed) {
  const NvrtcCompiler compiler("sm_90");
  const family::Family family = family::load_family(TUNER_SOURCE_DIR "/spaces/convolution.json");
  const space::Size size = space::parse_size("1024,1024,9", family.problem.dims);
  for (const auto& [name, text] :
       {std::pair("convolution_tiled", R"({"FILTER":0,"UNROLL":0})"),
        std::pair("convolution_tiled", R"({"FILTER":0,"UNROLL":2})"),
        std::pair("convolution_tiled", R"({"FILTER":1})"), std::pair("convolution_naive", "{}"),
        std::pair("convolution_plain", "{}")}) {
    const family::Kernel& kernel = family.kernel(name);
    const space::Space space(kernel.space, space::device_profile("h200")->attributes, size);
    const auto binary = compiler.compile(
        family::compile_job(kernel, space, space::config_from_json(*kernel.space, text)));
    ASSERT_TRUE(binary) << name << " " << text << "\n" << binary.error().message;
    EXPECT_EQ(testing_support::stack_bytes(*binary), 0U)
        << name << " " << text << " copies it to local memory";
  }
}

class BackendKernelsTest : public testing::TestWithParam<const char*> {};

TEST_P(BackendKernelsTest, CompileForEveryArchitecture) {
  for (const char* const architecture : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    const NvrtcCompiler compiler(architecture);
    // NVRTC before 12.8 knows none of the last two.
    if (!compiler.why_not_for(architecture).empty()) {
      EXPECT_GT(std::string_view(architecture).size(), std::string_view("sm_90").size());
      continue;
    }
    const auto binary = compiler.compile(backend_kernel_job(GetParam()));
    ASSERT_TRUE(binary) << architecture << "\n" << binary.error().message;
    EXPECT_GT(binary->image.size(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Own, BackendKernelsTest,
                         testing::Values("hold_stream", "read_clocks", "measure_timer_step",
                                         "poison_shared_memory", "read_memory"));

TEST(CheckKernelsTest, CompileForEveryTypeOnAGpu) {
  std::vector<std::string> entries = {"prepare<>",         "convert<bf16, f32>",
                                      "convert<f32, f16>", "convert<tf32, f64>",
                                      "product<s32, s8>",  "product<s64, s64>"};
  for (const family::ElementType type : family::kElementTypes) {
    const auto add = [&](std::string_view kernel) {
      entries.push_back(fmt::format("{}<{}>", kernel, family::row(type).short_name));
    };
    for (const std::string_view kernel :
         {"fill_integers", "fill_whole", "fill_constant", "fill_sorted", "fill_offsets",
          "fill_permutation", "poison_padding", "absolute", "widen", "as_errors", "allow_spread",
          "allow_tolerance", "pick", "count_fractions", "count_dependent"}) {
      add(kernel);
    }
    if (!family::is_floating(type)) continue;
    for (const std::string_view kernel :
         {"fill_normal", "fill_positive", "fill_uniform", "perturb"}) {
      add(kernel);
    }
  }
  std::vector<int> all;
  for (const family::ElementType type : family::kElementTypes)
    all.push_back(static_cast<int>(type));
  entries.push_back(fmt::format("inspect<{}>", fmt::join(all, ", ")));
  const auto binary = NvrtcCompiler("sm_90").compile(verify::check_kernels_job(entries));
  ASSERT_TRUE(binary) << binary.error().message;
}

TEST(CheckKernelsTest, AProgramContainsOnlyTheKernelsThatItNames) {
  const auto binary =
      NvrtcCompiler("sm_90").compile(verify::check_kernels_job({"fill_constant<f32>"}));
  ASSERT_TRUE(binary) << binary.error().message;
  const std::string image(reinterpret_cast<const char*>(binary->image.data()),
                          binary->image.size());
  EXPECT_THAT(image, ::testing::HasSubstr("fill_constant"));
  EXPECT_THAT(image, ::testing::Not(::testing::HasSubstr("prepare")));
  EXPECT_THAT(image, ::testing::Not(::testing::HasSubstr("inspect")));
}

/// The kernels whose ranking is known beforehand, of benchmarks/measurement, and what they include
/// in a folder of their own, as the benchmarks put them.
TEST(PlantedKernelsTest, Compile) {
  const TemporaryDirectory folder;
  const std::filesystem::path source = TUNER_SOURCE_DIR;
  for (const char* const file :
       {"benchmarks/measurement/planted.json", "benchmarks/measurement/gemm_planted.cu",
        "kernels/gemm/gemm_shared.cu"}) {
    std::filesystem::copy(source / file, folder.path());
  }
  std::filesystem::copy(source / "kernels/common", folder.path() / "common");
  const space::DeviceInfo device = *space::device_profile("h200");
  const NvrtcCompiler compiler(device.architecture);
  const family::Family family = family::load_family((folder.path() / "planted.json").string());
  for (const family::Kernel& kernel : family.kernels) {
    const space::Space space(kernel.space, device.attributes, family.sizes("default").front());
    const space::Config config = space::config_from_text(*kernel.space, "ALIAS=8");
    const auto binary = compiler.compile(family::compile_job(kernel, space, config));
    EXPECT_TRUE(binary) << kernel.name << "\n" << binary.error().message;
  }
}

}  // namespace
}  // namespace tuner::backend
