// SPDX-License-Identifier: Apache-2.0
#include "tuner/cluster/agent_main.hpp"

#include "tuner/backend/binary_cache.hpp"
#include "tuner/cluster/agent_connection.hpp"
#include "tuner/cluster/agent_messages.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/process.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/confinement.hpp"
#include "tuner/worker/device_server.hpp"
#include "tuner/worker/open_devices.hpp"
#include "tuner/worker/process_compiler.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tuner::cluster {
namespace {

using Clock = worker::Channel::Clock;
using Seconds = std::chrono::duration<double>;

/// The standard streams. From now on what is printed to stdout goes to stderr, and nothing that
/// this process starts holds the streams open.
worker::Channel take_standard_streams() {
  const int input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  if (input < 0 || output < 0) {
    throw Error(ErrorCode::usage, "`tune worker node` is started by a launcher of `tune --launch`");
  }
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::close(nothing);
  return {input, output};
}

/// Whether other agents of the same launcher speak over these streams: srun merges what all tasks
/// of a step write.
bool streams_are_shared() {
  const std::string tasks = environment_variable("SLURM_STEP_NUM_TASKS");
  int count = 0;
  std::from_chars(tasks.data(), tasks.data() + tasks.size(), count);
  return count > 1;
}

std::string allowed_processors() {
  constexpr std::string_view kField = "Cpus_allowed_list:\t";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kField)) return line.substr(kField.size());
  }
  return "";
}

AgentHello hello() {
  // As the batch system calls it: a user finds it by that name.
  const std::string node = environment_variable("SLURMD_NODENAME");
  return {.program = this_program(),
          .host = node.empty() ? host_name() : node,
          .job = environment_variable("SLURM_JOB_ID"),
          .processors = allowed_processors(),
          .threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))};
}

/// Serves requests in the order that they come, on a thread of its own.
class Lane {
 public:
  using Serve = std::function<Json(const Json& request)>;
  using Answer = std::function<void(Json answer)>;

  Lane(Serve serve, Answer answer)
      : serve_(std::move(serve)),
        answer_(std::move(answer)),
        thread_([this](const std::stop_token& stop) { work(stop); }) {}

  void add(Json request) {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(std::move(request));
    wake_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !requests_.empty(); })) return;
      const Json request = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      try {
        answer_(serve_(request));
      } catch (const Error& error) {
        answer_({{"error", worker::to_message(error)}});
      }
    }
  }

  Serve serve_;
  Answer answer_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Json> requests_;
  std::jthread thread_;
};

/// What an agent has once it is open: devices, compilers, and a lane for each.
class LaneServer {
 public:
  /// Gives each answer, with its lane, to `say`.
  LaneServer(const AgentOpening& opening, const std::function<void(Json)>& say)
      : family_(worker::family_of(opening.family)),
        opened_(worker::open_devices(opening.backend, opening.device, family_, opening.seed,
                                     {.launch = Seconds(opening.launch_timeout_s)})),
        isolated_(worker::make_isolated_compiler(
            first().device(),
            std::chrono::ceil<std::chrono::seconds>(Seconds(opening.compile_timeout_s)))),
        cache_(backend::default_binary_cache()),
        cached_(*isolated_, cache_,
                backend::compiler_identity(first().device(), first().environment())),
        threads_(std::max(1U, std::thread::hardware_concurrency())),
        pool_(opening.no_cache ? *isolated_ : static_cast<const backend::Compiler&>(cached_),
              static_cast<int>(threads_)) {
    const auto binary_of = [this](const worker::CandidateMessage&, const family::Kernel& kernel,
                                  const space::BoundDefinition& space,
                                  const space::Config& config) {
      return compiled(family::compile_job(kernel, space, config));
    };
    for (const worker::NamedDevice& device : opened_.devices) {
      servers_.push_back(
          std::make_unique<worker::DeviceServer>(*device.process, family_, binary_of));
      add_lane(
          [server = servers_.back().get()](const Json& request) { return server->serve(request); },
          say);
    }
    for (unsigned i = 0; i < threads_; ++i) {
      add_lane([this](const Json& request) { return compile(request); }, say);
    }
  }

  [[nodiscard]] AgentOpened opened() const {
    AgentOpened told{.devices = {}, .notes = opened_.left_out};
    if (std::string lack = worker::worker_sandbox().lack; !lack.empty()) {
      told.notes.push_back(std::move(lack));
    }
    for (const worker::NamedDevice& device : opened_.devices) {
      told.devices.push_back(
          {.device = device.process->device(), .environment = device.process->environment()});
    }
    return told;
  }

  /// Throws Error(failure) for a request to a lane that there is not.
  void take(Json request) {
    const auto lane = worker::from_message<std::uint64_t>(worker::member(request, "lane"), "lane");
    if (lane >= lanes_.size()) {
      throw Error(ErrorCode::failure, fmt::format("this agent has no lane {}", lane));
    }
    lanes_[lane]->add(std::move(request));
  }

 private:
  [[nodiscard]] worker::DeviceProcess& first() const { return *opened_.devices.front().process; }

  void add_lane(Lane::Serve serve, const std::function<void(Json)>& say) {
    const std::size_t number = lanes_.size();
    lanes_.push_back(std::make_unique<Lane>(std::move(serve), [say, number](Json answer) {
      answer["lane"] = number;
      say(std::move(answer));
    }));
  }

  /// A binary that was compiled before, as a rule. Throws Error(failure) when it does not compile.
  [[nodiscard]] backend::Binary compiled(family::CompileJob job) {
    const auto result = pool_.submit(std::move(job));
    const auto& binary = result.get().binary;
    if (!binary) throw Error(ErrorCode::failure, binary.error().message);
    return *binary;
  }

  [[nodiscard]] Json compile(const Json& request) {
    const auto job =
        worker::from_message<AgentJob>(worker::member(request, "arguments"), "arguments");
    const auto result = pool_.submit({.source = family_.kernel(job.kernel).source,
                                      .entries = job.entries,
                                      .options = job.options,
                                      .key = job.key});
    const auto& binary = result.get().binary;
    if (!binary) return worker::answer<worker::Nothing>(Unexpected(binary.error()));
    return worker::answer<worker::Nothing>(worker::Nothing{});
  }

  family::Family family_;
  worker::OpenedDevices opened_;
  std::unique_ptr<const backend::Compiler> isolated_;
  backend::BinaryCache cache_;
  backend::CachedCompiler cached_;
  unsigned threads_;
  worker::CompilePool pool_;
  std::vector<std::unique_ptr<worker::DeviceServer>> servers_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

/// The conversation with the parent.
class Conversation {
 public:
  explicit Conversation(worker::Channel channel) : channel_(std::move(channel)) {}

  void say(const Json& message) {
    const std::scoped_lock lock(mutex_);
    static_cast<void>(channel_.send(message, Clock::now() + silence_.load()));
  }

  /// Until the parent is gone, has been silent too long, or says what is no message. The lanes may
  /// be at work then: what follows must end this process.
  void listen() noexcept {
    try {
      for (;;) {
        auto heard = channel_.receive(Clock::now() + silence_.load());
        auto* const message = std::get_if<Json>(&heard);
        if (message == nullptr) return;
        take(std::move(*message));
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "agent on {}: {}\n", host_name(), error.what());
    }
  }

 private:
  void take(Json message) {
    if (message.contains("ping")) {
      say({{"pong", message.at("ping")}});
    } else if (message.contains("open")) {
      open(worker::from_message<AgentOpening>(message.at("open"), "open"));
    } else if (message.contains("lane")) {
      const std::scoped_lock lock(lanes_mutex_);
      if (!lanes_) throw Error(ErrorCode::failure, "a request before the devices are open");
      lanes_->take(std::move(message));
    }
  }

  /// On a thread of its own, which lives as long as what it starts: a process that it has started
  /// ends with it. Meanwhile the parent hears that this one is well.
  void open(AgentOpening opening) {
    if (opener_.joinable()) throw Error(ErrorCode::failure, "it is opened twice");
    silence_ = std::chrono::duration_cast<Clock::duration>(
        Seconds(kHeartbeatsToLoss * opening.heartbeat_s));
    opener_ = std::jthread([this, opening = std::move(opening)](const std::stop_token& stop) {
      try {
        auto lanes =
            std::make_unique<LaneServer>(opening, [this](const Json& answer) { say(answer); });
        const Json opened = {{"opened", worker::to_message(lanes->opened())}};
        {
          const std::scoped_lock lock(lanes_mutex_);
          lanes_ = std::move(lanes);
        }
        say(opened);
      } catch (const Error& error) {
        say({{"error", worker::to_message(error)}});
      }
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any().wait(lock, stop, [] { return false; });
    });
  }

  worker::Channel channel_;
  std::mutex mutex_;  // of what is said
  std::atomic<Clock::duration> silence_{kIntroduction};
  std::mutex lanes_mutex_;
  std::unique_ptr<LaneServer> lanes_;
  std::jthread opener_;
};

/// A connection to the parent, which the first {"connect"} among what is sent to all names.
worker::Channel connect_as_told(worker::Channel& streams) {
  for (;;) {
    auto heard = streams.receive(Clock::now() + kIntroduction);
    auto* const message = std::get_if<Json>(&heard);
    if (message == nullptr) throw Error(ErrorCode::failure, "the parent names no address");
    if (!message->contains("connect")) continue;
    return connect_to_parent(
        worker::from_message<AgentRendezvous>(message->at("connect"), "connect"), hello());
  }
}

/// Keeps what is sent to all from filling the pipe, until the launcher closes it.
void drain(worker::Channel& streams, const std::function<void()>& at_end) {
  try {
    while (std::holds_alternative<Json>(streams.receive(Clock::time_point::max()))) {
    }
  } catch (const Error&) {
  }
  at_end();
}

[[noreturn]] void end(const TemporaryDirectory& temporary_files, int code) {
  kill_children();
  std::error_code ignored;
  std::filesystem::remove_all(temporary_files.path(), ignored);
  ::_exit(code);
}

}  // namespace

int agent_main() {
  adopt_orphans();
  worker::Channel streams = take_standard_streams();
  // Everything temporary lies in one place: it goes even where the end is a sudden one.
  const TemporaryDirectory temporary_files;
  ::setenv("TMPDIR", temporary_files.path().c_str(), 1);
  try {
    if (streams_are_shared()) {
      static_cast<void>(streams.send({{"shared", true}}, Clock::now() + kIntroduction));
      Conversation parent(connect_as_told(streams));
      const std::jthread drainer([&] { drain(streams, [&] { end(temporary_files, 0); }); });
      parent.listen();
      end(temporary_files, 0);
    }
    Conversation parent(std::move(streams));
    parent.say({{"hello", worker::to_message(hello())}});
    parent.listen();
    end(temporary_files, 0);
  } catch (const Error& error) {
    fmt::print(stderr, "agent on {}: {}\n", host_name(), error.what());
    end(temporary_files, 1);
  }
}

}  // namespace tuner::cluster
