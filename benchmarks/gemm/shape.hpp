// SPDX-License-Identifier: Apache-2.0
// The problems of a suite file (format suite/1) as the benchmark sees them.
#pragma once

#include "tuner/core/element_type.hpp"
#include "tuner/family/family.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::gemm_benchmark {

/// Row-major C = op(A)·op(B), `batch` times. A is m×k, and stored k×m where it is transposed.
struct Shape {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  std::int64_t trans_a = 0, trans_b = 0;   ///< 0 or 1
  std::int64_t lda = 1, ldb = 1, ldc = 1;  ///< elements from one stored row to the next
  std::int64_t align = 4;  ///< units of 4 bytes to which all three begin aligned: 1, 2, 4
  ElementType type = ElementType::f32;    ///< of A and B
  ElementType result = ElementType::f32;  ///< of C

  bool operator==(const Shape&) const = default;
};

/// A matrix as it lies in memory.
struct StoredMatrix {
  std::int64_t rows = 1, columns = 1, ld = 1;

  /// Elements from one matrix of a batch to the next.
  [[nodiscard]] std::int64_t stride() const { return rows * ld; }
};
[[nodiscard]] StoredMatrix matrix_a(const Shape& shape);
[[nodiscard]] StoredMatrix matrix_b(const Shape& shape);
[[nodiscard]] StoredMatrix matrix_c(const Shape& shape);

/// Bytes after a 256-byte boundary at which each matrix begins, so that it is aligned to `align`
/// units of 4 bytes and to no more.
[[nodiscard]] std::int64_t offset_bytes(const Shape& shape);

/// What the types are called: "f32", "bf16", "bf16_f32" (bf16 with C in f32), "s8" (C in s32),
/// "e4m3" (C in bf16) …
[[nodiscard]] std::string_view type_name(const Shape& shape);
/// Gives a shape the types of that name. False where there is none.
[[nodiscard]] bool set_type(Shape& shape, std::string_view name);
/// Every such name.
[[nodiscard]] std::vector<std::string> type_names();

[[nodiscard]] double flops(const Shape& shape);
/// Bytes that must move: each input read once, each output written once.
[[nodiscard]] double bytes(const Shape& shape);
/// Bytes that the three operands occupy.
[[nodiscard]] std::int64_t operand_bytes(const Shape& shape);

/// Operand sets to rotate among, so that what a launch reads has left a cache of `l2_bytes` since
/// it was used last: three times the cache, at least 2 sets and at most 1024.
[[nodiscard]] std::size_t operand_sets(const Shape& shape, std::int64_t l2_bytes);

/// "1024,1024,1024" or "1024x1024x1024,TRANS_B=1,LDA=1032,TYPE=bf16". Throws Error(usage).
[[nodiscard]] Shape parse_shape(std::string_view text);
/// The same form; names only what differs from its default.
[[nodiscard]] std::string display(const Shape& shape);

/// A shape and the group of the suite it stands in.
struct SuiteShape {
  std::string group;
  Shape shape;
};

/// The shapes of a suite in its order, or of one of its groups when `group` is not empty. Throws
/// Error(usage) that names the place; a shape that appears twice is a mistake.
[[nodiscard]] std::vector<SuiteShape> parse_suite(std::string_view text, std::string_view origin,
                                                  std::string_view group);
/// Reads "FILE" or "FILE:GROUP".
[[nodiscard]] std::vector<SuiteShape> read_suite(std::string_view place);

/// The shape as a size of the family. Dimensions that a shape does not have, such as the element
/// type, get their defaults. None when the shape needs a dimension that the family lacks.
[[nodiscard]] std::optional<space::Size> size_of(const Shape& shape,
                                                 const family::Problem& problem);

}  // namespace tuner::gemm_benchmark
