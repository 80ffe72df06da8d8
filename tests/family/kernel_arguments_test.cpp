// SPDX-License-Identifier: Apache-2.0
// What one kernel may have of its own: its parameters, macros and compiler options.
#include "sample.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/space/device.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tuner::family {
namespace {

using sample::altered;
using sample::kDocument;
using sample::usage_error;
using testing::ElementsAre;
using testing::HasSubstr;

/// The sample whose kernel has further keys.
std::string with(std::string_view keys) {
  return altered(kDocument, "\"launch\": {", std::string(keys) + ", \"launch\": {");
}

std::string option_parameter(std::string_view json) {
  return altered(
      kDocument, "\"WAVES\": {\"values\": [1, 2, 4], \"default\": 1, \"kind\": \"launch\"}",
      "\"WAVES\": {\"values\": [1, 2, 4], \"default\": 1, \"kind\": \"launch\"}, \"O\": " +
          std::string(json));
}

class Owner {
 public:
  explicit Owner(std::string_view document)
      : family_(sample::parse(document)),
        space_(kernel().space, space::device_profile("h200").value().attributes,
               space::Size{1000}) {}

  [[nodiscard]] const Kernel& kernel() const { return family_.kernel("plain"); }
  [[nodiscard]] space::ExpressionValues expression_values(std::string_view config,
                                                          const space::Size& size = {1000}) const {
    return values_at_size(kernel(), space_, space::config_from_text(*kernel().space, config), size);
  }
  [[nodiscard]] std::vector<TakenArgument> taken(std::string_view config = "") const {
    return taken_arguments(kernel(), 0, family_.arguments.size(), expression_values(config));
  }
  [[nodiscard]] std::optional<std::string> why_no_launch(const space::Size& size) const {
    return family::why_no_launch(family_.arguments, kernel(), expression_values("", size));
  }
  [[nodiscard]] CompileJob job(std::string_view config = "",
                               const space::Size& size = {1000}) const {
    return compile_job(kernel(), expression_values(config, size),
                       space::config_from_text(*kernel().space, config));
  }

 private:
  Family family_;
  space::Space space_;
};

using Place = std::size_t;

TEST(KernelArguments, AreTheFamilysScratchAndMapsUnlessTheKernelNamesIts) {
  EXPECT_THAT(Owner(kDocument).taken(), ElementsAre(Place{0}, Place{1}, Place{2}, Place{3}));
}

TEST(KernelArguments, StandInTheOrderOfTheListWithNumbersOfTheConfiguration) {
  const Owner owner(
      with(R"("arguments": ["y", "x", {"name": "span", "type": "int", "value": "SPAN"},
    "tmp", {"name": "eps", "type": "float", "value": 0.25}, {"name": "two", "type": "double", "value": 2}],
    "scratch": [{"name": "more", "type": "int*", "count": 1}, {"name": "tmp", "type": "float*", "count": "N"}])"));
  EXPECT_THAT(owner.taken("BLOCK=32,UNROLL=1"),
              ElementsAre(Place{3}, Place{2}, Scalar(std::int32_t{32}), Place{5}, Scalar(0.25F),
                          Scalar(2.0), Place{4}));
  EXPECT_EQ(std::get<Scalar>(owner.taken("BLOCK=64,UNROLL=2")[2]), Scalar(std::int32_t{128}));
}

TEST(KernelArguments, AConfigurationHasNoLaunchWhereCudaHasNoneOfItsArguments) {
  const auto why = [](std::string_view document, const space::Size& size) {
    return Owner(document).why_no_launch(size);
  };
  using testing::Optional;
  constexpr std::int64_t kFar = std::int64_t{1} << 31;
  EXPECT_EQ(why(kDocument, {1000}), std::nullopt);
  EXPECT_THAT(why(kDocument, {kFar}), Optional(HasSubstr("argument 'N' = N: 2147483648")));
  EXPECT_EQ(why(with(R"("arguments": ["x", "y"])"), {kFar}), std::nullopt) << "N is not taken";
  EXPECT_THAT(why(with(R"("arguments": ["x", "y", {"name": "s", "type": "short", "value": "N"}])"),
                  {40'000}),
              Optional(HasSubstr("argument 's' = N: 40000")));
  EXPECT_THAT(why(with(R"("tensor_maps": [{"name": "t", "buffer": "x", "extents": ["N"],
                          "strides": [], "box": ["N // 10"]}])"),
                  {4000}),
              Optional(HasSubstr("box[0] = N // 10 is 400")));
  const std::string array =
      altered(kDocument, R"("x", "type": "float*")", R"("x", "type": "float[]")");
  EXPECT_EQ(why(array, {1000}), std::nullopt);
  EXPECT_THAT(why(array, {1025}), Optional(HasSubstr("'x': its count \"N\" is 1025")));
}

TEST(KernelArguments, MistakesAreNamed) {
  const auto error = [](std::string_view list) {
    return usage_error([&] { return sample::parse(with("\"arguments\": " + std::string(list))); });
  };
  EXPECT_THAT(error(R"(["z"])"), HasSubstr("kernels.plain.arguments[0]: unknown argument \"z\""));
  EXPECT_THAT(error(R"([{"name": "x", "type": "int", "value": 1}])"), HasSubstr("another name"));
  EXPECT_THAT(error(R"([{"name": "a", "type": "int", "value": 0.5}])"),
              HasSubstr("has a fraction"));
  EXPECT_THAT(error(R"([{"name": "a", "type": "float*", "value": 1}])"),
              HasSubstr("unknown type \"float*\""));
  const Owner overflowing(
      with(R"("arguments": [{"name": "a", "type": "int", "value": "N << 40"}])"));
  EXPECT_THAT(usage_error([&] { return overflowing.taken(); }), HasSubstr("int"));
}

TEST(ArraysWithASymbol, AreNoParametersAndMayFillConstantMemory) {
  const auto document = [](std::string_view count, std::string_view symbol) {
    return altered(kDocument, "{\"name\": \"x\",",
                   "{\"name\": \"w\", \"type\": \"float[]\", \"count\": " + std::string(count) +
                       ", \"symbol\": \"" + std::string(symbol) + "\"}, {\"name\": \"x\",");
  };
  const Owner owner(document("16384", "ns::weights"));
  EXPECT_THAT(owner.taken(), ElementsAre(Place{0}, Place{1}, Place{3}, Place{4}));
  ASSERT_EQ(owner.kernel().symbols.size(), 1U);
  EXPECT_EQ(owner.kernel().symbols[0].image_name, "_ZN2ns7weightsE");
  EXPECT_EQ(owner.kernel().symbols[0].argument, 2U);
  EXPECT_THAT(usage_error([&] { return sample::parse(document("16385", "weights")); }),
              HasSubstr("constant memory has 65536"));
  EXPECT_THAT(usage_error([&] { return sample::parse(document("1", "a.b")); }),
              HasSubstr("not the name of a variable"));
  const Owner by_value(altered(document("3", "weights"), "\"launch\": {",
                               "\"arguments\": [\"w\", \"y\"], \"launch\": {"));
  EXPECT_TRUE(by_value.kernel().symbols.empty());
}

TEST(Defines, AreMacrosWithTheValueOfTheSizeAndConfiguration) {
  const Owner owner(with(R"("defines": {"WIDTH": "N", "HALF": "SPAN // 2"})"));
  EXPECT_THAT(owner.job("BLOCK=32,UNROLL=1").options,
              ElementsAre("-DCHECKED", "-std=c++17", "-DUNROLL=1", "-DWIDTH=1000", "-DHALF=16"));
  EXPECT_NE(owner.job("", {1000}).key, owner.job("", {1001}).key) << "it is other code";
  EXPECT_THAT(usage_error([] { return sample::parse(with(R"("defines": {"A B": 1})")); }),
              HasSubstr("A B"));
}

TEST(OptionParameters, AddAnOptionOrLeaveItOut) {
  const Owner registers(option_parameter(
      R"({"values": [0, 64, 128], "default": 0, "kind": "option", "option": "--maxrregcount"})"));
  EXPECT_THAT(registers.job("O=64").options,
              ElementsAre("-DCHECKED", "-std=c++17", "-DUNROLL=2", "--maxrregcount=64"));
  EXPECT_THAT(registers.job("O=0").options, ElementsAre("-DCHECKED", "-std=c++17", "-DUNROLL=2"));
  EXPECT_NE(registers.job("O=0").key, registers.job("O=64").key);
  const Owner fast(option_parameter(
      R"({"values": [false, true], "default": false, "kind": "option", "option": "--use_fast_math"})"));
  EXPECT_EQ(fast.job("O=true").options.back(), "--use_fast_math");
  EXPECT_EQ(fast.job("O=false").options.back(), "-DUNROLL=2");
}

TEST(OptionParameters, MistakesAreNamed) {
  const auto error = [](std::string_view json) {
    return usage_error([&] { return sample::parse(option_parameter(json)); });
  };
  EXPECT_THAT(error(R"({"values": [1, 2], "default": 1, "kind": "option"})"),
              HasSubstr("'option' is missing"));
  EXPECT_THAT(error(R"({"values": [1, 2], "default": 1, "kind": "option", "option": "--gpu"})"),
              HasSubstr("'--gpu' is not one of"));
  EXPECT_THAT(error(R"({"values": [1, 2], "default": 1, "kind": "option", "option": "-lineinfo"})"),
              HasSubstr("true and false"));
  EXPECT_THAT(error(R"({"values": [true], "default": true, "kind": "option",
                       "option": "--maxrregcount"})"),
              HasSubstr("are numbers"));
  EXPECT_THAT(error(R"({"values": [1], "default": 1, "option": "-lineinfo"})"),
              HasSubstr("only for parameters of kind \"option\""));
}

TEST(Options, OfRegistersAndLinesAreAllowed) {
  const auto options = [](std::string_view option) {
    return sample::parse(altered(kDocument, "-DCHECKED", option)).kernel("plain").options.front();
  };
  for (const char* option :
       {"-lineinfo", "--maxrregcount=64", "--fmad=false", "--extra-device-vectorization"}) {
    EXPECT_EQ(options(option), option);
  }
  for (const char* option :
       {"--maxrregcount=", "--maxrregcount=6 4", "-G", "--maxrregcount=1000"}) {
    EXPECT_THAT(usage_error([&] { return options(option); }), HasSubstr("is not allowed"));
  }
}

TEST(KernelHash, DependsOnWhatAKernelHasOfItsOwn) {
  const auto hash = [](std::string_view document) {
    return sample::parse(document).kernel("plain").hash;
  };
  const std::string_view number =
      R"("arguments": ["x", {"name": "a", "type": "int", "value": "SPARE"}])";
  const std::string fast =
      R"({"values": [false, true], "default": false, "kind": "option", "option": "--use_fast_math"})";
  const std::vector<std::string> documents = {
      std::string(kDocument),
      with(R"("arguments": ["N", "alpha", "y", "x"])"),
      with(number),
      altered(with(number), "BLOCK + 1", "BLOCK + 2"),
      with(R"("defines": {"A": "N"})"),
      with(R"("defines": {"A": "N + 1"})"),
      option_parameter(fast),
      altered(option_parameter(fast), "--use_fast_math", "-lineinfo")};
  std::set<std::string> hashes;
  for (const std::string& document : documents) hashes.insert(hash(document));
  EXPECT_EQ(hashes.size(), documents.size());
}

}  // namespace
}  // namespace tuner::family
