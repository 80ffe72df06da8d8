// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner::report {

/// A text compressed by gzip, in base64: what a page holds until a reader opens it.
[[nodiscard]] std::string compressed(std::string_view text);

}  // namespace tuner::report
