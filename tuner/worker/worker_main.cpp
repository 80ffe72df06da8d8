// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_main.hpp"

#include "tuner/backend/cached_compiler.hpp"
#include "tuner/backend/owned.hpp"
#include "tuner/backend/registry.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/worker/agent_main.hpp"
#include "tuner/worker/confinement.hpp"
#include "tuner/worker/device_server.hpp"
#include "tuner/worker/evaluator.hpp"

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
  const backend::LibraryCall call{.operation = {.shape = family::packed_gemm(1, 1, 1)},
                                  .a = {numbers.id(), 0},
                                  .b = {numbers.id(), sizeof(float)},
                                  .c = {numbers.id(), 2 * sizeof(float)}};
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

/// Becomes a compiler of the cpu backend.
[[noreturn]] void become_confined(std::span<const std::string> command) {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);  // `tune` ignores them
  confine_worker({}, OutsideAccess::refused);
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

int drive_device(Channel& channel, const std::string& backend_kind, int ordinal) {
  const auto first = next_request(channel);
  if (!first) return 0;
  try {
    const auto opening = from_message<OpenRequest>(*first);
    // So that a worker that replaces another is soon at work.
    const std::filesystem::path cache_folder = own_binary_cache();
    backend::BinaryCache cache(cache_folder);
    // Kernels run on threads that the cpu backend starts. A GPU's driver may have to make device
    // files, by a program that is set-uid, and kernels are no code of this process.
    const bool runs_kernels = backend::backend_traits(backend_kind).runs_kernels_in_process;
    if (runs_kernels) offer_to_free_memory();
    if (runs_kernels) confine_worker(cache_folder, OutsideAccess::refused);
    const auto begin = std::chrono::steady_clock::now();
    const auto backend = backend::open_backend(backend_kind, ordinal);
    const double device_ms = milliseconds_since(begin);
    if (!runs_kernels) confine_worker(cache_folder, OutsideAccess::kept);
    const family::Family family = family_of(opening.family);
    const backend::CachedCompiler compiler(
        backend->compiler(), cache,
        backend::compiler_identity(backend->device(), backend->environment()));
    Evaluator evaluator(*backend, compiler, family, opening.seed, [&](const DeviceStep& step) {
      send(channel, {{"step", to_message(step)}});
    });
    DeviceServer server(evaluator, family, DeviceServer::sent_binary);
    server.on(kStartUp, [&](Nothing) {
      const auto peak = backend->peak(family::ElementType::f32);
      return StartUp{.device_ms = device_ms,
                     .library_ms = first_library_call_ms(*backend),
                     .peak_bytes_per_s = peak ? peak->bytes_per_s : 0};
    });
    failpoint("worker.device_opened");
    send(channel, to_message(OpenAnswer{.device = backend->device(),
                                        .environment = backend->environment()}));
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
  if (arguments.size() == 1 && arguments[0] == "node") return agent_main();
  die_with_parent();
  if (arguments.size() > 1 && arguments[0] == "confined") become_confined(arguments.subspan(1));
  Channel channel(kChannelDescriptor);
  if (arguments.size() == 3 && arguments[0] == "compile") {
    confine_worker({}, OutsideAccess::refused);
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
