// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/interrupt.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <unistd.h>

namespace tuner::cli {
namespace {

// A signal handler can reach nothing but a global; the threads of a run read it.
std::atomic<int> received = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int signal) {
  if (received.exchange(signal) != 0) ::_exit(128 + signal);
  // What runs may take minutes, such as a slow reference.
  constexpr std::string_view kNotice = "\nending after what runs now; once more to end at once\n";
  const int before = errno;
  static_cast<void>(!::write(STDERR_FILENO, kNotice.data(), kNotice.size()));
  errno = before;
}

}  // namespace

Interrupt::Interrupt() {
  received = 0;
  struct sigaction ours {};
  ours.sa_handler = on_signal;
  ours.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &ours, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
}

bool Interrupt::requested() const {
  return received != 0;
}

std::optional<int> Interrupt::exit_code() const {
  const int signal = received;
  if (signal == 0) return std::nullopt;
  return 128 + signal;
}

}  // namespace tuner::cli
