// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/family.hpp"

#include "sample.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/space/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner::family {
namespace {

using sample::altered;
using sample::kDocument;
using sample::usage_error;
using testing::ElementsAre;
using testing::HasSubstr;

space::DeviceAttributes h200() {
  return space::device_profile("h200").value().attributes;
}

TEST(ParseFamily, ReadsEveryPart) {
  const Family family = sample::parse(kDocument);
  EXPECT_EQ(family.name, "axpy");
  EXPECT_EQ(family.path, "axpy.json");
  EXPECT_EQ(family.text, kDocument);
  EXPECT_THAT(family.problem.dims.names(), ElementsAre("N"));
  EXPECT_EQ(family.problem.flops.text(), "2*N");
  EXPECT_THAT(family.sizes("small"), ElementsAre(space::Size{1000}, space::Size{1}));

  ASSERT_EQ(family.arguments.size(), 4U);
  const auto& alpha = std::get<ScalarArgument>(family.arguments[1].what);
  EXPECT_EQ(alpha.type, ElementType::f32);
  EXPECT_EQ(alpha.value.evaluate({}).value(), 2);
  EXPECT_EQ(std::get<BufferArgument>(family.arguments[2].what).role, BufferRole::input);
  EXPECT_EQ(std::get<BufferArgument>(family.arguments[3].what).role, BufferRole::output);

  EXPECT_EQ(std::get<KernelReference>(family.check.reference).kernel, "plain");
  EXPECT_EQ(family.check.accumulates.evaluate({}).value(), 1) << "one term where none is said";
  ASSERT_EQ(family.check.sizes.size(), 2U);
  EXPECT_EQ(size_at(family.check.sizes[1], family.problem.dims, {1000}, {}), space::Size{31});
  ASSERT_EQ(family.check.cases.size(), 1U);
  EXPECT_EQ(scalar_value(family.check.cases[0].set.at("alpha"), "alpha", {}), Scalar(3.0F));
  EXPECT_THAT(family.check.cases[0].reads, ElementsAre("y"));
}

TEST(ParseFamily, ReadsEveryPartOfAKernel) {
  const Family family = sample::parse(kDocument);
  const Kernel& kernel = family.kernel("plain");
  EXPECT_EQ(kernel.doc, "a grid-stride loop");
  EXPECT_EQ(kernel.source.text, "// a kernel");
  ASSERT_EQ(kernel.steps.size(), 1U);
  const KernelStep& step = kernel.steps.front();
  EXPECT_EQ(step.entry, "plain<${BLOCK},${SPAN}>");
  EXPECT_THAT(kernel.options, ElementsAre("-DCHECKED", "-std=c++17"));
  EXPECT_THAT(kernel.backends, ElementsAre("cuda"));
  EXPECT_TRUE(kernel.competes_on("cuda"));
  EXPECT_FALSE(kernel.competes_on("cpu"));
  EXPECT_EQ(kernel.space->parameters.size(), 3U);
  EXPECT_EQ(step.grid.size(), 1U);
  EXPECT_EQ(step.block.size(), 1U);
  EXPECT_EQ(step.dynamic_shared_bytes.text(), "4*SPAN");
  EXPECT_EQ(kernel.check_sizes.size(), 1U);
}

TEST(ParseFamily, TakesADimensionIntoTheEntry) {
  const Family family = sample::parse(altered(kDocument, "<${BLOCK},${SPAN}>", "<${BLOCK},${N}>"));
  const Kernel& kernel = family.kernel("plain");
  const space::Space space(kernel.space, h200(), space::Size{1000});
  EXPECT_EQ(compile_job(kernel, space, space.default_config()).entries.front(), "plain<64,1000>");
}

TEST(Family, SuggestsANameNearTheOneAskedFor) {
  const Family family = sample::parse(kDocument);
  EXPECT_EQ(usage_error([&] { return family.kernel("plian"); }),
            "axpy.json: no kernel is named \"plian\" (did you mean 'plain'?)");
  EXPECT_EQ(
      usage_error([&] { return family.sizes("large"); }),
      "axpy.json: no list of sizes is named \"large\" (known: small); give a size with --size, or "
      "add \"sizes\": {\"large\": […]} to \"problem\"");
}

TEST(Family, ShowsAForeignNameWithoutItsControlCharacters) {
  const Family family = sample::parse(kDocument);
  EXPECT_THAT(usage_error([&] { return family.kernel("\x1b[31m\"<script>"); }),
              HasSubstr(R"("\u001b[31m\"<script>")"));
}

std::string hash(std::string_view document) {
  return sample::parse(document).kernel("plain").hash;
}

TEST(KernelHash, ChangesWithWhatAResultDependsOn) {
  const std::string original = hash(kDocument);
  EXPECT_NE(hash(altered(kDocument, "plain<${BLOCK},", "other<${BLOCK},")), original);
  EXPECT_NE(hash(altered(kDocument, "-DCHECKED", "-DUNCHECKED")), original);
  EXPECT_NE(hash(altered(kDocument, R"("name": "x")", R"("name": "z")")), original);
  EXPECT_NE(hash(altered(kDocument, R"("block": ["BLOCK"])", R"("block": ["BLOCK*1"])")), original);
  EXPECT_NE(hash(altered(kDocument, "BLOCK*UNROLL", "UNROLL*BLOCK")), original) << "SPAN is used";

  auto sources = sample::sources();
  sources.at("plain").text += "\n;";
  EXPECT_NE(parse_family(kDocument, "axpy.json", sources).kernel("plain").hash, original);
  sources = sample::sources();
  sources.at("plain").headers.push_back({"a.cuh", ""});
  EXPECT_NE(parse_family(kDocument, "axpy.json", sources).kernel("plain").hash, original);
}

/// Every buffer with this said of its alignment.
std::string aligned(const std::string& what) {
  std::string text = altered(kDocument, R"("count": "N"})", R"("count": "N", )" + what + "}");
  return altered(text, R"("count": "N", "role")", R"("count": "N", )" + what + R"(, "role")");
}

/// Databases hold results under this hash.
TEST(KernelHash, OfAnUnchangedFileStaysFromVersionToVersion) {
  EXPECT_EQ(hash(aligned(R"("align": 16)")),
            "a65ad8dfdfbcd26deb3463045c2cb2c89bd90fd4bd3363e17a21033ab1137125");
}

class KernelHashOfHeaders : public testing::Test {
 protected:
  std::string hash_with(std::string_view includes, std::vector<source::Header> headers) {
    auto sources = sample::sources();
    sources.at("plain") = {
        .name = "plain.cu", .text = std::string(includes) + body_, .headers = std::move(headers)};
    return parse_family(kDocument, "axpy.json", sources).kernel("plain").hash;
  }

  const std::string body_ = sample::sources().at("plain").text;
  const source::Header a_ = {"a.cuh", "int a;"}, b_ = {"b.cuh", "int b;"};
  const std::string_view includes_ = "#include \"a.cuh\"\n#include \"b.cuh\"\n";
  const std::string original_ = hash_with(includes_, {a_, b_});
};

TEST_F(KernelHashOfHeaders, KnowsTheOrderOfTheSourceAlone) {
  EXPECT_EQ(hash_with(includes_, {b_, a_}), original_);
  EXPECT_NE(hash_with("#include \"b.cuh\"\n#include \"a.cuh\"\n", {a_, b_}), original_)
      << "a header may be read differently after another";
}

TEST_F(KernelHashOfHeaders, ChangesWithTheirCode) {
  EXPECT_NE(hash_with(includes_, {a_, {"b.cuh", "long b;"}}), original_);
  const source::Header other = {"a.cuh", "char a;"};
  EXPECT_NE(hash_with(includes_, {a_, other}), hash_with(includes_, {other, a_})) << "one is taken";
}

TEST_F(KernelHashOfHeaders, ChangesWithTheBlanksOfAllWhereOneMakesText) {
  const source::Header text = {"b.cuh", "#define TEXT(x) #x\n"};
  const std::string with_text = hash_with(includes_, {a_, text});
  EXPECT_EQ(hash_with(includes_, {{"a.cuh", "int  a;  // why"}, text}), with_text);
  EXPECT_EQ(hash_with("// a comment\n" + std::string(includes_), {a_, text}), with_text);
  EXPECT_NE(hash_with(includes_, {{"a.cuh", "int a ;"}, text}), with_text);
  EXPECT_NE(with_text, original_);
}

TEST_F(KernelHashOfHeaders, ChangesWithTheTextOfAllWhereOneDependsOnIt) {
  const source::Header text = {"b.cuh", "int line = __LINE__;\n"};
  const std::string with_text = hash_with(includes_, {a_, text});
  EXPECT_NE(hash_with(includes_, {{"a.cuh", "int  a;"}, text}), with_text);
  EXPECT_NE(hash_with("// a comment\n" + std::string(includes_), {a_, text}), with_text);
}

TEST_F(KernelHashOfHeaders, ChangesWithTheTextWhereOptionsOrValuesAskForALine) {
  const auto hash_of = [&](const std::string& document, const std::string& source) {
    auto sources = sample::sources();
    sources.at("plain").text = source + body_;
    return parse_family(document, "axpy.json", sources).kernel("plain").hash;
  };
  const std::string option = altered(kDocument, "-DCHECKED", "-DCHECKED=__LINE__");
  EXPECT_NE(hash_of(option, "\n"), hash_of(option, ""));
  const std::string value = altered(kDocument, R"("values": [1, 2], "default": 2)",
                                    R"("values": ["__LINE__"], "default": "__LINE__")");
  const std::string unused = altered(value, "BLOCK*UNROLL", "BLOCK");
  EXPECT_NE(hash_of(unused, "\n"), hash_of(unused, ""));
}

TEST(KernelHash, ChangesWithWhatIsDefined) {
  EXPECT_NE(hash(altered(kDocument, R"("kind": "define")", R"("kind": "launch")")),
            hash(kDocument));
}

TEST(KernelHash, ChangesWithWhatAnExpressionIsDividedBy) {
  const auto divided = [](const std::string& by) {
    return hash(altered(kDocument, "ceil_div(N, SPAN*WAVES)", "N//" + by));
  };
  EXPECT_NE(divided("1"), divided("1000000"));
  EXPECT_EQ(divided("1"), divided(" 1"));
}

TEST(KernelHash, ChangesWithWhatTypesAreAndWhoHasThem) {
  const auto with_types = [](const std::string& types, const std::string& of_x) {
    std::string text =
        altered(kDocument, R"("dims": ["N"])",
                R"("dims": ["N", {"name": "TYPE", "types": )" + types + R"(, "default": "f32"}])");
    return hash(altered(text, R"("name": "x", "type": "float*")",
                        R"("name": "x", "type": ")" + of_x + "\""));
  };
  const std::string types = R"({"f32": {"A": "float"}, "f64": {"A": "double"}})";
  const std::string original = with_types(types, "${A}*");
  EXPECT_NE(with_types(types, "float*"), original);
  EXPECT_NE(with_types(R"({"f32": {"A": "float"}, "f64": {"A": "s64"}})", "${A}*"), original);
}

TEST(KernelHash, ChangesWithWhatIsClaimedOfBuffers) {
  EXPECT_NE(hash(kDocument), hash(aligned(R"("align": 16)")));
  EXPECT_NE(hash(kDocument), hash(aligned(R"("align": 8)")));
  EXPECT_NE(hash(aligned(R"("align": 16)")), hash(aligned(R"("align": 8)")));
  EXPECT_NE(hash(aligned(R"("offset": "4*N")")), hash(aligned(R"("offset": "4*N", "align": 16)")));
}

TEST(KernelHash, StaysWhereOnlyWordsOrConstraintsChange) {
  const std::string original = hash(kDocument);
  auto sources = sample::sources();
  sources.at("plain").text += "  // a comment";
  EXPECT_EQ(parse_family(kDocument, "axpy.json", sources).kernel("plain").hash, original);
  EXPECT_EQ(hash(altered(kDocument, "BLOCK*UNROLL", "BLOCK * UNROLL")), original);
  EXPECT_EQ(hash(altered(kDocument, "a grid-stride loop", "another description")), original);
  EXPECT_EQ(hash(altered(kDocument, "SPAN <= 128", "SPAN <= 256")), original);
  EXPECT_EQ(hash(altered(kDocument, "BLOCK + 1", "BLOCK + 2")), original) << "SPARE is not used";
  EXPECT_EQ(hash(altered(kDocument, "[32, 64, 128]", "[64, 128]")), original);
}

TEST(CheckDefault, NamesTheConstraintThatTheDefaultBreaks) {
  const Family valid = sample::parse(kDocument);
  EXPECT_NO_THROW(check_default(valid.kernel("plain"), h200(), {1000}));

  const Family invalid = sample::parse(altered(kDocument, "SPAN <= 128", "SPAN < 128"));
  const std::string message =
      usage_error([&] { return check_default(invalid.kernel("plain"), h200(), {1000}), 0; });
  EXPECT_THAT(message, HasSubstr("kernel plain: the default configuration is not valid"));
  EXPECT_THAT(message, HasSubstr("SPAN < 128"));
  EXPECT_THAT(message, HasSubstr("a short span"));
}

const space::Dimensions kDims = {"M", "N", "K"};

TEST(ParseSize, AcceptsCommasAndCrosses) {
  EXPECT_EQ(space::parse_size("4096,1,77", kDims), (space::Size{4096, 1, 77}));
  EXPECT_EQ(space::parse_size("4096x1x77", kDims), (space::Size{4096, 1, 77}));
  EXPECT_EQ(space::parse_size("2147483647", space::Dimensions{"N"}), space::Size{2147483647});
  EXPECT_EQ(space::display(space::Size{4096, 1, 77}, kDims), "4096x1x77");
}

TEST(ParseSize, SaysWhatIsWrong) {
  const auto error = [](std::string_view text) {
    return usage_error([&] { return space::parse_size(text, kDims); });
  };
  EXPECT_EQ(error("64,64"), "size \"64,64\": 2 numbers where 3 are needed: M,N,K");
  EXPECT_EQ(error("64"), "size \"64\": 1 number where 3 are needed: M,N,K");
  EXPECT_EQ(error("0,64,64"), "size \"0,64,64\": M = 0 is not in 1 … 2147483647");
  EXPECT_EQ(error("64,-1,64"), "size \"64,-1,64\": N = -1 is not in 1 … 2147483647");
  EXPECT_THAT(error("1099511627776,1,1"), HasSubstr("M = 1099511627776 is not in 1"));
  EXPECT_THAT(error("99999999999999999999,1,1"), HasSubstr("is too large"));
  EXPECT_EQ(error("64,,64"), "size \"64,,64\": a number is missing");
  EXPECT_EQ(error("64,64,"), "size \"64,64,\": a number is missing");
  EXPECT_EQ(error("4k,64,64"), "size \"4k,64,64\": \"4k\" is not a whole number");
  EXPECT_EQ(error("64, 64,64"), "size \"64, 64,64\": \" 64\" is not a whole number");
  EXPECT_EQ(error(""), "size \"\": a number is missing");
}

TEST(ParseFamily, ReadsOffsetsAndScratch) {
  const std::string text = altered(
      altered(kDocument, R"("count": "N"})", R"("count": "N", "offset": "N % 4"})"),
      R"("launch": {)",
      R"("scratch": [{"name": "parts", "type": "double*", "count": "SPAN*N"}], "launch": {)");
  const Family family = sample::parse(text);
  EXPECT_EQ(std::get<BufferArgument>(family.arguments[2].what).offset.text(), "N % 4");
  EXPECT_EQ(std::get<BufferArgument>(family.arguments[3].what).offset.text(), "0");
  ASSERT_EQ(family.kernel("plain").scratch.size(), 1U);
  const ScratchBuffer& scratch = family.kernel("plain").scratch.front();
  EXPECT_EQ(scratch.name, "parts");
  EXPECT_EQ(scratch.type, ElementType::f64);
  EXPECT_EQ(scratch.count.text(), "SPAN*N");
}

TEST(Alignment, IsWhatTheFileSaysElseWhatTheOffsetHasElseAnElement) {
  const auto bytes = [](const std::string& what, std::int64_t n = 1024) {
    const Family family = sample::parse(altered(kDocument, R"("count": "N"})", what));
    const auto& buffer = std::get<BufferArgument>(family.arguments[2].what);
    space::ExpressionValues values(space::attribute_fields().size(), 0);
    values.push_back(n);
    return alignment_bytes(buffer, "x", values);
  };
  EXPECT_EQ(bytes(R"("count": "N"})"), 4U);
  EXPECT_EQ(bytes(R"("count": "N", "align": 32})"), 32U);
  EXPECT_EQ(bytes(R"("count": "N", "align": "N % 2 == 0 ? 16 : 4"})", 31), 4U);
  EXPECT_EQ(bytes(R"("count": "N", "align": 8, "offset": 2})"), 8U);
  const std::string offset = R"("count": "N", "offset": "N % 8"})";
  EXPECT_EQ(bytes(offset, 1024), 16U);
  EXPECT_EQ(bytes(offset, 1028), 16U);
  EXPECT_EQ(bytes(offset, 1030), 8U);
  EXPECT_EQ(bytes(offset, 1001), 4U);
}

TEST(ParseFamily, ReadsArraysByValue) {
  const auto text = [](const std::string& type, const std::string& count = "7") {
    return altered(kDocument, R"("type": "float*", "count": "N"})",
                   R"("type": ")" + type + R"(", "count": ")" + count + "\"}");
  };
  for (const ElementType type : kElementTypes) {
    const Family family = sample::parse(text(std::string(name(type)) + "[]"));
    const auto& array = std::get<ArrayArgument>(family.arguments[2].what);
    EXPECT_EQ(array.type, type);
    EXPECT_EQ(array.count.text(), "7");
    EXPECT_EQ(array_bytes(array, "x", {}), bytes_of(type, 7));
  }
  EXPECT_NE(hash(text("float[]")), hash(text("float*")));
  EXPECT_NE(hash(text("float[]")), hash(text("int[]")));
  EXPECT_NE(hash(text("float[]")), hash(text("float[]", "8")));
}

TEST(ParseFamily, ReadsTensorMaps) {
  const auto text = [](std::string_view box, const std::string& offset = "N") {
    return altered(kDocument, R"("launch": {)",
                   R"("tensor_maps": [{"name": "t", "buffer": "y", "offset": ")" + offset +
                       R"(", "extents": ["N", 2], "strides": ["N"], "box": [")" + std::string(box) +
                       R"(", 1], "swizzle": "4*BLOCK"}], "launch": {)");
  };
  const Family family = sample::parse(text("BLOCK"));
  ASSERT_EQ(family.kernel("plain").tensor_maps.size(), 1U);
  const TensorMap& map = family.kernel("plain").tensor_maps.front();
  EXPECT_EQ(map.argument, 3U);
  EXPECT_EQ(map.type, ElementType::f32);
  EXPECT_EQ(map.offset.text(), "N");
  EXPECT_EQ(map.extents[1].text(), "2");
  EXPECT_EQ(map.strides[0].text(), "N");
  EXPECT_EQ(map.box[0].text(), "BLOCK");
  EXPECT_EQ(map.swizzle_bytes.text(), "4*BLOCK");
  EXPECT_NE(hash(text("BLOCK")), hash(kDocument));
  EXPECT_NE(hash(text("BLOCK")), hash(text("2*BLOCK")));
  EXPECT_NE(hash(text("BLOCK")), hash(text("BLOCK", "2*N")));
}

TEST(ParseFamily, ReadsTensorMapsOfScratchBuffers) {
  const auto text = [](const std::string& buffer) {
    return altered(kDocument, R"("launch": {)",
                   R"("scratch": [{"name": "r", "type": "float*", "count": 8},
                                  {"name": "s", "type": "int*", "count": 64}],
                      "tensor_maps": [{"name": "t", "buffer": ")" +
                       buffer + R"(", "extents": [64], "strides": [], "box": [32]}], "launch": {)");
  };
  const Family family = sample::parse(text("s"));
  const TensorMap& map = family.kernel("plain").tensor_maps.front();
  EXPECT_EQ(map.argument, family.arguments.size() + 1);
  EXPECT_EQ(map.type, ElementType::s32);
  EXPECT_NE(hash(text("s")), hash(text("r")));
}

TEST(ParseFamily, ReadsWhatToTryFirst) {
  const auto text = [](std::string_view configs) {
    return altered(kDocument, R"("launch": {)",
                   "\"try_first\": " + std::string(configs) + R"(, "launch": {)");
  };
  const Family family = sample::parse(text(R"([{"BLOCK": 128}, {"UNROLL": 1, "WAVES": 4}])"));
  const Kernel& kernel = family.kernel("plain");
  ASSERT_EQ(kernel.try_first.size(), 2U);
  EXPECT_EQ(space::display(*kernel.space, kernel.try_first[0]), "BLOCK=128 UNROLL=2 WAVES=1");
  EXPECT_EQ(space::display(*kernel.space, kernel.try_first[1]), "BLOCK=64 UNROLL=1 WAVES=4");
  EXPECT_EQ(kernel.hash, sample::parse(kDocument).kernel("plain").hash)
      << "what is tried first changes no result";
  EXPECT_THAT(usage_error([&] { static_cast<void>(sample::parse(text(R"([{"BLOCKS": 64}])"))); }),
              HasSubstr("kernels.plain.try_first[0]: "));
}

TEST(KernelHash, ChangesWithOffsetsAndScratch) {
  const auto scratch = [](std::string_view count) {
    return altered(kDocument, R"("launch": {)",
                   R"("scratch": [{"name": "s", "type": "int*", "count": ")" + std::string(count) +
                       R"("}], "launch": {)");
  };
  EXPECT_NE(hash(altered(kDocument, R"("count": "N"})", R"("count": "N", "offset": 1})")),
            hash(kDocument));
  EXPECT_NE(hash(scratch("N")), hash(kDocument));
  EXPECT_NE(hash(scratch("N")), hash(scratch("2*N")));
  EXPECT_NE(hash(altered(scratch("SPARE"), "BLOCK + 1", "BLOCK + 2")), hash(scratch("SPARE")))
      << "SPARE is used now";
}

}  // namespace
}  // namespace tuner::family
