// SPDX-License-Identifier: Apache-2.0
// What the tests on a GPU share.
#pragma once

#include "tuner/backend/cuda/cuda_backend.hpp"
#include "tuner/backend/owned.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace tuner::backend {

/// Opens GPU 0. Without one a test is skipped, or fails where TUNER_REQUIRE_GPU is set, so that a
/// run meant for a GPU cannot be green without it.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      backend_ = open_cuda_backend(0);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::no_device || std::getenv("TUNER_REQUIRE_GPU") != nullptr) {
        FAIL() << error.what();
      }
      GTEST_SKIP() << error.what();
    }
  }

  [[nodiscard]] Backend& backend() { return *backend_; }
  void close_backend() { backend_.reset(); }

  template <class Element>
  [[nodiscard]] Buffer upload(const std::vector<Element>& values) {
    Buffer buffer(backend(), values.size() * sizeof(Element));
    backend().write(buffer.id(), std::as_bytes(std::span(values)));
    return buffer;
  }

  template <class Element>
  [[nodiscard]] std::vector<Element> download(const Buffer& buffer) {
    std::vector<Element> values(buffer.size_bytes() / sizeof(Element));
    backend().read(buffer.id(), std::as_writable_bytes(std::span(values)));
    return values;
  }

  [[nodiscard]] LoadedKernel build(const std::string& text, const std::string& entry) {
    family::CompileJob job;
    job.source = {.name = "test.cu", .text = text, .headers = {}};
    job.entries = {entry};
    const auto binary = backend().compiler().compile(job);
    if (!binary) throw Error(ErrorCode::failure, binary.error().message);
    const auto kernel = backend().load(*binary);
    if (!kernel) throw Error(ErrorCode::failure, kernel.error().message);
    return {backend(), *kernel};
  }

 private:
  std::unique_ptr<Backend> backend_;
};

/// The same on a GPU that has tensor maps; on an older one a test is skipped.
class TensorMapTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (backend().device().attributes.compute_capability < 90) {
      GTEST_SKIP() << backend().device().name << " has no tensor maps";
    }
  }
};

/// y[i] = a·x[i] + y[i].
inline const std::string kAxpy = R"(
__global__ void axpy(float a, const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
)";

}  // namespace tuner::backend
