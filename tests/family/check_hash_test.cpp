// SPDX-License-Identifier: Apache-2.0
// What makes a run judge anew, and what does not.
#include "sample.hpp"
#include "tuner/core/file.hpp"
#include "tuner/family/family.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tuner::family {
namespace {

using sample::altered;
using sample::kDocument;

/// Of the first kernel, in a family whose document may have keys that the program does not know.
std::string hash_of(const std::string& text, const std::string& path = "axpy.json") {
  Family family = sample::parse(kDocument);
  family.text = text;
  family.path = path;
  return check_hash(family, family.kernels.front());
}

std::string with(std::string_view from, std::string_view to) {
  return hash_of(altered(kDocument, from, to));
}

std::string original() {
  return hash_of(std::string(kDocument));
}

TEST(CheckHash, ChangesWithAllThatDecidesAVerdict) {
  EXPECT_NE(with(R"({"kernel": "plain"})", R"({"kernel": "other"})"), original());
  EXPECT_NE(with(R"("sizes": [[1], [31]])", R"("sizes": [[1], [32]])"), original());
  EXPECT_NE(with(R"({"alpha": 3})", R"({"alpha": 4})"), original());
  EXPECT_NE(with(R"("reads": ["y"])", R"("reads": [])"), original());
  EXPECT_NE(with(R"("reference")", R"("accumulates": "N", "reference")"), original());
  EXPECT_NE(with(R"("reference")", R"("tolerance": {"ulp": 4}, "reference")"), original());
  EXPECT_NE(with(R"("reference")", R"("exact": true, "reference")"), original());
  EXPECT_NE(with(R"("count": "N"})", R"("count": "N", "fill": "uniform"})"), original());
  EXPECT_NE(with(R"("value": 2)", R"("value": 3)"), original());
  EXPECT_NE(with("SPAN + 1", "SPAN + 2"), original()) << "a check size of the kernel";
}

TEST(CheckHash, ChangesWithWhatATypeMeans) {
  const auto typed = [](const std::string& type) {
    const std::string dims = R"("dims": ["N", {"name": "TYPE", "default": "f32", "types": {
      "f32": {"A": "f32"}, "short": {"A": ")" +
                             type + R"("}}}])";
    const Family family = sample::parse(altered(kDocument, R"("dims": ["N"])", dims));
    return check_hash(family, family.kernels.front());
  };
  EXPECT_NE(typed("bf16"), typed("f16"));
  EXPECT_EQ(typed("bf16"), typed("__nv_bfloat16"));
}

TEST(CheckHash, ChangesWithTheReferenceKernelAndItsDefault) {
  Family family = sample::parse(kDocument);
  family.kernels.front().hash = "another source";
  EXPECT_NE(check_hash(family, family.kernels.front()), original());
  family = sample::parse(altered(kDocument, R"("default": 64)", R"("default": 32)"));
  EXPECT_NE(check_hash(family, family.kernels.front()), original());
}

TEST(CheckHash, KeepsWithTextsForPeopleOrderAndTheRestOfTheFile) {
  EXPECT_EQ(with("alpha is used", "another reason"), original());
  EXPECT_EQ(with("y = 2x + y", "another sentence"), original());
  EXPECT_EQ(with(R"("set": {"alpha": 3}, "reads": ["y"])", R"("reads": ["y"], "set": {"alpha":3})"),
            original());
  EXPECT_EQ(with("[32, 64, 128]", "[64, 128]"), original());
  EXPECT_EQ(with("SPAN <= 128", "SPAN <= 256"), original());
  EXPECT_EQ(with("[[1000], [1]]", "[[1000], [2]]"), original());
  EXPECT_EQ(with("{\n", "{ // a comment\n"), original());
}

TEST(CheckHash, AnArgumentMayBeCalledWhy) {
  const auto case_with = [](std::string_view value) {
    return with(R"({"alpha": 3})", R"({"why": )" + std::string(value) + "}");
  };
  EXPECT_NE(case_with("3"), case_with("4"));
}

TEST(CheckHash, ChangesWithTheContentOfTheFilesItNames) {
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "axpy.json").string();
  for (const std::string& text :
       {altered(kDocument, R"("count": "N"})", R"("count": "N", "fill": {"npy": "x.npy"}})"),
        altered(kDocument, R"({"kernel": "plain"})", R"({"npy": {"y": "x.npy"}, "size": [8]})")}) {
    write_file(folder.path() / "x.npy", "content");
    const std::string before = hash_of(text, path);
    EXPECT_EQ(hash_of(text, path), before);
    write_file(folder.path() / "x.npy", "corrected content");
    EXPECT_NE(hash_of(text, path), before);
  }
}

}  // namespace
}  // namespace tuner::family
