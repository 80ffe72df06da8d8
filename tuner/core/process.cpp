// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/process.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <mutex>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tuner {
namespace {

constexpr int kChannel = 3;

[[noreturn]] void fail_to_start(const std::string& program, int error) {
  throw Error(ErrorCode::failure,
              fmt::format("{}: cannot be started: {}", program, std::strerror(error)));
}

/// As the system takes a list of texts, which must outlive it.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// What a child needs. Each by its name: tokens and passwords of the user, whatever their names
/// begin with, do not reach a kernel.
constexpr std::string_view kNeeded[] = {
    // programs, libraries, headers, messages and temporary files of any program
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE",
    "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "TMPDIR", "TERM", "LD_LIBRARY_PATH",
    // what injects a library (injecting_variable)
    "LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
    // workers, and the program that tests/kill has
    "TUNER_SANDBOX", "TUNER_HOST_CXX", "TUNER_CPU_DEVICES", "TUNER_CPU_NAME",
    "TUNER_CUDA_ARCHITECTURE", "TUNER_PARENT", "XDG_CACHE_HOME", "TUNER_KILL_AT",
    "TUNER_KILL_LATCH", "TUNER_KILL_TRACE",
    // compilers; of ccache where it and the compiler are, not its remote storage
    "COMPILER_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
    "GCC_EXEC_PREFIX", "CCACHE_DISABLE", "CCACHE_DIR", "CCACHE_CONFIGPATH", "CCACHE_COMPILER",
    "CCACHE_PATH",
    // CUDA: which devices, the toolkit, how the driver loads and runs kernels
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_PATH", "CUDA_CACHE_DISABLE",
    "CUDA_CACHE_PATH", "CUDA_CACHE_MAXSIZE", "CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_PTX_JIT",
    "CUDA_FORCE_JIT", "CUDA_DISABLE_JIT", "CUDA_MODULE_LOADING", "CUDA_MODULE_DATA_LOADING",
    "CUDA_BINARY_LOADER_THREAD_COUNT", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_MAX_COPY_CONNECTIONS", "CUDA_SCALE_LAUNCH_QUEUES", "CUDA_AUTO_BOOST",
    "CUDA_DISABLE_PERF_BOOST", "CUDA_MANAGED_FORCE_DEVICE_ALLOC", "CUDA_LOG_FILE",
    "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
    "CUDA_MPS_ENABLE_PER_CTX_DEVICE_MULTIPROCESSOR_PARTITIONING",
    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "CUDA_MPS_CLIENT_PRIORITY", "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE",
    // what BLAS libraries compute with, and on how many threads
    "CUBLAS_WORKSPACE_CONFIG", "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION",
    "CUBLAS_EMULATION_STRATEGY", "CUBLAS_LOGINFO_DBG", "CUBLAS_LOGDEST_DBG", "OPENBLAS_NUM_THREADS",
    "OPENBLAS_DEFAULT_NUM_THREADS", "OPENBLAS_MAIN_FREE", "OPENBLAS_CORETYPE",
    "OPENBLAS_THREAD_TIMEOUT", "OPENBLAS_VERBOSE", "GOTO_NUM_THREADS", "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "OMP_MAX_ACTIVE_LEVELS", "OMP_PROC_BIND", "OMP_PLACES",
    "OMP_SCHEDULE", "OMP_STACKSIZE", "OMP_WAIT_POLICY", "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT",
    "GOMP_STACKSIZE", "MKL_NUM_THREADS", "MKL_DYNAMIC", "MKL_THREADING_LAYER",
    "MKL_INTERFACE_LAYER", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS",
    // sanitizers
    "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"};

/// Profilers (Nsight Compute and Nsight Systems) inject a library, whose settings are variables of
/// names that are not documented: where none is injected, they are not needed.
constexpr std::string_view kOfProfilers[] = {"CUPTI_", "NVTX_", "NVLOG_", "NV_", "NSYS_", "QUADD_"};

bool is_passed_on(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  if (std::ranges::find(kNeeded, name) != std::end(kNeeded)) return true;
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return !injecting_variable().empty() && std::ranges::any_of(kOfProfilers, begins);
}

bool is_passed_on_to_bare(std::string_view variable) {
  constexpr std::string_view kNames[] = {"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "TMPDIR"};
  return std::ranges::find(kNames, variable.substr(0, variable.find('='))) != std::end(kNames);
}

bool is_passed_on(std::string_view variable, Surroundings surroundings) {
  switch (surroundings) {
    case Surroundings::reduced:
      return is_passed_on(variable);
    case Surroundings::bare:
      return is_passed_on_to_bare(variable);
    case Surroundings::users:
      break;
  }
  return true;
}

/// What of this program's environment a child gets, its TMPDIR replaced unless the path is empty.
std::vector<std::string> environment(const ProcessLimits& limits) {
  const std::filesystem::path& temporary_files = limits.temporary_files;
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const bool is_replaced = !temporary_files.empty() && variable.starts_with("TMPDIR=");
    if (is_passed_on(variable, limits.surroundings) && !is_replaced) {
      variables.emplace_back(variable);
    }
  }
  if (!temporary_files.empty()) variables.push_back("TMPDIR=" + temporary_files.string());
  return variables;
}

/// What is done in the child between fork and exec.
class SpawnPlan {
 public:
  SpawnPlan(const ProcessStreams& streams, Surroundings surroundings) {
    posix_spawn_file_actions_init(&actions_);
    lead(STDIN_FILENO, streams.input);
    lead(STDOUT_FILENO, streams.output);
    lead(STDERR_FILENO, streams.errors);
    if (streams.channel >= 0) lead(kChannel, streams.channel);
    // What an application or a shell has open without O_CLOEXEC is none of the child's business.
    if (surroundings != Surroundings::users) {
      posix_spawn_file_actions_addclosefrom_np(&actions_,
                                               streams.channel >= 0 ? kChannel + 1 : kChannel);
    }
    posix_spawnattr_init(&attributes_);
    // The child starts with no signal ignored or blocked, whatever its parent did.
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  [[nodiscard]] pid_t start(const std::vector<std::string>& arguments,
                            const ProcessLimits& limits) const {
    const std::vector<std::string> variables = environment(limits);
    const std::vector<char*> argv = pointers(arguments);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, argv[0], &actions_, &attributes_, argv.data(),
                                     pointers(variables).data());
    if (error != 0) fail_to_start(arguments.front(), error);
    return pid;
  }

 private:
  void lead(int descriptor, int to) {
    if (to < 0) {
      const int mode = descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY;
      posix_spawn_file_actions_addopen(&actions_, descriptor, "/dev/null", mode, 0);
    } else {
      posix_spawn_file_actions_adddup2(&actions_, to, descriptor);
    }
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// The children that this program started and has not reaped; a child that is not among them is an
/// orphan that a child left behind.
class StartedChildren {
 public:
  [[nodiscard]] static StartedChildren& instance() {
    static StartedChildren children;
    return children;
  }

  /// Starts one while no search for orphans is in progress.
  template <class Start>
  [[nodiscard]] pid_t start(Start start) {
    const std::scoped_lock lock(mutex_);
    const pid_t pid = start();
    pids_.insert(pid);
    return pid;
  }

  void adopt_orphans() {
    const std::scoped_lock lock(mutex_);
    adopts_ = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  }

  void kill_all() {
    const std::scoped_lock lock(mutex_);
    for (const pid_t pid : pids_) ::kill(-pid, SIGKILL);
  }

  /// One was reaped: what it left behind ends too. An orphan's own children come here when it ends.
  void reaped(pid_t pid) {
    const std::scoped_lock lock(mutex_);
    pids_.erase(pid);
    constexpr int kMostRounds = 64;
    for (int round = 0; adopts_ && round < kMostRounds && kill_orphans(); ++round) {
    }
  }

 private:
  /// Whether there were any. The kernel gives them to the first thread of the process.
  [[nodiscard]] bool kill_orphans() const {
    std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
    std::vector<pid_t> orphans;
    for (pid_t pid = 0; list >> pid;) {
      if (!pids_.contains(pid)) orphans.push_back(pid);
    }
    for (const pid_t pid : orphans) {
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    return !orphans.empty();
  }

  std::mutex mutex_;
  bool adopts_ = false;
  std::set<pid_t> pids_;
};

void limit(pid_t pid, __rlimit_resource resource, rlim_t value) {
  const rlimit limits{.rlim_cur = value, .rlim_max = value};
  // It may have ended already; then there is nothing to limit.
  static_cast<void>(::prlimit(pid, resource, &limits, nullptr));
}

}  // namespace

std::string ProcessEnd::text() const {
  if (signal == 0) return fmt::format("ended with exit code {}", exit_code);
  return fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const ProcessStreams& streams,
                           const ProcessLimits& limits)
    : pid_(StartedChildren::instance().start(
          [&] { return SpawnPlan(streams, limits.surroundings).start(arguments, limits); })) {
  limit(pid_, RLIMIT_CORE, 0);
  if (limits.processor_time) {
    limit(pid_, RLIMIT_CPU, static_cast<rlim_t>(limits.processor_time->count()));
  }
  if (limits.file_bytes) limit(pid_, RLIMIT_FSIZE, *limits.file_bytes);
  if (limits.address_space_bytes) limit(pid_, RLIMIT_AS, *limits.address_space_bytes);
}

ChildProcess::~ChildProcess() {
  if (!end_ && kill()) static_cast<void>(wait());
}

void ChildProcess::ask_to_end() const {
  if (!end_) ::kill(-pid_, SIGTERM);
}

bool ChildProcess::kill() const {
  return end_ || ::kill(-pid_, SIGKILL) == 0 || errno != EPERM;
}

ProcessEnd ChildProcess::wait() {
  if (end_) return *end_;
  // If other code of the application reaps its children, or SIGCHLD is ignored, the exit status is
  // not known: the caller judges by the output.
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return ended(status);
}

std::optional<ProcessEnd> ChildProcess::poll_end() {
  if (end_) return end_;
  int status = 0;
  const pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
  const bool is_gone = reaped < 0 && errno == ECHILD;
  return reaped == pid_ || is_gone ? std::optional(ended(status)) : std::nullopt;
}

ProcessEnd ChildProcess::ended(int status) {
  end_ = WIFSIGNALED(status)
             ? ProcessEnd{.exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)}
             : ProcessEnd{.exit_code = WEXITSTATUS(status), .signal = 0};
  StartedChildren::instance().reaped(pid_);
  return *end_;
}

void adopt_orphans() {
  StartedChildren::instance().adopt_orphans();
}

void kill_children() {
  StartedChildren::instance().kill_all();
}

namespace {

/// The file of a descriptor under a number that is none of the first ones, where an application has
/// closed those: they are replaced in the child one after the other.
int above_the_first(int descriptor) {
  constexpr int kLeast = 10;
  if (descriptor < 0 || descriptor >= kLeast) return descriptor;
  const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kLeast);
  ::close(descriptor);
  return higher;
}

/// A pipe whose ends are closed with it.
class Pipe {
 public:
  explicit Pipe(const std::string& program) {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail_to_start(program, errno);
    for (int& end : ends_) end = above_the_first(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    close_writer();
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// A text as a file without a name, from its begin: unlike a pipe it takes all of it at once.
class InputFile {
 public:
  explicit InputFile(std::string_view text)
      : descriptor_(above_the_first(::memfd_create("input", MFD_CLOEXEC))) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;  // then the program finds less than it was to
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    ::lseek(descriptor_, 0, SEEK_SET);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { ::close(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds deadline, const ProcessLimits& limits,
                          const ProcessTexts& texts) {
  using Clock = std::chrono::steady_clock;
  Pipe pipe(arguments.front());
  std::optional<InputFile> input;
  if (!texts.input.empty()) input.emplace(texts.input);
  ChildProcess child(arguments,
                     {.input = input ? input->descriptor() : -1,
                      .output = pipe.writer(),
                      .errors = texts.keeps_errors ? pipe.writer() : -1},
                     limits);
  pipe.close_writer();
  ProcessResult result;
  std::array<char, 16384> buffer{};
  const auto end = Clock::now() + deadline;
  bool open = true;  // some process may still write to us
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) {
      child.kill();
      result.timed_out = true;
      result.exit_code = child.wait().exit_code;
      return result;
    }
    if (open) {
      pollfd waiting{.fd = pipe.reader(), .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
      const ssize_t got = ::read(pipe.reader(), buffer.data(), buffer.size());
      open = got > 0;
      if (!open) continue;
      const std::size_t room = texts.most_output_bytes - result.output.size();
      result.output.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
    } else if (const auto ended = child.poll_end()) {
      result.exit_code = ended->exit_code;
      return result;
    } else {
      // Output is closed but the program runs on: rare, so looking now and then is enough.
      ::usleep(1'000);
    }
  }
}

}  // namespace tuner
