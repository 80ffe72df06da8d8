// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/process.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace tuner {
namespace {

using namespace std::chrono_literals;

TEST(RunProcess, GivesOutputOfBothStreamsAndTheExitCode) {
  const ProcessResult result = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, 10s);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.timed_out);
}

TEST(RunProcess, PassesArgumentsWithoutAShell) {
  EXPECT_EQ(run_process({"printf", "%s", "$HOME; 'a b'"}, 10s).output, "$HOME; 'a b'");
}

TEST(RunProcess, KillsTheWholeGroupAtTheDeadline) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process({"sh", "-c", "sleep 60 & sleep 60"}, 200ms);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + 9);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(RunProcess, KeepsTheDeadlineOfAProgramThatClosedItsOutput) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process({"sh", "-c", "exec >&- 2>&-; sleep 60"}, 200ms);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(RunProcess, TellsTheSignalThatEndedTheProgram) {
  EXPECT_EQ(run_process({"sh", "-c", "kill -SEGV $$"}, 10s).exit_code, 128 + 11);
}

TEST(RunProcess, KeepsABoundedPartOfALongOutput) {
  const ProcessResult result = run_process({"head", "-c", "1000000", "/dev/zero"}, 10s);
  EXPECT_EQ(result.output.size(), 64U * 1024U);
  EXPECT_EQ(result.exit_code, 0);
}

TEST(RunProcess, ThrowsWhenThereIsNoSuchProgram) {
  EXPECT_THROW(static_cast<void>(run_process({"no-such-program-here"}, 1s)), Error);
}

TEST(RunProcess, LimitsProcessorTimeMemoryAndFiles) {
  const TemporaryDirectory folder;
  const ProcessResult spinning =
      run_process({"sh", "-c", "while :; do :; done"}, 60s, {.processor_time = 1s});
  EXPECT_FALSE(spinning.timed_out);
  EXPECT_GT(spinning.exit_code, 128);
  const ProcessResult large = run_process(
      {"sh", "-c", "sleep 0.1; head -c 300000000 /dev/zero | tail -c 300000000 | wc -c"}, 60s,
      {.address_space_bytes = 200'000'000});
  EXPECT_EQ(large.output.find("300000000"), std::string::npos);
  const ProcessResult long_file = run_process(
      {"sh", "-c", "sleep 0.1; head -c 2000000 /dev/zero > \"$TMPDIR/file\" && echo written"}, 60s,
      {.file_bytes = 1'000'000, .temporary_files = folder.path()});
  EXPECT_EQ(long_file.output.find("written"), std::string::npos) << long_file.output;
}

TEST(RunProcess, GivesAProgramAnInputAndKeepsWhatWasAskedFor) {
  const std::string input(1'000'000, 'x');
  const ProcessResult all =
      run_process({"sh", "-c", "echo err >&2; cat"}, 10s, {},
                  {.input = input, .most_output_bytes = 900'000, .keeps_errors = false});
  EXPECT_EQ(all.output, input.substr(0, 900'000));
}

TEST(RunProcess, GivesABareProgramNeitherFilesNorVariablesOfThisOne) {
  const int open = ::fcntl(STDERR_FILENO, F_DUPFD, 50);  // without O_CLOEXEC
  ::setenv("LD_PRELOAD", "libm.so.6", 1);
  ::setenv("TUNER_SECRET", "1", 1);
  const ProcessResult bare =
      run_process({"sh", "-c", "ls /proc/self/fd; env"}, 10s, {.surroundings = Surroundings::bare});
  ::unsetenv("TUNER_SECRET");
  ::unsetenv("LD_PRELOAD");
  ::close(open);
  ASSERT_GE(open, 50);
  EXPECT_EQ(bare.output.find(std::to_string(open)), std::string::npos) << bare.output;
  EXPECT_EQ(bare.output.find("LD_PRELOAD"), std::string::npos);
  EXPECT_EQ(bare.output.find("TUNER_SECRET"), std::string::npos);
}

TEST(RunProcess, GivesAProgramTheVariablesThatItNeedsAndNoSecrets) {
  const char* const needed[] = {
      "TUNER_HOST_CXX", "CUDA_VISIBLE_DEVICES", "OPENBLAS_NUM_THREADS", "TUNER_PARENT", "LC_ALL",
      "CCACHE_DIR"};
  const char* const secret[] = {"TUNER_SECRET", "TUNE_SECRET",         "CUDA_TOKEN",
                                "CUBLAS_TOKEN", "CCACHE_PASSWORD",     "CCACHE_REMOTE_STORAGE",
                                "LC_TOKEN",     "NV_TPS_LAUNCH_TOKEN", "MKL_SECRET",
                                "OMP_SECRET",   "NVIDIA_API_KEY",      "TUNER_DB"};
  for (const char* const name : needed) ::setenv(name, "C", 0);
  for (const char* const name : secret) ::setenv(name, "secret", 1);
  const std::string plain = "\n" + run_process({"env"}, 10s).output;
  ::setenv("NVTX_INJECTION64_PATH", "/of/a/profiler.so", 1);
  const std::string profiled = "\n" + run_process({"env"}, 10s).output;
  ::unsetenv("NVTX_INJECTION64_PATH");
  for (const char* const name : secret) ::unsetenv(name);
  const auto has = [](const std::string& variables, const std::string& name) {
    return variables.find("\n" + name + "=") != std::string::npos;
  };
  for (const char* const name : needed) EXPECT_TRUE(has(plain, name)) << name;
  for (const char* const name : secret) EXPECT_FALSE(has(plain, name)) << name;
  EXPECT_TRUE(has(profiled, "NV_TPS_LAUNCH_TOKEN"));
  EXPECT_TRUE(has(profiled, "NVTX_INJECTION64_PATH"));
  EXPECT_FALSE(has(profiled, "TUNER_SECRET"));
}

TEST(RunProcess, GivesAProgramNoOpenFiles) {
  const int open = ::fcntl(STDERR_FILENO, F_DUPFD, 50);  // without O_CLOEXEC, as a shell's
  const ProcessResult result = run_process({"ls", "/proc/self/fd"}, 10s);
  ::close(open);
  ASSERT_GE(open, 50);
  EXPECT_EQ(result.output.find(std::to_string(open)), std::string::npos) << result.output;
}

TEST(RunProcess, StartsASessionSoThatTheUsersTerminalIsOutOfReach) {
  const std::string both =
      run_process({"sh", "-c", "cut -d' ' -f6 /proc/$$/stat; echo $$"}, 10s).output;
  const std::size_t half = both.size() / 2;
  EXPECT_EQ(both.substr(0, half), both.substr(half));
}

TEST(RunProcess, EndsWhereTheApplicationIgnoresItsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process({"echo", "done"}, 60s);
  std::signal(SIGCHLD, before);
  EXPECT_EQ(result.output, "done\n");
  EXPECT_FALSE(result.timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(RunProcess, WorksInAnApplicationThatClosedItsFirstFiles) {
  const auto run = [] {
    for (const int first : {0, 1, 2}) ::close(first);
    const ProcessResult result = run_process({"cat"}, 10s, {}, {.input = "text"});
    std::_Exit(result.output == "text" ? 42 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

TEST(ChildProcess, IsKilledAndReapedWithItsOwner) {
  pid_t pid = 0;
  {
    const ChildProcess child({"sleep", "60"}, {});
    pid = child.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(ChildProcess, StartsWithTheDefaultActionOfEverySignal) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  ChildProcess child({"sleep", "60"}, {});
  std::signal(SIGTERM, before);
  ::kill(child.pid(), SIGTERM);
  EXPECT_EQ(child.wait().signal, SIGTERM);
}

TEST(ChildProcess, SaysHowItEnded) {
  ChildProcess failing({"sh", "-c", "exit 3"}, {});
  EXPECT_EQ(failing.wait().text(), "ended with exit code 3");
  ChildProcess crashing({"sh", "-c", "kill -SEGV $$"}, {});
  EXPECT_EQ(crashing.wait().text(), "was ended by signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace tuner
