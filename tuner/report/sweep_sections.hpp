// SPDX-License-Identifier: Apache-2.0
// The part of the page about a sweep over sizes (`tune bench --json --range …`).
#pragma once

#include "tuner/core/json.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tuner::report {

/// Reads a document "tune.sweep/2". Throws Error(usage), beginning with `origin`, when the text is
/// none.
[[nodiscard]] Json parse_sweep(std::string_view text, std::string_view origin);

/// The name of the device that a sweep is about: the one that data travel to.
[[nodiscard]] std::string sweep_device(const Json& sweep);

/// {"family", "verdict", "sections": […]}: who is fastest at which size, without and with the
/// transfers, where the time goes, the device over the processor, by how much the others are
/// slower, what is paid once.
[[nodiscard]] Json sweep_part(const Json& sweep);

/// The document of a page (report_document) about a device's sweeps alone.
[[nodiscard]] Json sweep_document(const std::string& device_name, std::span<const Json> sweeps);

}  // namespace tuner::report
