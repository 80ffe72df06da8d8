// SPDX-License-Identifier: Apache-2.0
// A catalogue as text, format dispatch/1: all that answers need, and no more.
#pragma once

#include "tuner/select/catalogue.hpp"

#include <string>
#include <string_view>

namespace tuner {

[[nodiscard]] std::string catalogue_json(const Catalogue& catalogue);

/// Reads such a text; `origin`, a path say, begins messages. The catalogue ranks as the one that
/// was written. Throws Error(usage) when the text is not one of ours.
[[nodiscard]] Catalogue parse_catalogue(std::string_view text, std::string_view origin);

}  // namespace tuner
