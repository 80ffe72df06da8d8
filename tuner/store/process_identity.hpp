// SPDX-License-Identifier: Apache-2.0
// Internal to store: which process a run belongs to, and whether it still lives.
#pragma once

#include <cstdint>
#include <string>

namespace tuner::store {

/// A process, told apart from every other that has had or will have its number.
struct ProcessIdentity {
  std::string host;
  std::string boot_id;        ///< another after each boot
  std::string pid_namespace;  ///< numbers are compared within one only: a container has its own
  std::int64_t pid = 0;
  std::int64_t start = 0;  ///< clock ticks after the boot
};

[[nodiscard]] ProcessIdentity this_process();

/// Whether the process has certainly ended. False where that cannot be told: on another host, in
/// another container.
[[nodiscard]] bool is_gone(const ProcessIdentity& process);

}  // namespace tuner::store
