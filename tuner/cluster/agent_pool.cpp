// SPDX-License-Identifier: Apache-2.0
#include "tuner/cluster/agent_pool.hpp"

#include "tuner/cluster/agent_connection.hpp"
#include "tuner/cluster/agent_link.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/process.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/worker/worker_process.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace tuner::cluster {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr std::size_t kQuoted = 300;
constexpr std::size_t kMostGuests = 128;

std::vector<std::string> with_agent(std::vector<std::string> command) {
  const std::size_t count = command.size();
  const bool names_it =
      count >= 2 && command[count - 2] == "worker" && command[count - 1] == "node";
  if (!names_it) {
    for (std::string& word : worker::worker_command({"node"})) command.push_back(std::move(word));
  }
  return command;
}

/// The start of output that is not a message.
std::string quotation(std::string_view said) {
  return fmt::format("'{}'", printable(std::string(said.substr(0, kQuoted))));
}

AgentOpening opening(const AgentPlan& plan, const family::Family& family) {
  return {.family = worker::files_of(family),
          .seed = plan.seed,
          .backend = plan.backend,
          .device = plan.device,
          .compile_timeout_s = plan.compile_timeout.count(),
          .launch_timeout_s = plan.launch_timeout.count(),
          .no_cache = plan.no_cache,
          .heartbeat_s = plan.heartbeat.count()};
}

}  // namespace

/// The agents of a pool and the programs that started them.
class AgentPool::Agents {
 public:
  Agents(AgentPlan plan, const family::Family& family, Tell tell);
  Agents(const Agents&) = delete;
  Agents& operator=(const Agents&) = delete;
  ~Agents();

  void await_first();
  [[nodiscard]] std::vector<const AgentCard*> cards() const;

 private:
  using Clock = worker::Channel::Clock;

  /// A program that starts agents.
  struct Launcher {
    explicit Launcher(std::vector<std::string> its_command);

    [[nodiscard]] std::string line() const;
    /// What it has said, of which the agents' stderr is part, and how it ended if it has.
    [[nodiscard]] std::string words() const;

    std::vector<std::string> command;
    worker::LastWords errors;
    std::unique_ptr<worker::Channel> streams;  // until they are an agent's
    mutable std::mutex mutex;                  // of the child
    std::unique_ptr<ChildProcess> child;
    bool has_spoken = false;
    std::string failure;  // why it brings no agents any more
    std::string token;    // of agents that connect
  };
  /// Who has connected, until it is an agent or gone.
  struct Guest {
    std::atomic<bool> gone = false;
    std::jthread thread;
  };
  struct Agent {
    std::unique_ptr<AgentLink> link;
    std::unique_ptr<AgentCompiler> compiler;
    std::vector<std::unique_ptr<AgentCard>> cards;
  };

  void serve(Launcher& launcher, const std::stop_token& stop);
  /// Who speaks first over a launcher's streams, and what follows.
  void hear(Launcher& launcher, const std::stop_token& stop);
  void receive_connections(const std::stop_token& stop);
  /// Shows that this is the parent and hears who it is that has connected.
  void greet(worker::Channel channel, const std::stop_token& stop);
  /// Anybody may connect, again and again.
  void refuse_stranger(const std::string& why);
  void admit(worker::Channel channel, const AgentHello& hello, const Launcher* launcher);
  [[nodiscard]] AgentOpened opened_by(AgentLink& link);
  void add(std::unique_ptr<AgentLink> link, const AgentHello& hello, AgentOpened opened);
  void refuse(const std::string& line);
  void note(Launcher& launcher, std::string failure);
  /// Tells a line; before the first agent is there, what is said is part of one message.
  void tell(const std::string& line);
  /// Where agents of a launcher connect to.
  [[nodiscard]] AgentRendezvous rendezvous(Launcher& launcher);
  [[nodiscard]] const Launcher* launcher_of(const AgentHello& hello,
                                            const std::string& challenge) const;
  [[nodiscard]] bool all_settled() const;
  [[nodiscard]] int threads_of(const AgentHello& hello);

  AgentPlan plan_;
  AgentOpening opening_message_;
  const family::Family& family_;
  Tell tell_;
  AgentProgram program_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<AgentLink*> opening_;  // not in agents_ yet
  std::vector<std::string> told_;
  bool begun_ = false;                        // the first agent is there
  std::map<std::string, int> on_processors_;  // agents, by host and processors
  int expected_ = 0, settled_ = 0;            // agents that have spoken, and those in or refused
  std::size_t devices_ = 0;
  std::unique_ptr<ConnectionDesk> desk_;
  std::vector<std::unique_ptr<Guest>> guests_;  // of the thread that receives them
  std::atomic<int> strangers_ = 0;
  std::vector<std::unique_ptr<Launcher>> launchers_;
  std::vector<std::jthread> threads_;
};

AgentPool::Agents::Launcher::Launcher(std::vector<std::string> its_command)
    : command(std::move(its_command)) {
  auto [ours, theirs] = worker::Channel::pair();
  streams = std::make_unique<worker::Channel>(std::move(ours));
  child = std::make_unique<ChildProcess>(command,
                                         ProcessStreams{.input = theirs.descriptor(),
                                                        .output = theirs.descriptor(),
                                                        .errors = errors.descriptor()},
                                         ProcessLimits{.surroundings = Surroundings::users});
}

std::string AgentPool::Agents::Launcher::line() const {
  return shell_line(command);
}

std::string AgentPool::Agents::Launcher::words() const {
  constexpr std::chrono::milliseconds kToEnd{500};
  std::string said = printable(errors.text());
  const auto end = Clock::now() + kToEnd;
  const std::scoped_lock lock(mutex);
  // One whose streams are closed is about to end: how it ended tells most.
  auto ended = child->poll_end();
  while (!ended && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ended = child->poll_end();
  }
  if (!ended) return said;
  return fmt::format("its launcher {}{}{}", ended->text(), said.empty() ? "" : ": ", said);
}

AgentPool::Agents::Agents(AgentPlan plan, const family::Family& family, Tell tell)
    : plan_(std::move(plan)),
      opening_message_(opening(plan_, family)),
      family_(family),
      tell_(std::move(tell)),
      program_(this_program()) {
  for (std::vector<std::string>& command : plan_.launchers) {
    launchers_.push_back(std::make_unique<Launcher>(with_agent(std::move(command))));
  }
  for (const auto& launcher : launchers_) {
    threads_.emplace_back(
        [this, launcher = launcher.get()](const std::stop_token& stop) { serve(*launcher, stop); });
  }
}

AgentPool::Agents::~Agents() {
  std::vector<std::jthread> threads;
  {
    const std::scoped_lock lock(mutex_);
    for (std::jthread& thread : threads_) thread.request_stop();
    threads = std::move(threads_);
  }
  {
    const std::scoped_lock lock(mutex_);
    for (AgentLink* const link : opening_) link->end();
    for (const auto& agent : agents_) agent->link->end();
  }
  threads.clear();
  guests_.clear();
  for (const auto& launcher : launchers_) launcher->streams.reset();
  // A launcher cleans up after its agents, and they after themselves: they get some time for it.
  constexpr std::chrono::seconds kToEnd{3};
  const auto end = Clock::now() + kToEnd;
  for (const auto& launcher : launchers_) {
    while (!launcher->child->poll_end() && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    launcher->child->ask_to_end();
  }
  for (const auto& launcher : launchers_) {
    while (!launcher->child->poll_end() && Clock::now() < end + kToEnd / 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  agents_.clear();
}

void AgentPool::Agents::serve(Launcher& launcher, const std::stop_token& stop) {
  try {
    hear(launcher, stop);
  } catch (const Error& error) {
    if (stop.stop_requested()) return;
    const std::string said = launcher.streams ? std::string(launcher.streams->unread()) : "";
    note(launcher, said.empty() ? error.what()
                                : fmt::format("printed {} instead of an agent's first message",
                                              quotation(said)));
    const std::scoped_lock lock(launcher.mutex);
    launcher.child->kill();
  }
}

void AgentPool::Agents::hear(Launcher& launcher, const std::stop_token& stop) {
  bool shared = false;
  while (!stop.stop_requested()) {
    auto heard = launcher.streams->receive(Clock::now() + kBetweenLooks);
    if (const auto* absence = std::get_if<worker::Channel::Absence>(&heard)) {
      if (*absence == worker::Channel::Absence::late) continue;
      if (stop.stop_requested()) return;
      const std::string words = launcher.words();
      return note(launcher, words.empty() ? "has closed its output" : words);
    }
    const Json& message = std::get<Json>(heard);
    if (message.contains("shared")) {
      shared = true;
      const AgentRendezvous where = rendezvous(launcher);
      {
        const std::scoped_lock lock(mutex_);
        launcher.has_spoken = true;
        ++expected_;
      }
      static_cast<void>(launcher.streams->send({{"connect", worker::to_message(where)}},
                                               Clock::now() + kIntroduction));
    } else if (!shared) {
      const auto hello =
          worker::from_message<AgentHello>(worker::member(message, "hello"), "hello");
      worker::Channel channel = std::move(*launcher.streams);
      {
        const std::scoped_lock lock(mutex_);
        launcher.streams.reset();
        launcher.has_spoken = true;
        ++expected_;
      }
      return admit(std::move(channel), hello, &launcher);
    }
  }
}

AgentRendezvous AgentPool::Agents::rendezvous(Launcher& launcher) {
  const std::scoped_lock lock(mutex_);
  if (!desk_) {
    desk_ = std::make_unique<ConnectionDesk>();
    threads_.emplace_back([this](const std::stop_token& stop) { receive_connections(stop); });
  }
  AgentRendezvous where = desk_->rendezvous();
  if (launcher.token.empty()) launcher.token = random_word() + random_word();
  where.token = launcher.token;
  return where;
}

const AgentPool::Agents::Launcher* AgentPool::Agents::launcher_of(
    const AgentHello& hello, const std::string& challenge) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& launcher : launchers_) {
    if (!launcher->token.empty() &&
        hello.proof == token_proof(Role::agent, launcher->token, challenge, hello.nonce)) {
      return launcher.get();
    }
  }
  return nullptr;
}

void AgentPool::Agents::receive_connections(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::erase_if(guests_, [](const auto& guest) { return guest->gone.load(); });
    if (guests_.size() >= kMostGuests) {  // the others wait in the system's queue
      std::this_thread::sleep_for(kBetweenLooks);
      continue;
    }
    auto channel = desk_->accept(Clock::now() + kBetweenLooks);
    if (!channel) continue;
    Guest& guest = *guests_.emplace_back(std::make_unique<Guest>());
    guest.thread = std::jthread([this, &guest, stop, channel = std::move(*channel)]() mutable {
      greet(std::move(channel), stop);
      guest.gone = true;
    });
  }
}

void AgentPool::Agents::greet(worker::Channel channel, const std::stop_token& stop) {
  try {
    const auto end = Clock::now() + kToProve;
    const std::string challenge = random_word() + random_word();
    static_cast<void>(channel.send({{"challenge", challenge}}, end));
    std::optional<Json> message;
    while (!message) {
      auto heard = channel.receive(std::min(end, Clock::now() + kBetweenLooks));
      if (auto* said = std::get_if<Json>(&heard)) message = std::move(*said);
      const bool closed =
          !message && std::get<worker::Channel::Absence>(heard) == worker::Channel::Absence::closed;
      // Anybody may connect and say nothing.
      if (!message && (closed || stop.stop_requested() || Clock::now() >= end)) return;
    }
    const auto hello = worker::from_message<AgentHello>(worker::member(*message, "hello"), "hello");
    const Launcher* const launcher = launcher_of(hello, challenge);
    if (launcher == nullptr) return refuse_stranger("it does not know the token");
    const std::string proof = token_proof(Role::parent, launcher->token, challenge, hello.nonce);
    static_cast<void>(channel.send({{"welcome", proof}}, end));
    channel.take_payloads_up_to(worker::kLargestPayload);
    admit(std::move(channel), hello, launcher);
  } catch (const Error&) {
    refuse_stranger(fmt::format("it says {}", quotation(channel.unread())));
  }
}

void AgentPool::Agents::refuse_stranger(const std::string& why) {
  constexpr int kMostTold = 5;
  const int known = ++strangers_;
  if (known <= kMostTold) refuse(fmt::format("a connection is refused: {}", why));
  if (known == kMostTold) refuse("further refused connections are not reported");
}

void AgentPool::Agents::admit(worker::Channel channel, const AgentHello& hello,
                              const Launcher* launcher) {
  const std::string name = fmt::format("the agent on {}", printable(hello.host));
  try {
    if (hello.program.version != program_.version) {
      throw Error(ErrorCode::failure,
                  fmt::format("it is tune {}, this is {}", printable(hello.program.version),
                              program_.version));
    }
    if (hello.program != program_) {
      throw Error(ErrorCode::failure,
                  fmt::format("it is another build of tune {}", program_.version));
    }
    auto link = std::make_unique<AgentLink>(std::move(channel), name, plan_.heartbeat,
                                            [launcher] { return launcher->words(); });
    AgentOpened opened = opened_by(*link);
    add(std::move(link), hello, std::move(opened));
  } catch (const Error& error) {
    refuse(fmt::format("{} is refused: {}", name, error.what()));
  }
  const std::scoped_lock lock(mutex_);
  ++settled_;
  changed_.notify_all();
}

AgentOpened AgentPool::Agents::opened_by(AgentLink& link) {
  {
    const std::scoped_lock lock(mutex_);
    opening_.push_back(&link);
  }
  const auto over = [&] {
    const std::scoped_lock lock(mutex_);
    std::erase(opening_, &link);
  };
  try {
    AgentOpened opened = link.open(opening_message_);
    over();
    return opened;
  } catch (const Error&) {
    over();
    throw;
  }
}

/// Processors that several agents share are shared out.
int AgentPool::Agents::threads_of(const AgentHello& hello) {
  const int here = ++on_processors_[hello.host + " " + hello.processors];
  const int share = std::max(1, (hello.threads - 1) / here);
  return plan_.compile_threads > 0 ? std::min(plan_.compile_threads, hello.threads) : share;
}

void AgentPool::Agents::add(std::unique_ptr<AgentLink> link, const AgentHello& hello,
                            AgentOpened opened) {
  const std::scoped_lock lock(mutex_);
  for (const std::string& line : opened.notes) {
    tell(fmt::format("{}: {}", link->name(), printable(line)));
  }
  const int threads = std::clamp(threads_of(hello), 1, 256);
  auto agent = std::make_unique<Agent>();
  agent->compiler = std::make_unique<AgentCompiler>(*link, opened.devices.size(),
                                                    static_cast<std::size_t>(threads), family_);
  for (std::size_t lane = 0; lane < opened.devices.size(); ++lane) {
    worker::OpenAnswer& device = opened.devices[lane];
    const bool is_taken =
        !space::runs_on_host(device.device.backend) &&
        std::ranges::any_of(agents_, [&](const auto& other) {
          return !other->link->lost() && std::ranges::any_of(other->cards, [&](const auto& card) {
            return card->device->device().uuid == device.device.uuid;
          });
        });
    if (is_taken) {
      tell(fmt::format("{} is refused: another agent drives {} already", link->name(),
                       device.device.uuid));
      continue;
    }
    agent->cards.push_back(std::make_unique<AgentCard>(
        AgentCard{.name = fmt::format("{}", devices_++),
                  .host = printable(hello.host),
                  .job = printable(hello.job),
                  .device = std::make_unique<AgentDevice>(*link, lane, std::move(device)),
                  .compiler = agent->compiler.get(),
                  .compile_threads = threads}));
  }
  agent->link = std::move(link);
  if (!agent->cards.empty()) agents_.push_back(std::move(agent));
}

void AgentPool::Agents::refuse(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  tell(line);
}

void AgentPool::Agents::tell(const std::string& line) {
  if (begun_) return tell_(line);
  told_.push_back(line);
}

void AgentPool::Agents::note(Launcher& launcher, std::string failure) {
  const std::scoped_lock lock(mutex_);
  tell(fmt::format("{}: {}", launcher.line(), failure));
  launcher.failure = std::move(failure);
  changed_.notify_all();
}

bool AgentPool::Agents::all_settled() const {
  return expected_ == settled_ && std::ranges::all_of(launchers_, [](const auto& launcher) {
           return launcher->has_spoken || !launcher->failure.empty();
         });
}

std::vector<const AgentCard*> AgentPool::Agents::cards() const {
  const std::scoped_lock lock(mutex_);
  std::vector<const AgentCard*> cards;
  for (const auto& agent : agents_) {
    if (agent->link->lost()) continue;
    for (const auto& card : agent->cards) cards.push_back(card.get());
  }
  return cards;
}

void AgentPool::Agents::await_first() {
  constexpr std::chrono::seconds kForTheOthers{2};
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(plan_.patience);
  std::optional<Clock::time_point> first;
  std::unique_lock lock(mutex_);
  while (!all_settled() && Clock::now() < end) {
    if (!agents_.empty() && !first) first = Clock::now();
    if (first && Clock::now() > *first + kForTheOthers) break;
    changed_.wait_for(lock, kBetweenLooks);
  }
  if (!agents_.empty()) {
    begun_ = true;
    for (const std::string& line : told_) tell_(line);
    return;
  }
  std::string said;
  for (const std::string& line : told_) said += "\n  " + line;
  for (const auto& launcher : launchers_) {
    if (!launcher->failure.empty() || launcher->has_spoken) continue;
    const std::string words = printable(launcher->errors.text());
    said += fmt::format("\n  {}: has said {}", launcher->line(),
                        words.empty() ? "nothing" : quotation(words));
  }
  throw Error(ErrorCode::no_device,
              fmt::format("no agent {}:{}",
                          all_settled() ? "could be started"
                                        : fmt::format("within {:.3g} s", plan_.patience.count()),
                          said));
}

AgentPool::AgentPool(AgentPlan plan, const family::Family& family, Tell tell)
    : agents_(std::make_unique<Agents>(std::move(plan), family, std::move(tell))) {}

AgentPool::~AgentPool() = default;

void AgentPool::await_first() {
  agents_->await_first();
}

std::vector<const AgentCard*> AgentPool::cards() const {
  return agents_->cards();
}

}  // namespace tuner::cluster
