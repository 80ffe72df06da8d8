// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"

#include <string>
#include <string_view>

namespace tuner::cli {

/// Has the standard streams that this process was started without lead to /dev/null: else the next
/// file that it opens would take their place, and be written to. A result still cannot be written
/// where there was no stdout. Before anything else is opened.
void open_missing_streams();

/// Writes to stderr. That nobody reads it, or that its disk is full, stops nothing.
void tell(std::string_view text) noexcept;

/// A result document as it is printed. Bytes that are no UTF-8, as in the name of a file or in a
/// compiler's words, are replaced: a reader of JSON would refuse the whole document.
[[nodiscard]] std::string json_text(const Json& document);

/// Writes to stdout what is still buffered. Throws std::system_error, as fmt::print does, when the
/// result cannot be written.
void flush_result();

}  // namespace tuner::cli
