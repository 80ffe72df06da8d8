// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/family/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tuner::family {
namespace {

/// The widest access of a kernel, of which an offset tells whether it may be used.
constexpr std::uint64_t kWidestAccessBytes = 16;

std::int64_t value_at(const space::Expression& expression, std::string_view name,
                      std::string_view key, const space::ExpressionValues& values) {
  const auto value = expression.evaluate(values);
  if (value && *value >= 0) return *value;
  throw Error(
      ErrorCode::usage,
      fmt::format("argument '{}': its {} \"{}\" {}", name, key, expression.text(),
                  value ? fmt::format("is {}", *value)
                        : fmt::format("has no value: {}", tuner::space::name(value.error()))));
}

}  // namespace

std::size_t alignment_bytes(const BufferArgument& buffer, std::string_view name,
                            const space::ExpressionValues& values) {
  const std::size_t element_bytes = size_bytes(buffer.type.at(values));
  const std::uint64_t offset_bytes =
      static_cast<std::uint64_t>(value_at(buffer.offset, name, "offset", values)) * element_bytes;
  if (!buffer.align) {
    if (buffer.offset.text() == "0") return element_bytes;
    if (offset_bytes == 0) return kWidestAccessBytes;
    return std::min(offset_bytes & (~offset_bytes + 1), kWidestAccessBytes);
  }
  const auto align = static_cast<std::uint64_t>(value_at(*buffer.align, name, "align", values));
  if (!std::has_single_bit(align) || align < element_bytes || align > kMostAlignmentBytes) {
    throw Error(ErrorCode::usage,
                fmt::format("argument '{}': its align \"{}\" is {}; it must be a power of two from "
                            "{}, the bytes of an element, to {}",
                            name, buffer.align->text(), align, element_bytes, kMostAlignmentBytes));
  }
  if (offset_bytes % align != 0) {
    throw Error(
        ErrorCode::usage,
        fmt::format("argument '{}': its offset \"{}\" is {} bytes, not a multiple of its align, {}",
                    name, buffer.offset.text(), offset_bytes, align));
  }
  return align;
}

}  // namespace tuner::family
