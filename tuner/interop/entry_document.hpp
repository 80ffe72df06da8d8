// SPDX-License-Identifier: Apache-2.0
// Module interop: files of other tools: T1, T4, caches of Kernel Tuner, KTT; read and written, and
// recordings made of them.
//
// Internal to interop: JSON documents of other tools, which are a head and one long list of
// results.
#pragma once

#include "tuner/core/json.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::interop {

/// A document whose long list is kept apart, in the order of the file: as members of an ordered
/// object, each of its hundred thousand entries would be compared with all before it.
struct EntryDocument {
  Json head;                                          ///< the other members
  std::string list;                                   ///< the name of the list; empty: it has none
  std::vector<std::pair<std::string, Json>> entries;  ///< the names are empty in an array
};

/// Parses an object of which one member, an object or an array, is a list called as one of `lists`.
/// `NaN` and `Infinity`, which Python writes, are read as null and 1e308. Throws Error(usage) with
/// `origin`, line and column; so it does when nested deeper than 32 or when another object than the
/// list has more than 1024 members.
[[nodiscard]] EntryDocument parse_entry_document(std::string_view text,
                                                 std::span<const std::string_view> lists,
                                                 std::string_view origin);

}  // namespace tuner::interop
