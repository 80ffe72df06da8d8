// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/interrupt.hpp"

#include <csignal>
#include <unistd.h>

namespace tuner::cli {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t received =
    0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void on_signal(int signal) {
  if (received != 0) ::_exit(128 + signal);
  received = signal;
}

void handle(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, handler);
}

}  // namespace

Interrupt::Interrupt() {
  received = 0;
  handle(on_signal);
}

Interrupt::~Interrupt() {
  handle(SIG_DFL);
}

bool Interrupt::requested() const {
  return received != 0;
}

std::optional<int> Interrupt::exit_code() const {
  if (received == 0) return std::nullopt;
  return 128 + static_cast<int>(received);
}

}  // namespace tuner::cli
