// SPDX-License-Identifier: Apache-2.0
// Module store: what is kept in SQLite: runs, trials, final rounds, best configurations,
// explanations; migrations and queries. It knows no device and no option of the program.
//
// Best configurations as canonical JSON lines, to carry them from one machine to another.
#pragma once

#include "tuner/store/records.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tuner::store {

/// One best as a line of format "tune.best/2", without the newline: keys sorted, so that the same
/// best is the same line. It carries a checksum of itself. Of the kernel only the name and the hash
/// are in it.
[[nodiscard]] std::string best_line(const StoredBest& stored);

/// What is published of a best's origin: a file's name, not where it lies.
[[nodiscard]] std::string published_origin(const BestRecord& best);

/// The lines of a file, of format "tune.best/2" or "tune.best/1" (without checksum and run).
/// Each best comes back as not verified. Its `run_uuid` is the line's or, in /1, made of what
/// was measured, so that the same line always gives the same one.
///
/// Throws Error(usage) with `origin` and the line's number for anything that is not as best_line
/// writes it: another format, a missing or unknown key, a value of the wrong type or out of range,
/// a checksum that does not fit.
[[nodiscard]] std::vector<StoredBest> parse_best_lines(std::string_view text,
                                                       std::string_view origin);

}  // namespace tuner::store
