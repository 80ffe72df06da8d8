// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_main.hpp"

#include "tuner/backend/cached_compiler.hpp"
#include "tuner/backend/owned.hpp"
#include "tuner/backend/registry.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/worker/evaluator.hpp"
#include "tuner/worker/message.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tuner::worker {
namespace {

constexpr int kChannelDescriptor = 3;
constexpr rlim_t kCompileProcessorSeconds = 75;
constexpr std::chrono::seconds kNoDeadline = std::chrono::hours(24);  // the parent has one

/// A worker without a parent has nobody to keep its deadlines.
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

void answer(Channel& channel, const Json& message) {
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
  const backend::GemmCall call{.type = family::ElementType::f32,
                               .shape = family::packed_gemm(1, 1, 1),
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

/// Serves requests about one device.
class DeviceServer {
 public:
  /// `device_ms` is what it took to open the backend.
  DeviceServer(Channel& channel, backend::Backend& backend, double device_ms, family::Family family,
               std::uint64_t seed)
      : channel_(channel),
        backend_(backend),
        device_ms_(device_ms),
        family_(std::move(family)),
        cache_(backend::default_binary_cache()),
        compiler_(backend.compiler(), cache_,
                  backend::compiler_identity(backend.device(), backend.environment())),
        evaluator_(backend, compiler_, family_, seed,
                   [this](const DeviceStep& step) { announce(step); }) {}

  [[nodiscard]] Json serve(const Json& request) {
    const auto what = field<std::string>(request, "do");
    if (what == "evaluate") return evaluate(request);
    if (what == "begin_side_by_side") {
      contenders_size_ = field<space::Size>(request, "size");
      evaluator_.begin_side_by_side(contenders_size_);
      return Json::object();
    }
    if (what == "add_contender")
      return result(evaluator_.add_contender(candidate(request, contenders_size_)));
    if (what == "add_library") return result("added", evaluator_.add_library());
    if (what == "time_contender") {
      return result("sample", evaluator_.time_contender(contender(request)));
    }
    if (what == "time_contender_hot") {
      return result("time_ns", evaluator_.time_contender_hot(contender(request)));
    }
    if (what == "time_transfers") return time_transfers(request);
    if (what == "exact_result") {
      return {{"hash", evaluator_.exact_result(field<space::Size>(request, "size"))}};
    }
    if (what == "start_up") {
      return to_message(
          StartUp{.device_ms = device_ms_, .library_ms = first_library_call_ms(backend_)});
    }
    if (what == "other_processes") return {{"processes", evaluator_.other_processes()}};
    throw Error(ErrorCode::failure, fmt::format("a worker cannot '{}'", what));
  }

 private:
  void announce(const DeviceStep& step) {
    answer(channel_, {{"step",
                       {{"size", step.size},
                        {"on_trial", step.on_trial},
                        {"launches", step.launches},
                        {"launch_s", step.launch_s ? Json(*step.launch_s) : Json()},
                        {"source", step.source}}}});
  }

  [[nodiscard]] const space::Space& space(const family::Kernel& kernel, const space::Size& size) {
    const std::pair key(kernel.name, size);
    const auto known = spaces_.find(key);
    if (known != spaces_.end()) return known->second;
    return spaces_.emplace(key, space::Space(kernel.space, evaluator_.device().attributes, size))
        .first->second;
  }

  [[nodiscard]] Candidate candidate(const Json& request, const space::Size& size) {
    const family::Kernel& kernel = family_.kernel(field<std::string>(request, "kernel"));
    return {.kernel = kernel,
            .space = space(kernel, size),
            .config = space::config_from_json(*kernel.space, field<std::string>(request, "config")),
            .binary = binary_from(field<Json>(request, "binary"))};
  }

  [[nodiscard]] Json evaluate(const Json& request) {
    const auto size = field<space::Size>(request, "size");
    const bool has_best = !field<Json>(request, "best_ns").is_null();
    return to_message(evaluator_.evaluate(
        candidate(request, size), size,
        has_best ? std::optional(field<double>(request, "best_ns")) : std::nullopt));
  }

  [[nodiscard]] Json time_transfers(const Json& request) {
    std::vector<measure::HostPlace> places;
    for (const Json& name : field<std::vector<Json>>(request, "places")) {
      const auto place =
          name.is_string() ? measure::host_place(name.get<std::string>()) : std::nullopt;
      if (!place) throw Error(ErrorCode::failure, "a message names no place of the host");
      places.push_back(*place);
    }
    return result("times", evaluator_.time_transfers(contender(request), places));
  }

  [[nodiscard]] static std::size_t contender(const Json& request) {
    return field<std::uint64_t>(request, "contender");
  }

  [[nodiscard]] static Json as_json(const backend::Sample& sample) { return to_message(sample); }
  [[nodiscard]] static Json as_json(const measure::TransferTimes& times) {
    return to_message(times);
  }
  [[nodiscard]] static Json as_json(double number) { return number; }
  [[nodiscard]] static Json as_json(bool answer) { return answer; }
  template <class T>
  [[nodiscard]] static Json result(const char* what, const Expected<T, Failure>& timed) {
    if (!timed) return {{"failure", to_message(timed.error())}};
    return {{what, as_json(*timed)}};
  }
  [[nodiscard]] static Json result(const Expected<void, Failure>& done) {
    if (!done) return {{"failure", to_message(done.error())}};
    return Json::object();
  }

  Channel& channel_;
  backend::Backend& backend_;
  double device_ms_;
  family::Family family_;
  backend::BinaryCache cache_;  // so that a worker that replaces another is soon at work
  backend::CachedCompiler compiler_;
  Evaluator evaluator_;
  space::Size contenders_size_;
  std::map<std::pair<std::string, space::Size>, space::Space> spaces_;
};

int drive_device(Channel& channel, const std::string& backend_kind, int ordinal) {
  const auto opening = next_request(channel);
  if (!opening) return 0;
  try {
    const auto begin = std::chrono::steady_clock::now();
    const auto backend = backend::open_backend(backend_kind, ordinal);
    const double device_ms = milliseconds_since(begin);
    DeviceServer server(channel, *backend, device_ms, family_from(field<Json>(*opening, "family")),
                        field<std::uint64_t>(*opening, "seed"));
    failpoint("worker.device_opened");
    answer(channel, {{"device", to_message(backend->device())},
                     {"environment", to_message(backend->environment())}});
    while (const auto request = next_request(channel)) {
      failpoint("worker.request_taken");
      try {
        const Json served = server.serve(*request);
        failpoint("worker.request_served");
        answer(channel, served);
      } catch (const Error& error) {
        answer(channel, {{"error", to_message(error)}});
      }
    }
  } catch (const Error& error) {
    answer(channel, {{"error", to_message(error)}});
  }
  return 0;
}

}  // namespace

void serve_compilations(Channel& channel, const backend::Compiler& compiler) {
  while (const auto request = next_request(channel)) {
    allow_processor_time(kCompileProcessorSeconds);
    failpoint("worker.job_taken");
    try {
      const Json compiled = to_message(compiler.compile(compile_job_from(*request)));
      failpoint("worker.job_done");
      answer(channel, compiled);
    } catch (const Error& error) {
      answer(channel, {{"error", to_message(error)}});
    }
  }
}

int worker_main(std::span<const std::string> arguments) {
  die_with_parent();
  Channel channel(kChannelDescriptor);
  if (arguments.size() == 3 && arguments[0] == "compile") {
    serve_compilations(channel, *backend::make_compiler(arguments[1], arguments[2], kNoDeadline));
    return 0;
  }
  if (arguments.size() == 3 && arguments[0] == "device") {
    int ordinal = 0;
    const std::string& text = arguments[2];
    std::from_chars(text.data(), text.data() + text.size(), ordinal);
    return drive_device(channel, arguments[1], ordinal);
  }
  throw Error(ErrorCode::usage,
              "`tune worker` is started by `tune` itself and is of no use by hand");
}

}  // namespace tuner::worker
