// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner::cli {

/// A C++ header that holds a document: `inline std::string NAME()` returns it. Of
/// C++11 and above, in literals short enough for every compiler. `subject` says in a comment what
/// the document is. Throws Error(usage) unless the name is an identifier.
[[nodiscard]] std::string table_header(std::string_view document, std::string_view name,
                                       std::string_view subject);

}  // namespace tuner::cli
