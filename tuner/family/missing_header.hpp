// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner::family {

/// What to do about a header that g++ or NVRTC says it cannot find, as a line of its own behind the
/// compiler's message; empty when the message is about something else.
[[nodiscard]] std::string missing_header_hint(std::string_view message);

}  // namespace tuner::family
