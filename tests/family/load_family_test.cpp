// SPDX-License-Identifier: Apache-2.0
#include "../support/hostile_sources.hpp"
#include "sample.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/family/family.hpp"
#include "tuner/source/include.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::family {
namespace {

using sample::altered;
using sample::kDocument;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;

/// A folder with spaces/axpy.json and kernels/plain.cu.
class LoadFamily : public testing::Test {
 protected:
  void SetUp() override {
    write("spaces/axpy.json", altered(kDocument, "plain.cu", "../kernels/plain.cu"));
    write("kernels/plain.cu", "// a kernel\n");
  }

  void write(const std::string& name, std::string_view text) {
    write_file(folder_.path() / name, text);
  }
  /// Gives the space file a list of include folders.
  void include_folders(const std::string& folders) {
    std::filesystem::remove(path("spaces/axpy.json"));
    const std::string document = altered(kDocument, "plain.cu", "../kernels/plain.cu");
    write("spaces/axpy.json",
          altered(document, "\"problem\"", "\"include\": [" + folders + "], \"problem\""));
    std::filesystem::create_directories(path("lib"));
  }
  [[nodiscard]] Family load() const { return load_family(folder_.path() / "spaces/axpy.json"); }
  [[nodiscard]] std::string error() const {
    return sample::usage_error([&] { return load(); });
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }

 private:
  TemporaryDirectory folder_;
};

TEST_F(LoadFamily, ReadsTheSourceRelativeToTheSpaceFile) {
  const Family family = load();
  EXPECT_EQ(family.path, path("spaces/axpy.json"));
  EXPECT_EQ(family.kernel("plain").source.name, "plain.cu");
  EXPECT_EQ(family.kernel("plain").source.text, "// a kernel\n");
}

TEST_F(LoadFamily, PassesOverAByteOrderMark) {
  write("kernels/plain.cu", "\xef\xbb\xbf#include \"a.cuh\"\n");
  write("kernels/a.cuh", "\xef\xbb\xbf// a header\n");
  const Family family = load();
  EXPECT_EQ(family.kernel("plain").source.text, "#include \"a.cuh\"\n");
  EXPECT_EQ(family.kernel("plain").source.headers.front().text, "// a header\n");
  write("kernels/plain.cu", std::string_view("\xff\xfe/\0/\0", 6));
  EXPECT_THAT(error(), AllOf(HasSubstr(path("kernels/plain.cu")), HasSubstr("UTF-8")));
}

TEST_F(LoadFamily, TakesOldTextsForLatin1) {
  write("kernels/plain.cu", "// \xa9 1999, \xc2\xa9 2020\n");
  EXPECT_EQ(load().kernel("plain").source.text, "// \xc2\xa9 1999, \xc2\xa9 2020\n");
}

TEST_F(LoadFamily, GivesWhatParseFamilyGivesFromTheSameTexts) {
  const Family loaded = load();
  const Family parsed = parse_family(loaded.text, "db", {{"plain", loaded.kernel("plain").source}});
  EXPECT_EQ(parsed.kernel("plain").hash, loaded.kernel("plain").hash);
}

TEST_F(LoadFamily, CollectsLocalHeadersOnceAndRecursively) {
  write("kernels/plain.cu",
        "#include <cuda_fp16.h>\n#include \"a.cuh\"\n  #  include  \"sub/b.cuh\"  // b\n"
        "// #include \"not.cuh\"\n#include \"a.cuh\"\n");
  write("kernels/a.cuh", "#pragma once\n#include \"sub/b.cuh\"\n");
  write("kernels/sub/b.cuh", "#pragma once\n#include \"a.cuh\"");
  EXPECT_THAT(load().kernel("plain").source.headers,
              ElementsAre(Field(&source::Header::name, "a.cuh"),
                          Field(&source::Header::name, "sub/b.cuh")));
}

TEST_F(LoadFamily, FindsAHeaderBesideTheFileThatIncludesIt) {
  write("kernels/plain.cu", "#include \"sub/a.cuh\"\n");
  write("kernels/sub/a.cuh",
        "#include \"b.cuh\"  // mine\n#include \"./b.cuh\"\n"
        "#include \"c.cuh\"\n#include \"sub/d.cuh\"\n");
  write("kernels/b.cuh", "// another\n");
  write("kernels/sub/b.cuh", "// beside\n");
  write("kernels/c.cuh", "// in the source's folder\n");
  write("kernels/sub/d.cuh", "// from the source's folder\n");
  const std::vector<source::Header> headers = load().kernel("plain").source.headers;
  ASSERT_THAT(headers, ElementsAre(Field(&source::Header::name, "sub/a.cuh"),
                                   Field(&source::Header::name, "sub/b.cuh"),
                                   Field(&source::Header::name, "c.cuh"),
                                   Field(&source::Header::name, "sub/d.cuh")));
  EXPECT_EQ(headers[0].text,
            "#include \"sub/b.cuh\"  // mine\n#include \"sub/b.cuh\"\n"
            "#include \"c.cuh\"\n#include \"sub/d.cuh\"\n");
  EXPECT_EQ(headers[1].text, "// beside\n");
}

TEST_F(LoadFamily, ChangesTheHashWithAHeader) {
  write("kernels/plain.cu", "#include \"a.cuh\"\n");
  write("kernels/a.cuh", "#define A 1\n");
  const std::string before = load().kernel("plain").hash;
  write("kernels/a.cuh", "#define A 2\n");
  EXPECT_NE(load().kernel("plain").hash, before);
}

TEST_F(LoadFamily, RefusesIncludesThatLeaveTheFolder) {
  write("kernels/plain.cu", "\n#include \"../x\"\n");
  EXPECT_EQ(
      error(),
      path("kernels/plain.cu") +
          ":2: the include \"../x\" contains \"..\" and is in no folder of the kernel: a kernel "
          "may include only files in its own folder or below, and in folders that "
          "\"include\" of the space file lists");
  write("kernels/plain.cu", "#include \"/etc/passwd\"\n");
  EXPECT_THAT(error(), HasSubstr("plain.cu:1: the include \"/etc/passwd\" is an absolute path"));
  write("kernels/plain.cu", "#include \"a.cuh\"\n");
  write("kernels/a.cuh", "#include \"sub/../../x\"\n");
  EXPECT_THAT(error(), HasSubstr("a.cuh:1: the include \"sub/../../x\" contains \"..\""));
}

TEST_F(LoadFamily, RefusesAHeaderThatIsALinkOutOfTheFolder) {
  write("kernels/plain.cu", "#include \"a.cuh\"\n");
  write("elsewhere/secret", "password\n");
  std::filesystem::create_symlink("../elsewhere/secret", path("kernels/a.cuh"));
  EXPECT_THAT(error(), AllOf(HasSubstr("plain.cu:1: the header "), HasSubstr("is a link to "),
                             HasSubstr("elsewhere/secret")));
  std::filesystem::remove(path("kernels/a.cuh"));
  write("kernels/sub/b.cuh", "#define B\n");
  std::filesystem::create_symlink("sub/b.cuh", path("kernels/a.cuh"));
  EXPECT_EQ(load().kernel("plain").source.headers.front().text, "#define B\n");
}

TEST_F(LoadFamily, FindsAHeaderInAngleBracketsFromTheSourcesFolder) {
  write("kernels/plain.cu", "#include <sub/a.cuh>\n#include <cmath>\n#include <gone/b.cuh>\n");
  write("kernels/sub/a.cuh", "#include \"../b.cuh\"\n");
  write("kernels/b.cuh", "// b\n");
  write("kernels/cmath", "not this one\n");
  const source::KernelSource source = load().kernel("plain").source;
  EXPECT_EQ(source.text, "#include <sub/a.cuh>\n#include <cmath>\n#include <gone/b.cuh>\n");
  ASSERT_THAT(source.headers, ElementsAre(Field(&source::Header::name, "sub/a.cuh"),
                                          Field(&source::Header::name, "b.cuh")));
  EXPECT_EQ(source.headers[0].text, "#include <b.cuh>\n");
}

TEST_F(LoadFamily, LooksUpHeadersInTheFoldersOfInclude) {
  include_folders("\"../lib\", \"../kernels/..\"");
  write("kernels/plain.cu", "#include <app/a.h>\n#include \"../lib/b.h\"\n");
  write("lib/app/a.h", "#include \"c.h\"\n#include \"app/c.h\"\n#include \"math.h\"\n");
  write("lib/app/c.h", "// c\n");
  write("lib/b.h", "// b\n");
  write("lib/math.h", "// mine\n");
  const source::KernelSource source = load().kernel("plain").source;
  EXPECT_EQ(source.text, "#include <app/a.h>\n#include <b.h>\n");
  ASSERT_THAT(
      source.headers,
      ElementsAre(Field(&source::Header::name, "app/a.h"), Field(&source::Header::name, "app/c.h"),
                  Field(&source::Header::name, "2/math.h"), Field(&source::Header::name, "b.h")));
  EXPECT_EQ(source.headers[0].text,
            "#include <app/c.h>\n#include <app/c.h>\n#include <2/math.h>\n");
  const std::string before = load().kernel("plain").hash;
  write("lib/app/c.h", "// c\n#define C\n");
  EXPECT_NE(load().kernel("plain").hash, before);
}

TEST_F(LoadFamily, TellsFilesOfOneNameApart) {
  include_folders("\"../lib\"");
  write("kernels/plain.cu", "#include \"sub/a.h\"\n#include \"a.h\"\n");
  write("kernels/sub/a.h", "#include <a.h>\n");
  write("kernels/a.h", "// of the kernel\n");
  write("lib/a.h", "// of the library\n");
  const source::KernelSource source = load().kernel("plain").source;
  EXPECT_EQ(source.text, "#include \"sub/a.h\"\n#include \"2/a.h\"\n");
  ASSERT_THAT(source.headers, ElementsAre(Field(&source::Header::name, "sub/a.h"),
                                          Field(&source::Header::name, "a.h"),
                                          Field(&source::Header::name, "2/a.h")));
  EXPECT_EQ(source.headers[1].text, "// of the library\n");
}

TEST_F(LoadFamily, RefusesAFolderOfIncludeThatItMayNotRead) {
  include_folders("\"/usr/include\"");
  EXPECT_THAT(error(),
              EndsWith("axpy.json: the folder \"/usr/include\" of \"include\" must be a path "
                       "relative to the space file"));
  include_folders("\"gone\"");
  EXPECT_THAT(error(),
              HasSubstr("the folder \"gone\" of \"include\" is missing: there is no folder "));
  include_folders("\"../lib\"");
  write("lib/secret", "password\n");
  write("kernels/plain.cu", "#include \"secret\"\n");
  EXPECT_THAT(error(), AllOf(HasSubstr("plain.cu:1: the header "),
                             HasSubstr("is outside of the space file's folder and does not have")));
  std::filesystem::permissions(path("spaces/axpy.json"), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(error(),
              AllOf(HasSubstr("the folder \"../lib\" of \"include\" is outside of the space "
                              "file's folder, and other users may write to the file"),
                    HasSubstr("chmod go-w")));
  include_folders("\"lib\"");
  write("spaces/lib/secret", "// of the space file\n");
  EXPECT_EQ(load().kernel("plain").source.headers.front().text, "// of the space file\n");
}

TEST_F(LoadFamily, LeavesIncludesOfBranchesThatMayBeDead) {
  const std::string dead =
      "#if 0\n#include \"gone.h\"\n#endif\n#ifdef NEVER\n#include \"../x.h\"\n#include H\n"
      "#include \"a.h\"\n#endif\n";
  write("kernels/plain.cu", dead);
  write("kernels/a.h", "#include \"gone_too.h\"\n");
  EXPECT_EQ(load().kernel("plain").source.text,
            "#if 0\n#include \"gone.h\"\n#endif\n#ifdef NEVER\n"
            "#error refused: not a file of the kernel: \"../x.h\"\n"
            "#error refused: not a file of the kernel: H\n#include \"a.h\"\n#endif\n");
  write("kernels/plain.cu", "#ifndef K\n#define K\n#include \"gone.h\"\n#endif\n");
  EXPECT_THAT(error(), HasSubstr("plain.cu:3: the header \"gone.h\" is missing"));
}

TEST_F(LoadFamily, LeavesNothingInABranchThatReachesAFileOutside) {
  for (const std::string text : testing_support::kHostileSources) {
    write("kernels/plain.cu", "#if 1\n" + text + "#endif\n");
    try {
      const source::KernelSource source = load().kernel("plain").source;
      EXPECT_EQ(source::include_problem(source), std::nullopt) << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage) << text;
    }
  }
}

TEST_F(LoadFamily, FindsSharedHeadersBesideTheSourcesFolder) {
  write("spaces/axpy.json", altered(kDocument, "plain.cu", "../kernels/axpy/plain.cu"));
  write("kernels/axpy/plain.cu", "#include \"common/a.cuh\"\n");
  EXPECT_THAT(error(), HasSubstr("the header \"common/a.cuh\" is missing"));
  write("kernels/common/a.cuh", "#include \"common/b.cuh\"\n");
  write("kernels/common/b.cuh", "// shared\n");
  EXPECT_THAT(load().kernel("plain").source.headers,
              ElementsAre(Field(&source::Header::name, "common/a.cuh"),
                          Field(&source::Header::name, "common/b.cuh")));
  write("kernels/axpy/common/b.cuh", "// the kernel's own\n");
  EXPECT_EQ(load().kernel("plain").source.headers.back().text, "// the kernel's own\n");
}

TEST_F(LoadFamily, RefusesSharedFilesThatAreNoHeadersOrLinksElsewhere) {
  write("spaces/axpy.json", altered(kDocument, "plain.cu", "../kernels/axpy/plain.cu"));
  write("kernels/axpy/plain.cu", "#include \"common/secret\"\n");
  write("kernels/common/secret", "password\n");
  EXPECT_THAT(error(), HasSubstr("the header \"common/secret\" is missing"));
  write("kernels/axpy/plain.cu", "#include \"common/a.cuh\"\n");
  std::filesystem::create_symlink("../axpy/plain.cu", path("kernels/common/a.cuh"));
  EXPECT_THAT(error(), HasSubstr("is a link to "));
}

TEST_F(LoadFamily, NamesAMissingHeaderAndWhoIncludesIt) {
  write("kernels/plain.cu", "#include \"gone.cuh\"\n");
  EXPECT_THAT(error(),
              HasSubstr("plain.cu:1: the header \"gone.cuh\" is missing: there is no file "));
}

TEST_F(LoadFamily, LeavesAQuotedHeaderOfThePlatformToTheCompilerUnlessTheKernelHasItsOwn) {
  write("kernels/plain.cu", "#include \"cuda_runtime.h\"\n#include \"cub/cub.cuh\"\n");
  EXPECT_TRUE(load().kernel("plain").source.headers.empty());
  write("kernels/cuda_runtime.h", "// mine\n");
  EXPECT_THAT(load().kernel("plain").source.headers,
              ElementsAre(Field(&source::Header::name, "cuda_runtime.h")));
}

TEST_F(LoadFamily, LimitsTheNumberOfHeaders) {
  std::string source;
  for (int i = 0; i < 257; ++i) {
    const std::string name = "h" + std::to_string(i) + ".cuh";
    write("kernels/" + name, "");
    source += "#include \"" + name + "\"\n";
  }
  write("kernels/plain.cu", source);
  EXPECT_THAT(error(), EndsWith("plain.cu:257: more than 256 headers"));
}

TEST_F(LoadFamily, NamesAMissingSource) {
  write("spaces/axpy.json", altered(kDocument, "plain.cu", "gone.cu"));
  EXPECT_EQ(error(), path("spaces/axpy.json") +
                         ":20:17: kernels.plain.source: there is no file \"" +
                         path("spaces/gone.cu") + "\"");
  write("spaces/axpy.json", altered(kDocument, "plain.cu", "/etc/passwd"));
  EXPECT_THAT(error(), EndsWith("\"/etc/passwd\" must be a path relative to the space file"));
}

TEST_F(LoadFamily, RefusesAFileThatIsMissingOrTooLarge) {
  EXPECT_THAT(sample::usage_error([&] { return load_family(path("spaces/gone.json")); }),
              HasSubstr("gone.json: cannot be read"));
  write("spaces/axpy.json", std::string(2 * 1024 * 1024, ' '));
  EXPECT_EQ(error(), path("spaces/axpy.json") + ": larger than the limit of 1048576 bytes");
}

}  // namespace
}  // namespace tuner::family
