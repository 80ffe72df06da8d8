// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace tuner {

/// Carries a failure into an Expected: `return Unexpected(failure);`.
template <class E>
class Unexpected {
 public:
  explicit Unexpected(E error) : error_(std::move(error)) {}
  [[nodiscard]] E& error() { return error_; }

 private:
  E error_;
};

/// A value, or why there is none: the part of C++23's std::expected this project needs, under the
/// standard's names (g++ 12 has none in C++20). Accessing the absent side throws
/// std::bad_variant_access.
template <class T, class E>
class [[nodiscard]] Expected {
 public:
  using value_type = T;
  using error_type = E;

  Expected(T value)
      : state_(std::in_place_index<0>, std::move(value)) {
  }                                // NOLINT(google-explicit-constructor): as the standard's
  Expected(Unexpected<E> failure)  // NOLINT(google-explicit-constructor): as the standard's
      : state_(std::in_place_index<1>, std::move(failure.error())) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] E& error() & { return std::get<1>(state_); }
  [[nodiscard]] const E& error() const& { return std::get<1>(state_); }

 private:
  std::variant<T, E> state_;
};

/// Success without a value, or why it failed.
template <class E>
class [[nodiscard]] Expected<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  Expected() = default;
  Expected(Unexpected<E> failure)  // NOLINT(google-explicit-constructor): as the standard's
      : state_(std::in_place_index<1>, std::move(failure.error())) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] E& error() & { return std::get<1>(state_); }
  [[nodiscard]] const E& error() const& { return std::get<1>(state_); }

 private:
  std::variant<std::monostate, E> state_;
};

}  // namespace tuner
