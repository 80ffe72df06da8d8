// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/candidate.hpp"
#include "tuner/store/records.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// What to paste to use a configuration.
class Snippet {
 public:
  /// Throws Error(usage) when the stored kernel can no longer be understood.
  Snippet(const KernelRecord& record, const DeviceInfo& device, std::string_view config_json,
          const std::vector<std::int64_t>& size);

  /// C++ that launches the kernel: geometry, opt-in to large shared memory, the call.
  [[nodiscard]] std::string cpp() const;
  /// "-DTILE_M=64 -DTILE_N=128 …": every parameter as a compiler definition.
  [[nodiscard]] std::string compiler_arguments() const;

 private:
  std::string entry_;
  std::string source_name_;
  Geometry geometry_;
  std::vector<std::string> arguments_;    // names, in the order of the call
  std::vector<std::string> options_;      // of the compilation
  std::vector<std::string> definitions_;  // -DNAME=value, every parameter
};

}  // namespace tuner::cli
