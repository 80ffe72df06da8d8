// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/cpu_backend.hpp"
#include "tuner/source/read_source.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace tuner {
namespace {

using Matrix = std::vector<float>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kGuard = 64;  // elements behind each matrix
constexpr float kUntouched = 12345.0f;

struct Size {
  int m, n, k;
};

/// A kernel and what its launch needs to know.
struct Configuration {
  std::string file, entry;
  int tile_m, tile_n, block_x, block_y, shared_floats;
};

Configuration naive(int block_x, int block_y) {
  return {"gemm_naive.cu",
          fmt::format("gemm_naive<float,float,0,0,{},{}>", block_x, block_y),
          block_y,
          block_x,
          block_x,
          block_y,
          0};
}

Configuration shared(int tile_m, int tile_n, int tile_k, int block_x, int block_y, int unroll,
                     int pad, int vec) {
  return {"gemm_shared.cu",
          fmt::format("gemm_shared<float,float,{},{},{},{},{},{},{},{}>", tile_m, tile_n, tile_k,
                      block_x, block_y, unroll, pad, vec),
          tile_m,
          tile_n,
          block_x,
          block_y,
          tile_m * (tile_k + pad) + tile_k * (tile_n + pad)};
}

void PrintTo(const Configuration& configuration, std::ostream* out) {
  *out << configuration.entry;
}

/// Small integers: every partial sum is exact in float, whatever the order.
Matrix integers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> value(-4, 4);
  Matrix matrix(count);
  for (float& x : matrix) x = static_cast<float>(value(random));
  return matrix;
}

Matrix reference(const Size& size, float alpha, const Matrix& a, const Matrix& b, float beta,
                 const Matrix& c) {
  const auto [m, n, k] = size;
  Matrix result(c.size());
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += static_cast<double>(a[static_cast<std::size_t>(i * k + p)]) *
               static_cast<double>(b[static_cast<std::size_t>(p * n + j)]);
      }
      const auto at = static_cast<std::size_t>(i * n + j);
      const double old = beta == 0 ? 0 : static_cast<double>(beta) * static_cast<double>(c[at]);
      result[at] = static_cast<float>(static_cast<double>(alpha) * sum + old);
    }
  }
  return result;
}

class GemmKernel : public testing::TestWithParam<Configuration> {
 protected:
  void SetUp() override {
    family::CompileJob job;
    job.source = source::read_kernel_source(TUNER_SOURCE_DIR "/kernels/gemm/" + GetParam().file);
    job.entries = {GetParam().entry};
    const auto binary = backend_->compiler().compile(job);
    ASSERT_TRUE(binary) << binary.error().message;
    const auto kernel = backend_->load(*binary);
    ASSERT_TRUE(kernel) << kernel.error().message;
    kernel_ = *kernel;
  }

  /// alpha·A·B + beta·C by the kernel. Behind A and B lie NaN, which must not be read; behind C
  /// lies what must not be overwritten.
  Matrix run(const Size& size, float alpha, Matrix a, Matrix b, float beta, Matrix c) {
    const std::size_t elements = c.size();
    a.insert(a.end(), kGuard, kNaN);
    b.insert(b.end(), kGuard, kNaN);
    c.insert(c.end(), kGuard, kUntouched);
    const backend::BufferId buffer_a = upload(a), buffer_b = upload(b), buffer_c = upload(c);
    const auto& configuration = GetParam();
    const auto blocks = [](int extent, int tile) {
      return static_cast<std::uint32_t>((extent + tile - 1) / tile);
    };
    const auto done = backend_->run(backend::Launch{
        .kernel = kernel_,
        .steps = {
            {.geometry = {.grid = {blocks(size.n, configuration.tile_n),
                                   blocks(size.m, configuration.tile_m), 1},
                          .block = {static_cast<std::uint32_t>(configuration.block_x),
                                    static_cast<std::uint32_t>(configuration.block_y), 1},
                          .dynamic_shared_bytes =
                              static_cast<std::uint32_t>(configuration.shared_floats) * 4},
             .arguments = {family::Scalar(size.m), family::Scalar(size.n), family::Scalar(size.k),
                           family::Scalar(alpha), buffer_a, family::Scalar(size.k), buffer_b,
                           family::Scalar(size.n), family::Scalar(beta), buffer_c,
                           family::Scalar(size.n), family::Scalar(std::int64_t{0}),
                           family::Scalar(std::int64_t{0}), family::Scalar(std::int64_t{0})}}}});
    EXPECT_TRUE(done) << done.error().message;
    backend_->read(buffer_c, std::as_writable_bytes(std::span(c)));
    for (const backend::BufferId buffer : {buffer_a, buffer_b, buffer_c}) backend_->release(buffer);
    EXPECT_THAT(std::span(c).subspan(elements), testing::Each(kUntouched)) << "wrote behind C";
    c.resize(elements);
    return c;
  }

  void expect_exact(const Size& size, float alpha, float beta) {
    SCOPED_TRACE(fmt::format("{}x{}x{} alpha {} beta {}", size.m, size.n, size.k, alpha, beta));
    const auto count = [](int rows, int cols) { return static_cast<std::size_t>(rows * cols); };
    const Matrix a = integers(count(size.m, size.k), 1), b = integers(count(size.k, size.n), 2);
    const Matrix c =
        beta == 0 ? Matrix(count(size.m, size.n), kNaN) : integers(count(size.m, size.n), 3);
    EXPECT_EQ(run(size, alpha, a, b, beta, c), reference(size, alpha, a, b, beta, c));
  }

 private:
  backend::BufferId upload(const Matrix& matrix) {
    const backend::BufferId buffer = backend_->allocate(matrix.size() * sizeof(float));
    backend_->write(buffer, std::as_bytes(std::span(matrix)));
    return buffer;
  }

  std::unique_ptr<backend::Backend> backend_ = backend::open_cpu_backend();
  backend::KernelId kernel_{};
};

TEST_P(GemmKernel, IsExactOnSmallIntegersAtAwkwardSizes) {
  const auto& [file, entry, tile_m, tile_n, block_x, block_y, shared_floats] = GetParam();
  const std::vector<Size> sizes = {
      {1, 1, 1},
      {1, 131, 7},
      {127, 1, 64},
      {31, 37, 41},
      {48, 40, 64},
      {36, 72, 20},
      {tile_m, tile_n, 32},
      {tile_m - 1, tile_n - 1, 31},
      {tile_m + 1, tile_n + 1, 33},
      {2 * tile_m + 4, tile_n + 4, 2},
  };
  for (Size size : sizes) {
    size.m = std::max(size.m, 1);
    expect_exact(size, 1.0f, 0.0f);
    expect_exact(size, 3.0f, -2.0f);
  }
}

TEST_P(GemmKernel, TreatsZeroFactorsAsBlasDoes) {
  const Size size{67, 45, 33};
  const Matrix a(67 * 33, kNaN), b(33 * 45, kNaN), c = integers(67 * 45, 3);
  EXPECT_EQ(run(size, 0.0f, a, b, 1.0f, c), c) << "alpha 0 reads neither A nor B";
  EXPECT_EQ(run(size, 0.0f, a, b, 0.0f, Matrix(67 * 45, kNaN)), Matrix(67 * 45, 0.0f))
      << "beta 0 does not read C";
}

INSTANTIATE_TEST_SUITE_P(Naive, GemmKernel, testing::Values(naive(16, 16), naive(32, 1)));

INSTANTIATE_TEST_SUITE_P(
    Shared, GemmKernel,
    testing::Values(shared(16, 16, 16, 16, 16, 16, 0, 1),  // one element a thread
                    shared(64, 64, 16, 16, 16, 4, 0, 4),   // vectors everywhere
                    shared(32, 64, 8, 16, 8, 8, 1, 4),     // rows in shared memory not aligned
                    shared(64, 32, 32, 8, 8, 2, 2, 2),     // vectors of two
                    shared(128, 128, 32, 8, 8, 1, 0, 4),   // k-tiles too large to prefetch
                    shared(36, 96, 8, 32, 3, 1, 4, 1),     // threads do not divide the k-tiles
                    shared(8, 8, 8, 4, 2, 8, 0, 2)));      // less than a warp

}  // namespace
}  // namespace tuner
