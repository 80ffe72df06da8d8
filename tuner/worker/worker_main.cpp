// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_main.hpp"

#include "tuner/backend/binary_cache.hpp"
#include "tuner/backend/owned.hpp"
#include "tuner/backend/registry.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/family/data_files.hpp"
#include "tuner/worker/confinement.hpp"
#include "tuner/worker/device_server.hpp"
#include "tuner/worker/evaluator.hpp"
#include "tuner/worker/process_compiler.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace tuner::worker {
namespace {

constexpr int kChannelDescriptor = 3;
constexpr rlim_t kCompileProcessorSeconds = 75;
constexpr std::chrono::seconds kNoDeadline = std::chrono::hours(24);  // the parent has one
constexpr std::chrono::seconds kCheckDeadline{60};

/// Without its parent a worker has no deadlines: it must end.
void die_with_parent() {
  // If the parent is gone already, the channel is closed, and that ends us too.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/// The next request; none when the parent is gone.
std::optional<Json> next_request(Channel& channel) {
  auto arrived = channel.receive(Channel::Clock::time_point::max());
  if (auto* message = std::get_if<Json>(&arrived)) return std::move(*message);
  return std::nullopt;
}

void send(Channel& channel, const Json& message) {
  if (channel.send(message, Channel::Clock::time_point::max()) != Channel::Sending::done) {
    ::_exit(1);  // the parent is gone
  }
}

/// Lets this process use so much more processor time, counted from now: a backstop for a parent
/// that cannot keep the deadline because it is stopped.
void allow_processor_time(rlim_t seconds) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto so_far = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  const rlimit limits{.rlim_cur = so_far + seconds + 1, .rlim_max = RLIM_INFINITY};
  static_cast<void>(::setrlimit(RLIMIT_CPU, &limits));
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// What the first call of the library takes longer than the second: its state, its kernels.
double first_library_call_ms(backend::Backend& backend) {
  const backend::Buffer numbers(backend, 3 * sizeof(float));
  backend.fill(numbers.id(), 0, numbers.size_bytes());
  const backend::LibraryCall call{
      .operation = {.type = family::ElementType::f32, .shape = blas::packed_gemm(1, 1, 1)},
      .operands = {.places = {{{numbers.id(), 0},
                               {numbers.id(), sizeof(float)},
                               {numbers.id(), 2 * sizeof(float)}}}}};
  const auto call_ms = [&] {
    const auto begin = std::chrono::steady_clock::now();
    if (const auto done = backend.run(call); !done) {
      throw Error(ErrorCode::failure,
                  fmt::format("{} cannot multiply numbers: {}", backend.environment().library,
                              done.error().message));
    }
    return milliseconds_since(begin);
  };
  const double first_ms = call_ms();
  return std::max(0.0, first_ms - call_ms());
}

/// Says which devices there are.
void tell_devices(Channel& channel, const std::string& backend_kind) {
  try {
    send(channel, {{"result", to_message(backend::list_devices(backend_kind))}});
  } catch (const Error& error) {
    send(channel, {{"error", to_message(error)}});
  }
}

/// Becomes a compiler of the cpu backend: its assembler would read any file for a kernel.
[[noreturn]] void become_confined(const std::filesystem::path& headers,
                                  std::span<const std::string> command) {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);  // `tune` ignores them
  std::vector<std::filesystem::path> readable = files_needed_by(command.front());
  readable.push_back(headers);
  confine_worker({.readable = std::move(readable)});
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  throw Error(ErrorCode::failure,
              fmt::format("{}: cannot be started: {}", command.front(), std::strerror(errno)));
}

/// What a device's process compiles, such as checks, is kept apart from what other programs load: a
/// kernel of the cpu backend can write there whatever it likes.
std::filesystem::path own_binary_cache() {
  const std::filesystem::path folder = backend::default_binary_cache();
  return folder.empty() ? folder : folder.parent_path() / "checks";
}

/// Where memory runs out, because a kernel takes all of it, the system ends this process first.
void offer_to_free_memory() {
  constexpr int kFirst = 1000;  // proc_pid_oom_score_adj(5)
  std::ofstream("/proc/self/oom_score_adj") << kFirst;
}

/// Opens the device of a confined process. A GPU's driver may have to make device files, by a
/// program that is set-uid, and its kernels are no code of this process. Those of the cpu backend
/// run on threads that it starts.
class ConfinedDevice {
 public:
  ConfinedDevice(const space::BackendTraits& traits, int ordinal, const family::Family& family,
                 const std::filesystem::path& cache)
      : runs_kernels_(traits.runs_on_host) {
    const std::string kind(traits.name);
    if (runs_kernels_) confine_kernels(kind, family, cache);
    const auto begin = std::chrono::steady_clock::now();
    backend_ = backend::open_backend(kind, ordinal);
    device_ms_ = milliseconds_since(begin);
    if (runs_kernels_) {
      limit_kernels();
    } else {
      confine_worker({.writable = folders(cache), .outside = OutsideAccess::kept});
    }
  }

  [[nodiscard]] backend::Backend& backend() { return *backend_; }
  [[nodiscard]] double device_ms() const { return device_ms_; }
  /// Compiles what candidates are checked with.
  [[nodiscard]] const backend::Compiler& compiler() const {
    return compiler_ ? *compiler_ : backend_->compiler();
  }
  /// Before each step: a backstop for a parent that is stopped and keeps no deadline.
  void allow_step() const {
    constexpr rlim_t kSeconds = 3600;  // on each core: DeviceDeadlines::longest
    if (!runs_kernels_) return;
    allow_processor_time(kSeconds * static_cast<rlim_t>(backend_->device().attributes.sm_count));
  }

 private:
  static std::vector<std::filesystem::path> folders(const std::filesystem::path& cache) {
    return cache.empty() ? std::vector<std::filesystem::path>() : std::vector{cache};
  }
  /// The compiler starts before: this process starts none once kernels run.
  void confine_kernels(const std::string& kind, const family::Family& family,
                       const std::filesystem::path& cache) {
    compiler_.emplace(worker_command({"compile", kind, ""}), kCheckDeadline);
    compiler_->start();
    offer_to_free_memory();
    std::vector<std::filesystem::path> readable = files_needed_by(worker_command({}).front());
    std::ranges::move(family::npy_files(family), std::back_inserter(readable));
    if (const auto results = family::results_folder(family); std::filesystem::exists(results)) {
      readable.push_back(results);
    }
    confine_worker({.writable = folders(cache), .readable = std::move(readable)});
  }

  bool runs_kernels_;
  std::optional<ProcessCompiler> compiler_;  // none: the backend's own
  std::unique_ptr<backend::Backend> backend_;
  double device_ms_ = 0;
};

/// Asks the parent, and waits for as long as the program that computes results takes.
verify::ResultsAnswer ask_parent(Channel& channel, const ResultsMessage& message) {
  send(channel, {{"results", to_message(message)}});
  const auto answer = next_request(channel);
  if (!answer) ::_exit(1);  // the parent is gone
  auto reply = from_message<ResultsReply>(*answer, "answer");
  return {.kind = static_cast<verify::ResultsAnswer::Kind>(reply.kind),
          .reason = std::move(reply.reason)};
}

/// The program that computes results, behind the parent.
verify::ResultsProgram results_program(Channel& channel) {
  return {.exchange = environment_variable("TMPDIR"),
          .ask =
              [&channel](const verify::ResultsRequest& request) {
                return ask_parent(channel, {.inputs = request.inputs.string(),
                                            .results = request.results.string(),
                                            .key = {},
                                            .file = {}});
              },
          .keep =
              [&channel](const std::string& key, const std::filesystem::path& file) {
                const auto kept = ask_parent(
                    channel, {.inputs = {}, .results = {}, .key = key, .file = file.string()});
                if (kept.kind == verify::ResultsAnswer::Kind::written) return;
                throw verify::ResultsError(ErrorCode::failure, kept.reason);
              }};
}

int drive_device(Channel& channel, const std::string& backend_kind, int ordinal) {
  const auto first = next_request(channel);
  if (!first) return 0;
  try {
    const auto opening = from_message<OpenRequest>(*first);
    const family::Family family = family_of(opening.family);
    // So that a worker that replaces another is soon at work.
    const std::filesystem::path cache_folder = own_binary_cache();
    backend::BinaryCache cache(cache_folder);
    ConfinedDevice device(backend::backend_traits(backend_kind), ordinal, family, cache_folder);
    backend::Backend& backend = device.backend();
    const backend::CachedCompiler compiler(
        device.compiler(), cache,
        backend::compiler_identity(backend.device(), backend.environment()));
    Evaluator evaluator(backend, compiler, family, opening.seed, [&](const DeviceStep& step) {
      device.allow_step();
      send(channel, {{"step", to_message(step)}});
    });
    DeviceServer server(evaluator, family, DeviceServer::sent_binary);
    server.on(kStartUp, [&](Nothing) {
      const auto peak = backend.peak(family::ElementType::f32);
      return StartUp{.device_ms = device.device_ms(),
                     .library_ms = first_library_call_ms(backend),
                     .peak_bytes_per_s = peak ? peak->bytes_per_s : 0};
    });
    server.on(kMakeResults, [&](const space::Size& size) {
      evaluator.make_results(size, results_program(channel));
      return Nothing{};
    });
    failpoint("worker.device_opened");
    send(channel,
         to_message(OpenAnswer{.device = backend.device(), .environment = backend.environment()}));
    while (const auto request = next_request(channel)) {
      failpoint("worker.request_taken");
      try {
        const Json served = server.serve(*request);
        failpoint("worker.request_served");
        send(channel, served);
      } catch (const Error& error) {
        send(channel, {{"error", to_message(error)}});
      }
    }
  } catch (const Error& error) {
    send(channel, {{"error", to_message(error)}});
  }
  return 0;
}

}  // namespace

void serve_compilations(Channel& channel, const backend::Compiler& compiler) {
  while (const auto request = next_request(channel)) {
    allow_processor_time(kCompileProcessorSeconds);
    failpoint("worker.job_taken");
    try {
      const Json compiled = answer(compiler.compile(from_message<family::CompileJob>(*request)));
      failpoint("worker.job_done");
      send(channel, compiled);
    } catch (const Error& error) {
      send(channel, {{"error", to_message(error)}});
    }
  }
}

int worker_main(std::span<const std::string> arguments) {
  die_with_parent();
  if (arguments.size() > 2 && arguments[0] == "confined") {
    become_confined(arguments[1], arguments.subspan(2));
  }
  Channel channel(kChannelDescriptor);
  if (arguments.size() == 3 && arguments[0] == "compile") {
    confine_worker({});
    serve_compilations(channel, *backend::make_compiler(arguments[1], arguments[2], kNoDeadline));
    return 0;
  }
  if (arguments.size() == 3 && arguments[0] == "device") {
    int ordinal = 0;
    const std::string& text = arguments[2];
    std::from_chars(text.data(), text.data() + text.size(), ordinal);
    return drive_device(channel, arguments[1], ordinal);
  }
  if (arguments.size() == 2 && arguments[0] == "devices") {
    tell_devices(channel, arguments[1]);
    return 0;
  }
  throw Error(ErrorCode::usage,
              "`tune worker` is started by `tune` itself; do not run it directly");
}

}  // namespace tuner::worker
