// SPDX-License-Identifier: Apache-2.0
// Records: structs that name their fields once, in `static constexpr auto fields()`, a tuple of
// Field; a struct that adds to a record declares them anew. Columns of the database, lines of `tune
// export`, dispatch tables, messages between processes and `--json` follow from these names.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tuner {

/// A member of a record and its name wherever the record is written.
template <class Struct, class Member>
struct Field {
  using Type = Member;

  constexpr Field(std::string_view its_name, Member Struct::*its_member)
      : Field(its_name, its_member, its_name) {}
  constexpr Field(std::string_view its_name, Member Struct::*its_member, std::string_view its_key)
      : name(its_name), member(its_member), key(its_key) {}

  std::string_view name;
  Member Struct::*member;
  std::string_view key;  ///< in JSON documents for users: `name`, where these call it no other way
};

template <class T>
concept Record = requires { T::fields(); };

/// Calls `visit(field)` for each field, in the order of their declaration.
template <Record T, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, T::fields());
}

template <class T>
inline constexpr bool kIsOptionalRecord = false;
template <Record T>
inline constexpr bool kIsOptionalRecord<std::optional<T>> = true;

}  // namespace tuner
