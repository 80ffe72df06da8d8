// SPDX-License-Identifier: Apache-2.0
// Products drawn at random: by a dispatcher with a table, by one without, and by the library alone.
// Where no kernel takes a call all three have the same bits; a kernel's result is within the bound
// of its sums.
#include "tests/cublas/gemm_family.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/blas/gemm_types.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/gemm.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::dispatch {
namespace {

constexpr int kCalls = 600;
constexpr std::uint64_t kSeed = 55;

/// The family "gemm" of these tests, with a kernel that one compilation of a type has for all
/// layouts, and with the limit of batches of spaces/gemm.json.
std::string space_of_all_layouts() {
  std::string text = cublas::kGemmSpace;
  const auto replace = [&](std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("${TRANS_A},${TRANS_B},", "");
  replace(R"("value": "LDC"})", R"("value": "LDC"},
    {"name": "trans_a", "type": "int", "value": "TRANS_A"},
    {"name": "trans_b", "type": "int", "value": "TRANS_B"})");
  replace(
      R"("flops": )",
      R"("constraints": [{"expr": "BATCH <= 65535", "why": "gridDim.z is at most 65535"}], "flops": )");
  return text;
}
constexpr const char* kSourceOfAllLayouts = R"cuda(
#include <cuda_bf16.h>
template <class Matrix, class Result, class Sum, int kRows>
__global__ void plain(int M, int N, int K, Sum alpha, const Matrix* A, int lda, const Matrix* B,
                      int ldb, Sum beta, Result* C, int ldc, int trans_a, int trans_b) {
  A += blockIdx.z * (long long)(trans_a ? K : M) * lda;
  B += blockIdx.z * (long long)(trans_b ? N : K) * ldb;
  C += blockIdx.z * (long long)M * ldc;
  for (int m = blockIdx.x * kRows; m < M && m < (blockIdx.x + 1) * kRows; ++m) {
    for (int n = 0; n < N; ++n) {
      Sum sum = 0;
      for (int k = 0; alpha != 0 && k < K; ++k) {
        sum += Sum(trans_a ? A[(long long)k * lda + m] : A[(long long)m * lda + k]) *
               Sum(trans_b ? B[(long long)n * ldb + k] : B[(long long)k * ldb + n]);
      }
      C[(long long)m * ldc + n] =
          Result(alpha * sum + (beta == 0 ? Sum(0) : beta * Sum(C[(long long)m * ldc + n])));
    }
  }
}
)cuda";

std::vector<Tuned> tuned_layouts() {
  std::vector<Tuned> all;
  for (const char* size :
       {"3,5,8", "3,5,8,TRANS_B=1", "8,5,3,TRANS_A=1", "8,5,3,TRANS_A=1,TRANS_B=1",
        "5,8,17,TYPE=f64", "8,8,8,TRANS_B=1,TYPE=bf16", "5,3,17,TYPE=s8"}) {
    all.push_back({.size = size,
                   .kernel = "plain",
                   .config = R"({"ROWS":2})",
                   .median_ns = 1e6,
                   .ratio_to_library = 8,
                   .family = "gemm",
                   .space = space_of_all_layouts(),
                   .source = kSourceOfAllLayouts});
  }
  return all;
}

/// The matrices of a batch in memory.
struct Matrices {
  ElementType type = ElementType::f32;
  blas::MatrixLayout layout;
  std::int64_t batch = 1;
  std::size_t first = 0;  ///< of the elements
  std::vector<std::byte> bytes = {};

  [[nodiscard]] std::byte* data() { return bytes.data() + first * element_bytes(type); }
  [[nodiscard]] std::size_t place(std::int64_t matrix, std::int64_t row,
                                  std::int64_t column) const {
    const std::int64_t in_it = layout.rows > 1 ? row * layout.ld : 0;
    return first + static_cast<std::size_t>(matrix * layout.stride + in_it + column);
  }
  void allocate() {
    const std::int64_t rows = layout.rows > 1 ? (layout.rows - 1) * layout.ld : 0;
    const std::int64_t last = (batch - 1) * layout.stride + rows + layout.columns;
    bytes.resize((first + static_cast<std::size_t>(std::max<std::int64_t>(last, 1))) *
                 element_bytes(type));
  }
  void set(std::size_t at, double number) {
    const std::uint64_t bits = bits_of(type, number);
    std::memcpy(bytes.data() + at * element_bytes(type), &bits, element_bytes(type));
  }
  [[nodiscard]] double get(std::size_t at) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at * element_bytes(type), element_bytes(type));
    return number_of(type, bits);
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::int64_t matrix = 0; matrix < batch; ++matrix) {
      for (std::int64_t row = 0; row < layout.rows; ++row) {
        for (std::int64_t column = 0; column < layout.columns; ++column) {
          visit(matrix, row, column);
        }
      }
    }
  }
};

/// A call, drawn.
struct Call {
  GemmProblem problem;
  double alpha = 1, beta = 0;
  Matrices a, b, c;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[random_() % values.size()];
  }
  bool in(std::uint64_t rarely) { return random_() % rarely == 0; }

  Call call() {
    Call call;
    GemmProblem& it = call.problem;
    using enum GemmType;
    it.type = one_of({f32, f32, f32, f64, bf16, s8, f16_f32, tf32, e4m3});
    it.trans_a = one_of({Transpose::no, Transpose::yes});
    it.trans_b = one_of({Transpose::no, Transpose::yes});
    it.m = extent(), it.n = extent(), it.k = extent();
    it.batch = one_of<std::int64_t>({1, 1, 1, 2, 3, 0});
    if (in(40)) it.m = it.n = it.k = 1, it.batch = 65'536;
    if (in(20)) it.epilogue.activation = Activation::relu;
    const bool is_whole = it.type == s8;
    call.alpha = one_of({0.0, 1.0, -2.0, is_whole ? 3.0 : 0.5});
    call.beta = one_of({0.0, 0.0, 1.0, is_whole ? 2.0 : -0.75});
    const blas::GemmTypeRow& types = blas::kGemmTypeRows.at(static_cast<std::size_t>(it.type));
    call.a = matrices(types.matrices, it.m, it.k, it.trans_a, it.lda, it.stride_a, it.batch, true);
    call.b = matrices(types.matrices, it.k, it.n, it.trans_b, it.ldb, it.stride_b, it.batch, true);
    call.c =
        matrices(types.result, it.m, it.n, Transpose::no, it.ldc, it.stride_c, it.batch, false);
    fill(call.a, call.alpha != 0);
    fill(call.b, call.alpha != 0);
    fill(call.c, call.beta != 0);
    return call;
  }

 private:
  std::int64_t extent() { return one_of<std::int64_t>({0, 1, 1, 2, 3, 5, 8, 17, 40}); }

  /// Writes what the problem says of them, too.
  Matrices matrices(ElementType type, std::int64_t rows, std::int64_t columns, Transpose transpose,
                    std::int64_t& ld, std::optional<std::int64_t>& stride, std::int64_t batch,
                    bool may_be_one) {
    if (transpose == Transpose::yes) std::swap(rows, columns);
    const std::int64_t shortest = std::max<std::int64_t>(columns, 1);
    std::int64_t row = shortest + one_of<std::int64_t>({0, 0, 1, 3});
    ld = row == shortest ? 0 : row;
    if (rows <= 1 && batch == 1 && in(4)) ld = row = (std::int64_t{1} << 31) + 5;
    std::int64_t step = rows * row;
    if (in(4)) stride = step = step + 7;
    if (may_be_one && in(6)) stride = step = 0;
    Matrices result{.type = type,
                    .layout = {.rows = rows, .columns = columns, .ld = row, .stride = step},
                    .batch = batch,
                    .first = static_cast<std::size_t>(one_of({0, 0, 1, 3}))};
    if (batch == 1) result.layout.stride = rows * row;
    if (batch > 0) result.allocate();
    return result;
  }

  /// What must not be read, and what lies between the elements, is NaN.
  void fill(Matrices& matrices, bool is_read) {
    if (!is_floating(matrices.type)) {
      std::ranges::fill(matrices.bytes, std::byte{0x55});
    } else {
      for (std::size_t i = 0; i < elements_in(matrices.type, matrices.bytes.size()); ++i) {
        matrices.set(i, std::numeric_limits<double>::quiet_NaN());
      }
    }
    if (!is_read) return;
    matrices.for_each([&](std::int64_t matrix, std::int64_t row, std::int64_t column) {
      const auto number = static_cast<double>(random_() % 201) - 100;
      matrices.set(matrices.place(matrix, row, column),
                   is_floating(matrices.type) ? number / 64 : std::floor(number / 8));
    });
  }

  std::mt19937_64 random_;
};

std::string text_of(const Call& call) {
  const GemmProblem& it = call.problem;
  return fmt::format(
      "{} {}x{}x{} trans {}{} ld {},{},{} batch {} strides {},{},{} alpha {} beta {}",
      blas::kGemmTypeRows.at(static_cast<std::size_t>(it.type)).name, it.m, it.n, it.k,
      static_cast<int>(it.trans_a), static_cast<int>(it.trans_b), it.lda, it.ldb, it.ldc, it.batch,
      it.stride_a.value_or(-1), it.stride_b.value_or(-1), it.stride_c.value_or(-1), call.alpha,
      call.beta);
}

/// What a call left in C, or why it was refused.
struct Ran {
  bool operator==(const Ran&) const = default;
  Matrices c;
  std::string error;
};
bool operator==(const Matrices& one, const Matrices& other) {
  return one.bytes == other.bytes;
}

Ran run(Dispatcher& dispatcher, Call call) {
  try {
    gemm(dispatcher, nullptr, call.problem, call.alpha, call.a.data(), call.b.data(), call.beta,
         call.c.data());
    return {call.c, ""};
  } catch (const DispatchError& error) {
    return {call.c, error.what()};
  }
}

/// Nothing is to do where C has no elements.
Ran run(backend::Executor& executor, Call call) {
  const GemmProblem& it = call.problem;
  if (it.m == 0 || it.n == 0 || it.batch == 0) return {call.c, ""};
  const blas::GemmTypeRow& types = blas::kGemmTypeRows.at(static_cast<std::size_t>(it.type));
  const blas::GemmShape shape = {.m = it.m,
                                 .n = it.n,
                                 .k = it.k,
                                 .trans_a = it.trans_a,
                                 .trans_b = it.trans_b,
                                 .batch = it.batch,
                                 .a = call.a.layout,
                                 .b = call.b.layout,
                                 .c = call.c.layout};
  const auto done =
      executor.run_library({.type = types.matrices, .result = types.result, .shape = shape},
                           {.alpha = call.alpha,
                            .beta = call.beta,
                            .places = {{call.a.data(), call.b.data(), call.c.data()}}},
                           nullptr);
  return {call.c, done ? "" : done.error().message};
}

/// Expects each element within the bound of a sum of k products in its type, in any order, and
/// everything else as it was.
void expect_product(const Call& call, const Ran& ran) {
  const GemmProblem& it = call.problem;
  const blas::GemmTypeRow& types = blas::kGemmTypeRows.at(static_cast<std::size_t>(it.type));
  const double sums = static_cast<double>(it.k + 3) * unit_roundoff(types.factors);
  Matrices rest = ran.c;
  call.c.for_each([&](std::int64_t matrix, std::int64_t m, std::int64_t n) {
    double sum = 0, magnitudes = 0;
    for (std::int64_t k = 0; call.alpha != 0 && k < it.k; ++k) {
      const bool ta = it.trans_a == Transpose::yes, tb = it.trans_b == Transpose::yes;
      const double product = call.a.get(call.a.place(matrix, ta ? k : m, ta ? m : k)) *
                             call.b.get(call.b.place(matrix, tb ? n : k, tb ? k : n));
      sum += call.alpha * product;
      magnitudes += std::abs(call.alpha * product);
    }
    const std::size_t at = call.c.place(matrix, m, n);
    const double old = call.beta == 0 ? 0 : call.beta * call.c.get(at);
    const double right = sum + old;
    const double bound = 1.01 * sums * (magnitudes + std::abs(old)) +
                         1.01 * unit_roundoff(types.result) * std::abs(right);
    EXPECT_LE(std::abs(ran.c.get(at) - right), bound) << matrix << ", " << m << ", " << n;
    std::memcpy(rest.bytes.data() + at * element_bytes(rest.type),
                call.c.bytes.data() + at * element_bytes(rest.type), element_bytes(rest.type));
  });
  EXPECT_EQ(rest.bytes, call.c.bytes) << "between the elements of C";
}

TEST(RandomProducts, AreTheSameWithATableAsWithoutWhereNoKernelTakesThem) {
  const auto executor = backend::open_executor("cpu", 0);
  const TemporaryDirectory folder;
  TunedDatabase database(executor->device(), executor->environment());
  database.add_all(tuned_layouts());
  DispatchOptions options;
  options.backend = "cpu";
  options.cache = folder.path() / "binaries";
  Dispatcher without(Table::none(), options), with(Table::database(database.path()), options);
  Draw draw(kSeed);
  int by_kernel = 0, by_library = 0, refused = 0;
  for (int i = 0; i < kCalls && !testing::Test::HasFailure(); ++i) {
    const Call call = draw.call();
    SCOPED_TRACE(fmt::format("call {}: {}", i, text_of(call)));
    const Ran tabled = run(with, call), plain = run(without, call);
    if (!plain.error.empty()) {
      ++refused;
      EXPECT_EQ(tabled.error, plain.error);
      EXPECT_THROW(static_cast<void>(find_gemm(with, call.problem)), DispatchError);
      continue;
    }
    EXPECT_TRUE(plain == run(*executor, call)) << "other bits than the library alone";
    EXPECT_EQ(tabled.error, "");
    const auto entry = find_gemm(with, call.problem);
    const bool is_kernel = entry && !with.answer(entry->family, entry->size).kernel.empty();
    ++(is_kernel ? by_kernel : by_library);
    if (is_kernel) {
      expect_product(call, tabled);
    } else {
      EXPECT_TRUE(tabled == plain) << "other bits than without a table";
    }
    expect_product(call, plain);
  }
  if (testing::Test::HasFailure()) return;
  EXPECT_GT(by_kernel, 50);
  EXPECT_GT(by_library, 100);
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace tuner::dispatch
