// SPDX-License-Identifier: Apache-2.0
// Strict reading of a JSON document: every mistake is an Error(usage) that names its place.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/space/expression.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::family {

/// A value of a document and where it stands. Does not own the document.
class DocumentNode {
 public:
  /// The root; messages begin with `origin`, a path say.
  DocumentNode(const Json& json, std::string origin) : json_(&json), origin_(std::move(origin)) {}

  [[nodiscard]] const Json& json() const { return *json_; }
  /// "spaces/gemm.json: kernels.gemm_shared".
  [[nodiscard]] std::string where() const;
  /// Throws Error(usage): where, then `what`.
  [[noreturn]] void fail(std::string_view what) const;

  /// Fails unless this is an object that has no other keys than these; names all that it has.
  void expect_keys(std::initializer_list<std::string_view> keys) const;
  /// The member of an object; none when it is absent.
  [[nodiscard]] std::optional<DocumentNode> find(std::string_view key) const;
  /// The member of an object; fails when it is absent.
  [[nodiscard]] DocumentNode at(std::string_view key) const;
  /// The members of an object in the order of the file; fails on a key that is not is_word().
  [[nodiscard]] std::vector<std::pair<std::string, DocumentNode>> named_members() const;
  /// The elements of an array, of which there must be at least `minimum` and at most `maximum`.
  [[nodiscard]] std::vector<DocumentNode> elements(std::size_t minimum, std::size_t maximum) const;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string name() const;  ///< a text that is_word()
  [[nodiscard]] std::int64_t integer(std::int64_t minimum, std::int64_t maximum) const;
  [[nodiscard]] double number() const;  ///< finite, with or without a fraction
  [[nodiscard]] bool boolean() const;
  /// A text compiled against `scope`, or an integer.
  [[nodiscard]] space::Expression expression(const space::Scope& scope) const;

 private:
  DocumentNode(const Json& json, std::string origin, std::string path)
      : json_(&json), origin_(std::move(origin)), path_(std::move(path)) {}
  [[nodiscard]] DocumentNode member(std::string_view key, const Json& json) const;
  [[noreturn]] void fail_type(std::string_view wanted) const;

  const Json* json_;
  std::string origin_;
  std::string path_;  // "kernels.gemm_shared.launch.grid[1]"; empty for the root
};

}  // namespace tuner::family
