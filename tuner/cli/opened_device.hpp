// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/cli/commands.hpp"
#include "tuner/cli/model_cards.hpp"
#include "tuner/family/family.hpp"
#include "tuner/session/session.hpp"
#include "tuner/worker/open_devices.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tuner::cli {

/// Devices of one model, each driven by a process of its own, and the compiler for them, which runs
/// in others and remembers what it compiled unless the options say no.
class OpenedDevice {
 public:
  /// The one device that the options name. The family must outlive it; `seed` makes the inputs of
  /// checks. Throws as chosen_devices, DeviceProcess and make_isolated_compiler do, and
  /// Error(usage) for a duration that is none or several devices.
  OpenedDevice(const DeviceOptions& options, const family::Family& family, std::uint64_t seed);

  /// Every device that the options name, by model, in the order of their first devices. Of several
  /// one that cannot be opened is left out, with a line on stderr that says why. A run may compile
  /// `compile_threads` configurations at a time. Throws as the constructor does, the last reason
  /// when none can be opened.
  [[nodiscard]] static std::vector<std::unique_ptr<OpenedDevice>> open_all(
      const DeviceOptions& options, const family::Family& family, std::uint64_t seed,
      int compile_threads);

  /// The first of them.
  [[nodiscard]] worker::DeviceProcess& device() { return *processes_.front(); }
  [[nodiscard]] ModelCards model() {
    return {.device = &device(), .cards = [this] { return cards_; }};
  }
  [[nodiscard]] const backend::Compiler& compiler() const;

 private:
  OpenedDevice(const DeviceOptions& options, std::vector<worker::NamedDevice> devices,
               int compile_threads);

  [[nodiscard]] static std::vector<worker::NamedDevice> open(const DeviceOptions& options,
                                                             const family::Family& family,
                                                             std::uint64_t seed);
  [[nodiscard]] static std::vector<worker::NamedDevice> open_one(const DeviceOptions& options,
                                                                 const family::Family& family,
                                                                 std::uint64_t seed);

  std::vector<std::unique_ptr<worker::DeviceProcess>> processes_;
  std::vector<session::Card> cards_;
  std::unique_ptr<const backend::Compiler> isolated_;
  backend::BinaryCache cache_;
  backend::CachedCompiler cached_;
  bool no_cache_;
};

/// One less than the cores, but at least 1: what may compile while another thread waits for the
/// device.
[[nodiscard]] int spare_cores();

/// What to warn of where other programs use the device at this moment.
[[nodiscard]] std::vector<std::string> other_users(worker::DeviceWorker& device);

}  // namespace tuner::cli
