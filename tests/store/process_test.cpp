// SPDX-License-Identifier: Apache-2.0
// What other processes and the limits of the machine do to a store.
#include "example_records.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/store/store.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tuner::store {
namespace {

using testing::SizeIs;

/// Runs `work` in a child of its own; nothing of the parent's may be open on a database.
template <class Work>
pid_t in_a_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return child;
}

int exit_code(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string config(int writer, int i) {
  return "{\"TILE_M\":" + std::to_string(1000 * writer + i) + "}";
}

TEST(EightProcesses, CreateAndWriteOneDatabaseWithoutLosingARow) {
  constexpr int kWriters = 8;
  constexpr int kTrials = 50;
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "tune.sqlite";
  const auto write = [&](int writer) {
    return in_a_child([&, writer] {
      try {
        Store store(path, kReadWrite);
        const std::int64_t run =
            store.begin_run(example_subject(), example_run(std::to_string(writer)));
        for (int i = 0; i < kTrials; ++i) {
          store.record_trial(run, example_trial(config(writer, i)), i);
        }
        return 0;
      } catch (const std::exception& error) {
        ::fputs(error.what(), stderr);
        return 1;
      }
    });
  };
  std::vector<pid_t> writers;
  for (int i = 1; i <= kWriters; ++i) writers.push_back(write(i));
  for (const pid_t writer : writers) EXPECT_EQ(exit_code(writer), 0);

  const Store store(path, kReadOnly);
  std::set<std::string> configs;
  for (const StoredTrial& stored : store.trials(ResultFilter{})) {
    configs.insert(stored.trial.config_json);
  }
  EXPECT_THAT(configs, SizeIs(kWriters * kTrials));
  EXPECT_THAT(store.devices(), SizeIs(1));
}

TEST(ConcurrentReader, SeesWhatWasCommittedAndWritesNothing) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "tune.sqlite";
  Store writer(path, kReadWrite);
  const std::int64_t run = writer.begin_run(example_subject(), example_run());
  const Store reader(path, kReadOnly);
  for (int i = 0; i < 20; ++i) {
    writer.record_trial(run, example_trial(config(0, i)), i);
    EXPECT_THAT(reader.trials(run), SizeIs(static_cast<std::size_t>(i) + 1));
  }
  const auto written = std::filesystem::last_write_time(path);
  { const Store another(path, kReadOnly); }
  EXPECT_EQ(std::filesystem::last_write_time(path), written);
  EXPECT_EQ(std::filesystem::file_size(path.string() + "-journal"), 0U);
}

/// The child's exit code when writing failed as it should.
constexpr int kFailedWithAMessage = 42;

TEST(FullDisk, FailsWithTheReasonAndKeepsWhatWasCommitted) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "tune.sqlite";
  const pid_t child = in_a_child([&] {
    Store store(path, kReadWrite);
    const std::int64_t run = store.begin_run(example_subject(), example_run());
    for (int i = 0; i < 5; ++i) store.record_trial(run, example_trial(config(0, i)), i);
    ::signal(SIGXFSZ, SIG_IGN);  // the write then fails as on a full disk
    const rlimit limit{std::filesystem::file_size(path), RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      for (int i = 5; i < 10'000; ++i) store.record_trial(run, example_trial(config(0, i)), i);
    } catch (const Error& error) {
      const bool told = std::string(error.what()).find("input/output failed") != std::string::npos;
      return told && error.code() == ErrorCode::failure ? kFailedWithAMessage : 2;
    }
    return 1;
  });
  EXPECT_EQ(exit_code(child), kFailedWithAMessage);

  Store store(path, kReadWrite);
  const std::size_t kept = store.trials(1).size();
  EXPECT_GE(kept, 5U);
  store.record_trial(1, example_trial(config(1, 0)), 0);
  EXPECT_THAT(store.trials(1), SizeIs(kept + 1));
}

TEST(KilledProcess, LosesNoTrialThatWasRecorded) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "tune.sqlite";
  const pid_t child = in_a_child([&] {
    Store store(path, kReadWrite);
    const std::int64_t run = store.begin_run(example_subject(), example_run());
    for (int i = 0; i < 5; ++i) store.record_trial(run, example_trial(config(0, i)), i);
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(exit_code(child), 128 + SIGKILL);

  const Store store(path, kReadOnly);
  EXPECT_THAT(store.trials(1), SizeIs(5));
  EXPECT_EQ(store.run("1")->state, RunState::running);
}

}  // namespace
}  // namespace tuner::store
