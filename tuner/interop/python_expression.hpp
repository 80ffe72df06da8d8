// SPDX-License-Identifier: Apache-2.0
// Internal to interop: expressions of a space file in Python, for T1.
#pragma once

#include "tuner/space/space.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tuner::interop {

/// Writes a kernel's expressions as Python, over its parameters alone: derived values are written
/// out, and dimensions and attributes of the device become numbers.
class PythonWriter {
 public:
  /// `size` has a number for every dimension. The definition must outlive the writer.
  PythonWriter(const space::SpaceDefinition& definition, const space::DeviceAttributes& device,
               std::span<const std::int64_t> size);

  /// An expression that is Python over parameters already stays as it is. Throws Error(usage) for
  /// log2, which has no like in Python, and for what is no expression of the kernel.
  [[nodiscard]] std::string write(std::string_view expression) const;

 private:
  [[nodiscard]] bool is_python(const space::Expression& expression) const;
  [[nodiscard]] std::string slot_text(std::size_t slot) const;
  class Nodes;

  const space::SpaceDefinition& definition_;
  space::ExpressionValues base_;  // device attributes and dimensions
};

}  // namespace tuner::interop
