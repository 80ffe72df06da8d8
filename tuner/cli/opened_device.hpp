// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cached_compiler.hpp"
#include "tuner/cli/commands.hpp"
#include "tuner/family/family.hpp"
#include "tuner/worker/device_process.hpp"

#include <cstdint>
#include <memory>

namespace tuner::cli {

/// The device that the options name, driven by a process of its own, and the compiler for it, which
/// runs in others and remembers what it compiled unless the options say no.
class OpenedDevice {
 public:
  /// The family must outlive it; `seed` makes the inputs of checks. Throws as DeviceProcess and
  /// make_isolated_compiler do, and Error(usage) for a duration that is none.
  OpenedDevice(const DeviceOptions& options, const family::Family& family, std::uint64_t seed);

  [[nodiscard]] worker::DeviceProcess& device() { return device_; }
  [[nodiscard]] const backend::Compiler& compiler() const;

 private:
  worker::DeviceProcess device_;
  std::unique_ptr<const backend::Compiler> isolated_;
  backend::BinaryCache cache_;
  backend::CachedCompiler cached_;
  bool no_cache_;
};

}  // namespace tuner::cli
