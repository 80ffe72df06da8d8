// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/binary_cache.hpp"

#include "tuner/backend/cache_entry.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tuner::backend {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Ne;

namespace fs = std::filesystem;

Binary kernel(std::string_view content, std::string symbol = "_Z5scalePf") {
  const auto bytes = std::as_bytes(std::span(content));
  return {.image = {bytes.begin(), bytes.end()}, .symbols = {std::move(symbol)}};
}

std::string key_of(int number) {
  return content_hash({std::to_string(number)});
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class BinaryCacheTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path directory() const { return folder_.path() / "cache"; }
  [[nodiscard]] fs::path entry(int number) const { return directory() / (key_of(number) + ".bin"); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory()), {}));
  }
  void used_hours_ago(int number, int hours) const {
    fs::last_write_time(entry(number),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }

 private:
  TemporaryDirectory folder_;
};

TEST_F(BinaryCacheTest, GivesBackWhatWasKeptInAnEarlierRun) {
  BinaryCache(directory())
      .keep(key_of(1), kernel(std::string("\x7f"
                                          "ELF\0 image",
                                          11)));
  const auto found = BinaryCache(directory()).find(key_of(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->image, kernel(std::string("\x7f"
                                             "ELF\0 image",
                                             11))
                              .image);
  EXPECT_EQ(found->symbols, std::vector<std::string>{"_Z5scalePf"});
  EXPECT_FALSE(BinaryCache(directory()).find(key_of(2)));
}

TEST_F(BinaryCacheTest, KeepsEverySymbolOfAnImage) {
  Binary several = kernel("image");
  several.symbols = {"first", "", "third"};
  BinaryCache(directory()).keep(key_of(1), several);
  EXPECT_EQ(BinaryCache(directory()).find(key_of(1))->symbols, several.symbols);
}

TEST_F(BinaryCacheTest, IsForTheUserAloneWhateverTheUmask) {
  for (const mode_t mask : {0U, 022U, 077U}) {
    const mode_t before = ::umask(mask);
    BinaryCache cache(directory());
    cache.keep(key_of(1), kernel("image"));
    ::umask(before);
    EXPECT_EQ(mode_of(directory()), 0700U) << mask;
    EXPECT_EQ(mode_of(entry(1)), 0600U) << mask;
    fs::remove_all(directory());
  }
}

TEST_F(BinaryCacheTest, TreatsEveryDamageAsAMissAndRemovesTheFile) {
  BinaryCache cache(directory());
  cache.keep(key_of(1), kernel("an image"));
  const std::string whole = read_file(entry(1), 1000);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    for (const std::string& damaged : {flipped, whole.substr(0, at)}) {
      std::ofstream(entry(1), std::ios::binary | std::ios::trunc) << damaged;
      ::chmod(entry(1).c_str(), 0600);
      EXPECT_FALSE(cache.find(key_of(1))) << "at byte " << at;
      EXPECT_FALSE(fs::exists(entry(1))) << "at byte " << at;
    }
  }
  std::ofstream(entry(1), std::ios::binary) << whole << "more";
  EXPECT_FALSE(cache.find(key_of(1)));
  cache.keep(key_of(1), kernel("an image"));
  EXPECT_TRUE(cache.find(key_of(1)));
}

TEST_F(BinaryCacheTest, GivesNoEntryUnderTheNameOfAnother) {
  BinaryCache cache(directory());
  cache.keep(key_of(1), kernel("image"));
  fs::rename(entry(1), entry(2));
  EXPECT_FALSE(cache.find(key_of(2)));
}

TEST_F(BinaryCacheTest, UsesNoFileThatOthersMayWriteNorALinkNorAPipe) {
  BinaryCache cache(directory());
  cache.keep(key_of(1), kernel("image"));
  ::chmod(entry(1).c_str(), 0602);
  EXPECT_FALSE(cache.find(key_of(1)));

  cache.keep(key_of(2), kernel("image"));
  fs::rename(entry(2), directory() / "elsewhere");
  fs::create_symlink("elsewhere", entry(2));
  EXPECT_FALSE(cache.find(key_of(2)));
  EXPECT_TRUE(fs::exists(directory() / "elsewhere"));

  ASSERT_EQ(::mkfifo(entry(3).c_str(), 0600), 0);
  EXPECT_FALSE(cache.find(key_of(3)));
}

TEST_F(BinaryCacheTest, UsesNoDirectoryThatOthersMayWriteAndSaysSo) {
  ASSERT_FALSE(make_private_directories(directory()));
  fs::permissions(directory(), fs::perms::all);
  BinaryCache cache(directory());
  EXPECT_THAT(cache.problem(), AllOf(HasSubstr(directory().string()),
                                     HasSubstr("other users may write"), HasSubstr("chmod go-w")));
  cache.keep(key_of(1), kernel("image"));
  EXPECT_EQ(files(), 0U);
  EXPECT_FALSE(cache.find(key_of(1)));
}

TEST_F(BinaryCacheTest, UsesNoDirectoryBehindALinkNorAFileInItsPlace) {
  ASSERT_FALSE(make_private_directories(directory().parent_path() / "target"));
  fs::create_symlink("target", directory());
  EXPECT_THAT(BinaryCache(directory()).problem(), HasSubstr(directory().string()));
  fs::remove(directory());
  write_file(directory(), "");
  EXPECT_THAT(BinaryCache(directory()).problem(), HasSubstr("XDG_CACHE_HOME"));
}

TEST_F(BinaryCacheTest, UsesNoDirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_FALSE(make_private_directories(directory()));
  ASSERT_EQ(::chown(directory().c_str(), 65534, 65534), 0);
  EXPECT_THAT(BinaryCache(directory()).problem(), HasSubstr("belongs to another user"));
}

TEST_F(BinaryCacheTest, RemovesWhatWasUnusedForLongestWhenItIsFull) {
  const std::string image(1000, 'x');
  BinaryCache cache(directory(), 4500);
  for (int i = 1; i <= 4; ++i) {
    cache.keep(key_of(i), kernel(image));
    used_hours_ago(i, 10 - i);
  }
  EXPECT_TRUE(cache.find(key_of(1)));  // now the one used last
  cache.keep(key_of(5), kernel(image));
  EXPECT_TRUE(cache.find(key_of(1)));
  EXPECT_FALSE(cache.find(key_of(2)));
  EXPECT_TRUE(cache.find(key_of(4)));
  EXPECT_TRUE(cache.find(key_of(5)));
}

TEST_F(BinaryCacheTest, CountsWhatEarlierRunsLeftIncludingHalfWrittenFiles) {
  BinaryCache(directory()).keep(key_of(1), kernel(std::string(2000, 'x')));
  used_hours_ago(1, 1);
  const fs::path left = directory() / "a.1.2.tmp";
  write_file(left, std::string(2000, 'x'));
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  BinaryCache(directory(), 5000).keep(key_of(2), kernel(std::string(2000, 'x')));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(entry(1)));
}

TEST_F(BinaryCacheTest, KeepsNothingLargerThanItsLimit) {
  BinaryCache cache(directory(), 1000);
  cache.keep(key_of(1), kernel(std::string(1000, 'x')));
  EXPECT_EQ(files(), 0U);
}

/// In a child of its own, whose limit stands for a full disk.
TEST_F(BinaryCacheTest, OnlyDoesNotKeepWhenTheDiskIsFull) {
  BinaryCache cache(directory());
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 100, .rlim_max = 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    cache.keep(key_of(1), kernel(std::string(1000, 'x')));
    std::_Exit(cache.find(key_of(1)) ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 0U);
}

TEST_F(BinaryCacheTest, ServesManyThreadsAndProcessesAtOnce) {
  constexpr int kKeys = 8;
  const auto work = [this] {
    BinaryCache cache(directory(), 3000);  // so small that entries also go all the time
    for (int i = 0; i < 200; ++i) {
      const std::string image(500, static_cast<char>('a' + i % kKeys));
      cache.keep(key_of(i % kKeys), kernel(image));
      const auto found = cache.find(key_of(i % kKeys));
      if (found && found->image != kernel(image).image) return 1;
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) std::_Exit(work());
  }
  std::vector<int> results(2, -1);
  {
    std::jthread first([&] { results[0] = work(); });
    std::jthread second([&] { results[1] = work(); });
  }
  EXPECT_THAT(results, testing::Each(0));
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(BinaryCacheWithoutAPlace, SaysSoAndKeepsNothing) {
  BinaryCache cache{fs::path()};
  EXPECT_THAT(cache.problem(), HasSubstr("HOME is not set"));
  cache.keep(key_of(1), kernel("image"));
  EXPECT_FALSE(cache.find(key_of(1)));
}

TEST(DefaultBinaryCache, FollowsTheEnvironment) {
  ::setenv("HOME", "/home/someone", 1);
  ::setenv("XDG_CACHE_HOME", "/elsewhere", 1);
  EXPECT_EQ(default_binary_cache(), "/elsewhere/tune/binaries");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(default_binary_cache(), "/home/someone/.cache/tune/binaries");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(default_binary_cache(), "");
}

TEST(CacheEntry, SurvivesNumbersThatLie) {
  std::string entry = encode_cache_entry("key", kernel("image"));
  for (const std::size_t at : {16U, 24U}) {
    std::string lying = entry;
    lying.replace(at, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
    EXPECT_FALSE(decode_cache_entry("key", lying));
  }
}

/// Counts what it compiles; the entry "bad" fails.
class CountingCompiler : public Compiler {
 public:
  Expected<Binary, Failure> compile(const family::CompileJob& job) const override {
    ++compiled;
    if (job.entries.front() == "bad") return Unexpected(Failure{Outcome::compile_error, "no"});
    return Binary{.image = std::vector<std::byte>(100), .symbols = job.entries};
  }
  mutable int compiled = 0;
};

family::CompileJob job(std::string entry) {
  return {.source = {}, .entries = {entry}, .options = {}, .key = "key of " + entry};
}

class CachedCompilerTest : public testing::Test {
 protected:
  [[nodiscard]] CachedCompiler cached(std::string identity) {
    return {compiler_, cache_, std::move(identity)};
  }
  CountingCompiler compiler_;

 private:
  TemporaryDirectory directory_;
  BinaryCache cache_{directory_.path()};
};

TEST_F(CachedCompilerTest, CompilesAJobOnce) {
  EXPECT_EQ(cached("gpu").compile(job("f"))->symbols, std::vector<std::string>{"f"});
  EXPECT_EQ(cached("gpu").compile(job("f"))->symbols, std::vector<std::string>{"f"});
  EXPECT_EQ(cached("gpu").compile(job("g"))->symbols, std::vector<std::string>{"g"});
  EXPECT_EQ(compiler_.compiled, 2);
}

TEST_F(CachedCompilerTest, CompilesAgainForAnotherCompiler) {
  static_cast<void>(cached("NVRTC 13.0").compile(job("f")));
  static_cast<void>(cached("NVRTC 13.1").compile(job("f")));
  EXPECT_EQ(compiler_.compiled, 2);
}

TEST_F(CachedCompilerTest, TriesAgainWhatFailed) {
  for (int i = 0; i < 2; ++i) {
    const auto failed = cached("gpu").compile(job("bad"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "no");
  }
  EXPECT_EQ(compiler_.compiled, 2);
}

TEST(CompilerIdentity, TellsApartWhatMakesDifferentImages) {
  const space::EnvironmentInfo environment{
      .driver = "580", .compiler = "NVRTC 13.0", .library = "cuBLAS", .tool = "1"};
  const space::DeviceInfo h200{.backend = "cuda",
                               .name = "NVIDIA H200",
                               .uuid = "1",
                               .architecture = "sm_90",
                               .attributes = {}};
  const std::string identity = compiler_identity(h200, environment);

  space::DeviceInfo other_card = h200;
  other_card.name = "NVIDIA H100";
  EXPECT_EQ(compiler_identity(other_card, environment), identity);
  space::EnvironmentInfo other_driver = environment;
  other_driver.driver = "590";
  EXPECT_EQ(compiler_identity(h200, other_driver), identity);

  space::DeviceInfo other_architecture = h200;
  other_architecture.architecture = "sm_100";
  EXPECT_NE(compiler_identity(other_architecture, environment), identity);
  space::EnvironmentInfo other_compiler = environment;
  other_compiler.compiler = "NVRTC 13.1";
  EXPECT_NE(compiler_identity(h200, other_compiler), identity);

  space::DeviceInfo cpu = h200;
  cpu.backend = "cpu";
  space::DeviceInfo other_cpu = cpu;
  other_cpu.name = "another processor";
  EXPECT_THAT(compiler_identity(cpu, environment),
              AllOf(Ne(identity), Ne(compiler_identity(other_cpu, environment))));
}

}  // namespace

}  // namespace tuner::backend
