// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/mcp_server.hpp"
#include "tuner/cli/mcp_tools.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tuner::cli {
namespace {

constexpr std::size_t kLongestMessage = std::size_t{16} << 20;
constexpr std::chrono::milliseconds kBetweenLooks{50};

/// Where answers go, a line each, from any thread.
class AnswerStream {
 public:
  void write(const Json& message) {
    const std::string line =
        message.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
    const std::scoped_lock lock(mutex_);
    for (std::size_t written = 0; written < line.size() && !is_gone_;) {
      const ssize_t length = ::write(STDOUT_FILENO, line.data() + written, line.size() - written);
      if (length > 0) written += static_cast<std::size_t>(length);
      if (length < 0 && errno != EINTR) is_gone_ = true;
    }
  }
  /// Whether nobody reads the answers any more, as far as is known.
  [[nodiscard]] bool is_gone() const { return is_gone_; }
  /// Finds out where nothing is written.
  void look_for_reader() {
    pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
    if (::poll(&output, 1, 0) > 0) is_gone_ = true;
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_gone_ = false;
};

/// Runs calls one after the other, as times would be wrong beside each other.
class CallQueue {
 public:
  explicit CallQueue(AnswerStream& answers) : answers_(answers), thread_([this] { work(); }) {}
  /// Ends what runs and drops what waits, unless they were waited for.
  ~CallQueue() {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
      waiting_.clear();
    }
    changed_.notify_all();
    thread_.join();
  }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  void add(McpCall call) {
    {
      const std::scoped_lock lock(mutex_);
      waiting_.push_back(std::move(call));
    }
    changed_.notify_all();
  }

  /// The answer is not wanted.
  void cancel(const Json& id) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(waiting_, [&](const McpCall& call) { return call.id == id; });
    if (running_ == id) is_cancelled_ = true;
  }

  [[nodiscard]] bool is_idle() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.empty() && !running_;
  }

 private:
  void work() {
    while (auto call = next()) {
      auto result = call_tool(call->tool, call->arguments,
                              [this] { return is_cancelled_ || is_over_ || answers_.is_gone(); });
      if (result) answers_.write(McpServer::answer_to(*call, *std::move(result)));
      const std::scoped_lock lock(mutex_);
      running_.reset();
    }
  }

  std::optional<McpCall> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (is_over_) return std::nullopt;
    McpCall call = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = call.id;
    is_cancelled_ = false;
    return call;
  }

  AnswerStream& answers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<McpCall> waiting_;
  std::optional<Json> running_;  // its id
  std::atomic<bool> is_cancelled_ = false, is_over_ = false;
  std::thread thread_;
};

/// The lines of stdin as they come.
class LineReader {
 public:
  enum class State { open, ended };

  /// Waits a moment for input, and gives each line that is complete. A line that is too long is
  /// left out, with a call of `too_long`.
  State read(const std::function<void(std::string_view)>& line,
             const std::function<void()>& too_long) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, static_cast<int>(kBetweenLooks.count())) <= 0) return State::open;
    std::array<char, std::size_t{64} * 1024> part{};
    const ssize_t length = ::read(STDIN_FILENO, part.data(), part.size());
    if (length < 0) return errno == EINTR || errno == EAGAIN ? State::open : State::ended;
    if (length == 0) {
      if (!text_.empty()) line(std::exchange(text_, {}));
      return State::ended;
    }
    for (const char c : std::string_view(part.data(), static_cast<std::size_t>(length))) {
      take(c, line, too_long);
    }
    return State::open;
  }

 private:
  void take(char c, const std::function<void(std::string_view)>& line,
            const std::function<void()>& too_long) {
    if (c == '\n') {
      if (!is_skipped_ && text_.find_first_not_of(" \t\r") != std::string::npos) line(text_);
      text_.clear();
      is_skipped_ = false;
    } else if (!is_skipped_) {
      text_ += c;
      if (text_.size() <= kLongestMessage) return;
      text_.clear();
      is_skipped_ = true;
      too_long();
    }
  }

  std::string text_;
  bool is_skipped_ = false;  // the rest of the line
};

}  // namespace

int mcp() {
  const Interrupt interrupt;
  AnswerStream answers;
  CallQueue calls(answers);
  McpServer server([&](McpCall call) { calls.add(std::move(call)); },
                   [&](const Json& id) { calls.cancel(id); });
  LineReader lines;
  auto state = LineReader::State::open;
  // What was asked before the end of the input is answered.
  while (!interrupt.requested() && !answers.is_gone() &&
         (state == LineReader::State::open || !calls.is_idle())) {
    answers.look_for_reader();
    if (state == LineReader::State::ended) {
      std::this_thread::sleep_for(kBetweenLooks);
      continue;
    }
    state = lines.read(
        [&](std::string_view line) {
          if (const auto answer = server.answer(line)) answers.write(*answer);
        },
        [&] { answers.write(McpServer::too_long()); });
  }
  return interrupt.exit_code().value_or(0);
}

}  // namespace tuner::cli
