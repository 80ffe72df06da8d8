// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/measurement_lock.hpp"

#include "tests/dispatch/cpu_fixture.hpp"
#include "tuner/core/hash.hpp"

#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace tuner::dispatch {
namespace {

using std::chrono::milliseconds;

class MeasurementLockTest : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<const MeasurementLock> take(
      const char* what, milliseconds patience = milliseconds(0)) const {
    return MeasurementLock::take(folder.path(), content_hash({what}), patience);
  }
  TemporaryDirectory folder;
};

TEST_F(MeasurementLockTest, IsOfOneAtATimeForEachKey) {
  auto first = take("a size");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(take("a size"), nullptr);
  EXPECT_EQ(take("a size", milliseconds(5)), nullptr) << "patience has an end";
  EXPECT_NE(take("another size"), nullptr);
  first.reset();
  EXPECT_NE(take("a size"), nullptr);
}

TEST_F(MeasurementLockTest, OfAProcessThatWasKilledNothingIsLeft) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = take("a size");
    static_cast<void>(::write(pipe[1], lock == nullptr ? "n" : "y", 1));
    for (;;) ::pause();
  }
  char got = 0;
  ASSERT_EQ(::read(pipe[0], &got, 1), 1);
  EXPECT_EQ(got, 'y');
  EXPECT_EQ(take("a size"), nullptr);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(take("a size"), nullptr);
  for (const int end : pipe) ::close(end);
}

TEST_F(MeasurementLockTest, WithoutAFolderThereIsNone) {
  EXPECT_EQ(MeasurementLock::take(folder.path() / "none", content_hash({"a size"}), {}), nullptr);
}

/// Processes of one machine that prepare the same size at once.
class SharedMeasurementTest : public CpuFixture {
 protected:
  /// In a process of its own: whether it measured, and what it chose.
  [[nodiscard]] int prepare_elsewhere() const {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) return -1;
    if (::fork() == 0) {
      Dispatcher dispatcher(Table::database(database.path()), options);
      const auto done =
          dispatcher.prepare(dispatcher.family("product"), {{{12, 6, 5}}}, ChooseBy::measurement);
      const Answer& answer = done.front().answer.value();
      int measured = 0;
      for (const std::string& line : answer.explanation) {
        measured += static_cast<int>(line.starts_with("measured: "));
      }
      const std::string text = (measured > 0 ? "measured " : "read ") + answer.kernel +
                               answer.configuration + std::to_string(*answer.expected_ns);
      static_cast<void>(::write(pipe[1], text.data(), text.size()));
      ::_exit(0);
    }
    ::close(pipe[1]);
    return pipe[0];
  }
  static std::string all_of(int pipe) {
    std::string text(4096, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0; size += static_cast<std::size_t>(got)) {
      got = ::read(pipe, text.data() + size, text.size() - size);
      if (got < 0) break;
    }
    ::close(pipe);
    return text.substr(0, size);
  }
};

TEST_F(SharedMeasurementTest, OneProcessMeasuresAndTheOthersTakeItsChoice) {
  database.add({.size = "8,6,5", .config = R"({"TILE":2})"});
  database.add({.size = "40,6,5", .kernel = "split", .config = R"({"PARTS":4})"});
  std::vector<int> pipes;
  for (int i = 0; i < 3; ++i) pipes.push_back(prepare_elsewhere());
  std::vector<std::string> choices;
  int measured = 0;
  for (const int pipe : pipes) {
    std::string text = all_of(pipe);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const std::size_t space = text.find(' ');
    ASSERT_NE(space, std::string::npos) << text;
    measured += static_cast<int>(text.substr(0, space) == "measured");
    choices.push_back(text.substr(space));
  }
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(choices[0], choices[1]);
  EXPECT_EQ(choices[0], choices[2]);
}

}  // namespace
}  // namespace tuner::dispatch
