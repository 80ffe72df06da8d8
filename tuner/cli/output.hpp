// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tuner::cli {

/// Writes to stderr. That nobody reads it, or that its disk is full, stops nothing.
void tell(std::string_view text) noexcept;

/// Writes to stdout what is still buffered. Throws std::system_error, as fmt::print does, when the
/// result cannot be written.
void flush_result();

}  // namespace tuner::cli
