// SPDX-License-Identifier: Apache-2.0
// Sweeps over sizes (`tune bench --json --range …`), which a page shows.
#pragma once

#include "tuner/core/json.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tuner::report {

/// The part of a document "tune.sweep/2" that the page reads (Sweep in reports/src/document.ts),
/// without messages, which may name folders. Throws Error(usage), beginning with `origin`, when the
/// text is no such document.
[[nodiscard]] Json parse_sweep(std::string_view text, std::string_view origin);

/// The name of the device that a sweep is about: the one that data travel to.
[[nodiscard]] std::string sweep_device(const Json& sweep);

/// The document of a page (report_document) about a device's sweeps alone.
[[nodiscard]] Json sweep_document(const std::string& device_name, std::span<const Json> sweeps);

}  // namespace tuner::report
