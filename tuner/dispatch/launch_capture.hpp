// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/executor.hpp"
#include "tuner/capture/captured_family.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/family_table.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

namespace tuner::dispatch {

/// A launch and what its buffers hold before and after it.
class LaunchCapture {
 public:
  /// Before the launch, whose arguments are the family's. Waits for the work on the stream. Throws
  /// Error(usage) where the buffers have more than `limit_bytes`, and DispatchError where they
  /// cannot be read.
  LaunchCapture(backend::Executor& executor, const FamilyTable& family, const space::Size& size,
                std::span<const DispatchArgument> arguments, backend::StreamHandle stream,
                std::uint64_t limit_bytes);
  /// After the launch. Waits for it and returns the space file. Throws as capture::write_capture,
  /// and DispatchError where a result cannot be read.
  [[nodiscard]] std::filesystem::path write(const std::filesystem::path& folder);

 private:
  void add(const ArgumentInfo& info, const DispatchArgument& argument);
  [[nodiscard]] std::vector<std::byte> read(const ArgumentInfo& info,
                                            const DispatchArgument& argument);

  backend::Executor& executor_;
  const FamilyTable& family_;
  std::span<const DispatchArgument> arguments_;
  backend::StreamHandle stream_;
  std::vector<ArgumentInfo> infos_;
  capture::FamilyLaunch launch_;
};

}  // namespace tuner::dispatch
