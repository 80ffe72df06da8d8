// SPDX-License-Identifier: Apache-2.0
// A program that is linked to cuBLAS: which calls are taken, which are passed on, and how.
#include "tests/cublas/preloaded.hpp"
#include "tests/cublas/standin.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>
#include <cmath>
#include <thread>

namespace tuner::cublas {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kM = 6, kN = 5, kK = 4;
constexpr const char* kSize = "5,6,4";  // by rows, where M and N change places

/// C = 2·A·B + C of whole numbers by cublasSgemm_v2, which a test changes one thing of.
struct Call {
  cublasHandle_t handle = nullptr;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  int m = kM, n = kN, k = kK, batch = 1;
  float alpha = 2, beta = 1;
  std::vector<float> a, b, c, right;
  int lda, ldb, ldc;
  long long stride_a, stride_b, stride_c;

  explicit Call(cublasOperation_t trans_a = CUBLAS_OP_N, cublasOperation_t trans_b = CUBLAS_OP_N,
                int number = 1, int padding = 0)
      : op_a(trans_a),
        op_b(trans_b),
        batch(number),
        lda((trans_a == CUBLAS_OP_N ? kM : kK) + padding),
        ldb((trans_b == CUBLAS_OP_N ? kK : kN) + padding),
        ldc(kM + padding),
        stride_a(static_cast<long long>(lda) * (trans_a == CUBLAS_OP_N ? kK : kM)),
        stride_b(static_cast<long long>(ldb) * (trans_b == CUBLAS_OP_N ? kN : kK)),
        stride_c(static_cast<long long>(ldc) * kN) {
    cublasCreate_v2(&handle);
    a.resize(static_cast<std::size_t>(stride_a * batch));
    b.resize(static_cast<std::size_t>(stride_b * batch));
    c.assign(static_cast<std::size_t>(stride_c * batch), 1);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
    right = c;
    for (int z = 0; z < batch; ++z) {
      for (int i = 0; i < kM * kN; ++i) {
        const int row = i % kM, column = i / kM;
        for (int l = 0; l < kK; ++l) {
          const auto at_a = z * stride_a + (op_a == CUBLAS_OP_N ? row + l * lda : l + row * lda);
          const auto at_b =
              z * stride_b + (op_b == CUBLAS_OP_N ? l + column * ldb : column + l * ldb);
          right[static_cast<std::size_t>(z * stride_c + row + column * ldc)] +=
              2 * a[static_cast<std::size_t>(at_a)] * b[static_cast<std::size_t>(at_b)];
        }
      }
    }
  }
  ~Call() { cublasDestroy_v2(handle); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  cublasStatus_t sgemm() {
    return cublasSgemm_v2(handle, op_a, op_b, m, n, k, &alpha, a.data(), lda, b.data(), ldb, &beta,
                          c.data(), ldc);
  }
  cublasStatus_t sgemm_64() {
    return cublasSgemm_v2_64(handle, op_a, op_b, m, n, k, &alpha, a.data(), lda, b.data(), ldb,
                             &beta, c.data(), ldc);
  }
  cublasStatus_t batched() {
    return cublasSgemmStridedBatched(handle, op_a, op_b, m, n, k, &alpha, a.data(), lda, stride_a,
                                     b.data(), ldb, stride_b, &beta, c.data(), ldc, stride_c,
                                     batch);
  }
  cublasStatus_t batched_64() {
    return cublasSgemmStridedBatched_64(handle, op_a, op_b, m, n, k, &alpha, a.data(), lda,
                                        stride_a, b.data(), ldb, stride_b, &beta, c.data(), ldc,
                                        stride_c, batch);
  }
  cublasStatus_t ex(cudaDataType type = CUDA_R_32F,
                    cublasComputeType_t compute = CUBLAS_COMPUTE_32F,
                    cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT) {
    return cublasGemmEx(handle, op_a, op_b, m, n, k, &alpha, a.data(), type, lda, b.data(), type,
                        ldb, &beta, c.data(), type, ldc, compute, algorithm);
  }
  cublasStatus_t ex_64() {
    return cublasGemmEx_64(handle, op_a, op_b, m, n, k, &alpha, a.data(), CUDA_R_32F, lda, b.data(),
                           CUDA_R_32F, ldb, &beta, c.data(), CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT);
  }
  cublasStatus_t batched_ex() {
    return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, &alpha, a.data(), CUDA_R_32F,
                                      lda, stride_a, b.data(), CUDA_R_32F, ldb, stride_b, &beta,
                                      c.data(), CUDA_R_32F, ldc, stride_c, batch,
                                      CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  }
  cublasStatus_t batched_ex_64() {
    return cublasGemmStridedBatchedEx_64(handle, op_a, op_b, m, n, k, &alpha, a.data(), CUDA_R_32F,
                                         lda, stride_a, b.data(), CUDA_R_32F, ldb, stride_b, &beta,
                                         c.data(), CUDA_R_32F, ldc, stride_c, batch,
                                         CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  }
};

/// The same product by cublasLtMatmul.
struct LtCall : Call {
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a_layout = nullptr, b_layout = nullptr, c_layout = nullptr;
  cublasLtMatrixLayout_t d_layout = nullptr;
  std::vector<float> d = c;

  explicit LtCall(cublasComputeType_t compute = CUBLAS_COMPUTE_32F,
                  cudaDataType type = CUDA_R_32F) {
    cublasLtMatmulDescCreate(&desc, compute, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&a_layout, type, kM, kK, lda);
    cublasLtMatrixLayoutCreate(&b_layout, type, kK, kN, ldb);
    cublasLtMatrixLayoutCreate(&c_layout, type, kM, kN, ldc);
    cublasLtMatrixLayoutCreate(&d_layout, type, kM, kN, ldc);
  }
  cublasStatus_t matmul(float* output = nullptr) {
    return cublasLtMatmul(reinterpret_cast<cublasLtHandle_t>(handle), desc, &alpha, a.data(),
                          a_layout, b.data(), b_layout, &beta, c.data(), c_layout,
                          output == nullptr ? c.data() : output, d_layout, nullptr, nullptr, 0,
                          nullptr);
  }
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t which, Value value) const {
    cublasLtMatmulDescSetAttribute(desc, which, &value, sizeof value);
  }
  template <class Value>
  void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which,
           Value value) const {
    cublasLtMatrixLayoutSetAttribute(layout, which, &value, sizeof value);
  }
};

class ServeTest : public Preloaded {
 protected:
  /// Whether a call returned success, the product is right, and cuBLAS was not asked.
  template <class Work>
  static bool is_taken(Call& call, const Work& work) {
    const int before = standin_last_call()->calls;
    const cublasStatus_t status = work();
    EXPECT_EQ(status, CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(call.c, call.right);
    return standin_last_call()->calls == before;
  }
  /// What the log says of one call in a process of its own that cuBLAS must have got.
  template <class Work>
  std::string passed_on(const Work& work) {
    return log_of([&] {
      const int before = standin_last_call()->calls;
      work();
      return standin_last_call()->calls == before + 1 ? 0 : 1;
    });
  }
};

TEST_F(ServeTest, EveryEntryIsTakenInEveryLayout) {
  tune({kSize, "5,6,4,TRANS_A=1", "5,6,4,TRANS_B=1", "5,6,4,TRANS_A=1,TRANS_B=1", "5,6,4,BATCH=3",
        "5,6,4,LDA=7,LDB=9,LDC=9"});
  for (const auto op_a : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (const auto op_b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      Call call(op_a, op_b);
      EXPECT_TRUE(is_taken(call, [&] { return call.sgemm(); })) << op_a << op_b;
    }
  }
  Call wide, ex, ex_wide, padded(CUBLAS_OP_N, CUBLAS_OP_N, 1, 3);
  EXPECT_TRUE(is_taken(wide, [&] { return wide.sgemm_64(); }));
  EXPECT_TRUE(is_taken(ex, [&] { return ex.ex(); }));
  EXPECT_TRUE(is_taken(ex_wide, [&] { return ex_wide.ex_64(); }));
  Call of_cupy;
  EXPECT_TRUE(is_taken(of_cupy, [&] {
    return of_cupy.ex(CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
  }));
  EXPECT_TRUE(is_taken(padded, [&] { return padded.sgemm(); }));
  Call batch(CUBLAS_OP_N, CUBLAS_OP_N, 3), batch_64(CUBLAS_OP_N, CUBLAS_OP_N, 3);
  Call batch_ex(CUBLAS_OP_N, CUBLAS_OP_N, 3), batch_ex_64(CUBLAS_OP_N, CUBLAS_OP_N, 3);
  EXPECT_TRUE(is_taken(batch, [&] { return batch.batched(); }));
  EXPECT_TRUE(is_taken(batch_64, [&] { return batch_64.batched_64(); }));
  EXPECT_TRUE(is_taken(batch_ex, [&] { return batch_ex.batched_ex(); }));
  EXPECT_TRUE(is_taken(batch_ex_64, [&] { return batch_ex_64.batched_ex_64(); }));
  LtCall lt;
  EXPECT_TRUE(is_taken(lt, [&] { return lt.matmul(); }));
}

/// C = 2·A·B + C in types, of the numbers of Call, as GemmEx and as cublasLtMatmul.
template <class Matrix, class Result, class Factor>
struct TypedCall {
  cudaDataType matrices, result, factors;
  cublasComputeType_t compute;
  Call plain = Call();
  Factor alpha = 2, beta = 1;
  std::vector<Matrix> a = converted<Matrix>(plain.a), b = converted<Matrix>(plain.b);
  std::vector<Result> c = converted<Result>(plain.c), right = converted<Result>(plain.right);

  template <class To>
  static std::vector<To> converted(const std::vector<float>& numbers) {
    std::vector<To> result;
    for (const float number : numbers) result.push_back(static_cast<To>(number));
    return result;
  }
  cublasStatus_t ex() {
    return cublasGemmEx(plain.handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &alpha, a.data(),
                        matrices, kM, b.data(), matrices, kK, &beta, c.data(), result, kM, compute,
                        CUBLAS_GEMM_DEFAULT);
  }
  cublasStatus_t lt() {
    cublasLtMatmulDesc_t desc = nullptr;
    std::array<cublasLtMatrixLayout_t, 3> layouts{};
    cublasLtMatmulDescCreate(&desc, compute, factors);
    cublasLtMatrixLayoutCreate(&layouts[0], matrices, kM, kK, kM);
    cublasLtMatrixLayoutCreate(&layouts[1], matrices, kK, kN, kK);
    cublasLtMatrixLayoutCreate(&layouts[2], result, kM, kN, kM);
    return cublasLtMatmul(reinterpret_cast<cublasLtHandle_t>(plain.handle), desc, &alpha, a.data(),
                          layouts[0], b.data(), layouts[1], &beta, c.data(), layouts[2], c.data(),
                          layouts[2], nullptr, nullptr, 0, nullptr);
  }
  /// Both, neither by cuBLAS, with right results.
  void expect_to_be_taken() {
    const auto memory = c;
    for (const auto function : {&TypedCall::ex, &TypedCall::lt}) {
      const int before = standin_last_call()->calls;
      c = memory;
      EXPECT_EQ((this->*function)(), CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(standin_last_call()->calls, before);
      for (std::size_t i = 0; i < c.size(); ++i) {
        EXPECT_EQ(static_cast<double>(c[i]), static_cast<double>(right[i])) << i;
      }
    }
  }
};

TEST_F(ServeTest, ProductsOfOtherTypesAreTakenByKernelsOfTheirTypes) {
  tune({"5,6,4,TYPE=bf16", "5,6,4,TYPE=f16", "5,6,4,TYPE=f64", "5,6,4,TYPE=s8"});
  TypedCall<__nv_bfloat16, __nv_bfloat16, float>{CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F,
                                                 CUBLAS_COMPUTE_32F}
      .expect_to_be_taken();
  TypedCall<__half, __half, float>{CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F}
      .expect_to_be_taken();
  TypedCall<double, double, double>{CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F}
      .expect_to_be_taken();
  TypedCall<std::int8_t, std::int32_t, std::int32_t>{CUDA_R_8I, CUDA_R_32I, CUDA_R_32I,
                                                     CUBLAS_COMPUTE_32I}
      .expect_to_be_taken();
  EXPECT_THAT(passed_on([] {
                TypedCall<__half, __half, float>{CUDA_R_16F, CUDA_R_16F, CUDA_R_32F,
                                                 CUBLAS_COMPUTE_16F}
                    .ex();
              }),
              HasSubstr("(compute type 1)"));
  EXPECT_THAT(passed_on([] {
                TypedCall<__half, __half, float>{CUDA_R_16F, CUDA_R_16F, CUDA_R_16F,
                                                 CUBLAS_COMPUTE_32F}
                    .lt();
              }),
              HasSubstr("(compute type 1)"));
}

/// The product of TypedCall in bf16 with a bias of the rows of cuBLAS's columns, then ReLU.
struct BiasedCall : TypedCall<__nv_bfloat16, __nv_bfloat16, float> {
  std::vector<__nv_bfloat16> bias;
  cublasLtMatmulDesc_t desc = nullptr;

  BiasedCall() : TypedCall{CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F} {
    for (int row = 0; row < kM; ++row) bias.push_back(static_cast<float>(8 * row - 20));
    for (std::size_t i = 0; i < right.size(); ++i) {
      right[i] = std::max(0.0F, static_cast<float>(right[i]) + static_cast<float>(bias[i % kM]));
    }
    cublasLtMatmulDescCreate(&desc, compute, factors);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(bias.data()));
  }
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t which, Value value) const {
    cublasLtMatmulDescSetAttribute(desc, which, &value, sizeof value);
  }
  cublasStatus_t matmul() {
    std::array<cublasLtMatrixLayout_t, 3> layouts{};
    cublasLtMatrixLayoutCreate(&layouts[0], matrices, kM, kK, kM);
    cublasLtMatrixLayoutCreate(&layouts[1], matrices, kK, kN, kK);
    cublasLtMatrixLayoutCreate(&layouts[2], result, kM, kN, kM);
    return cublasLtMatmul(reinterpret_cast<cublasLtHandle_t>(plain.handle), desc, &alpha, a.data(),
                          layouts[0], b.data(), layouts[1], &beta, c.data(), layouts[2], c.data(),
                          layouts[2], nullptr, nullptr, 0, nullptr);
  }
};

TEST_F(ServeTest, AnEpilogueThatCublasDoesFasterIsCublass) {
  tune({"5,6,4,BIAS=1,ACTIVATION=1,TYPE=bf16"}, 0.5, "gemm_tensor");
  EXPECT_THAT(passed_on([] { BiasedCall().matmul(); }), HasSubstr("(cuBLAS is as fast 1)"));
}

TEST_F(ServeTest, AnEpilogueIsTakenWhereAKernelHasIt) {
  tune({"5,6,4,BIAS=1,ACTIVATION=1,TYPE=bf16"}, 2, "gemm_tensor");
  BiasedCall call;
  const int before = standin_last_call()->calls;
  EXPECT_EQ(call.matmul(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(standin_last_call()->calls, before);
  for (std::size_t i = 0; i < call.c.size(); ++i) {
    EXPECT_EQ(static_cast<float>(call.c[i]), static_cast<float>(call.right[i])) << i;
  }
  const auto with = [&](const std::function<void(BiasedCall&)>& change) {
    return passed_on([&] {
      BiasedCall other;
      change(other);
      other.matmul();
    });
  };
  EXPECT_THAT(with([](auto& it) {
                it.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
              }),
              HasSubstr("(epilogue 1)"));
  EXPECT_THAT(
      with([](auto& it) { it.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, std::int32_t{CUDA_R_32F}); }),
      HasSubstr("(epilogue 1)"));
  EXPECT_THAT(
      with([](auto& it) { it.set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, std::int64_t{6}); }),
      HasSubstr("(epilogue 1)"));
  EXPECT_THAT(with([](auto& it) {
                it.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(nullptr));
              }),
              HasSubstr("(null pointer 1)"));
}

TEST_F(ServeTest, AKernelOnTensorCoresComesFirst) {
  tune({"5,6,4,TYPE=f16"}, 0.5);
  tune({"5,6,4,TYPE=bf16"}, 2, "gemm_tensor");
  TypedCall<__nv_bfloat16, __nv_bfloat16, float>{CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F,
                                                 CUBLAS_COMPUTE_32F}
      .expect_to_be_taken();
}

TEST_F(ServeTest, TheLastLineCountsCallsAndTheTimeSaved) {
  tune({kSize});
  const std::string line = log_of([] {
    Call call;
    for (int i = 0; i < 3; ++i) call.sgemm();
    call.k = 0;
    call.sgemm();
    return 0;
  });
  EXPECT_EQ(
      line,
      "tuner: cuBLAS calls: 3 served, 1 passed to cuBLAS (empty 1); saved 0.003 s of GPU time\n");
}

TEST_F(ServeTest, WithBetaZeroCIsNotRead) {
  tune({kSize});
  Call call;
  call.beta = 0;
  call.c.assign(call.c.size(), NAN);
  for (float& value : call.right) value -= 1;
  EXPECT_TRUE(is_taken(call, [&] { return call.sgemm(); }));
}

TEST_F(ServeTest, ACallThatIsNotCertainlyTheSameIsPassedOn) {
  tune({kSize, "5,6,4,BATCH=3"});
  const auto with = [&](const std::function<void(Call&)>& change) {
    return passed_on([&] {
      Call call;
      change(call);
      call.sgemm();
    });
  };
  EXPECT_THAT(
      with([](Call& it) { cublasSetPointerMode_v2(it.handle, CUBLAS_POINTER_MODE_DEVICE); }),
      HasSubstr("0 served, 1 passed to cuBLAS (device pointers 1)"));
  for (const auto mode :
       {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_FP32_EMULATED_BF16X9_MATH}) {
    EXPECT_THAT(with([&](Call& it) { cublasSetMathMode(it.handle, mode); }),
                HasSubstr("(math mode 1)"));
  }
  EXPECT_THAT(with([](Call& it) { cublasSetSmCountTarget(it.handle, 16); }),
              HasSubstr("(SM count target 1)"));
  EXPECT_THAT(with([](Call& it) { it.k = 0; }), HasSubstr("(empty 1)"));
  EXPECT_THAT(with([](Call& it) { it.m = -1; }), HasSubstr("(invalid arguments 1)"));
  EXPECT_THAT(with([](Call& it) { it.lda = kM - 1; }), HasSubstr("(invalid arguments 1)"));
  EXPECT_THAT(with([](Call& it) { it.ldc = kM - 1; }), HasSubstr("(invalid arguments 1)"));
  EXPECT_THAT(with([](Call& it) { it.op_a = CUBLAS_OP_CONJG; }), HasSubstr("(operation 1)"));
  EXPECT_THAT(with([](Call& it) { it.a = std::vector<float>(); }), HasSubstr("(null pointer 1)"));
  EXPECT_THAT(passed_on([] {
                Call call;
                call.ex(CUDA_R_32I);
              }),
              HasSubstr("(element type 1)"));
  EXPECT_THAT(passed_on([] {
                Call call;
                call.ex(CUDA_R_16BF);
              }),
              HasSubstr("(not tuned 1)"))
      << "by kernels of bf16";
  for (const auto compute : {CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_PEDANTIC,
                             CUBLAS_COMPUTE_32F_EMULATED_16BFX9}) {
    EXPECT_THAT(passed_on([&] {
                  Call call;
                  call.ex(CUDA_R_32F, compute);
                }),
                HasSubstr("(compute type 1)"));
  }
  EXPECT_THAT(passed_on([] {
                Call call;
                call.ex(CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_ALGO3);
              }),
              HasSubstr("(algorithm 1)"));
  for (const int which : {0, 1, 2}) {
    EXPECT_THAT(passed_on([&] {
                  Call call(CUBLAS_OP_N, CUBLAS_OP_N, 3);
                  std::array{&call.stride_a, &call.stride_b, &call.stride_c}.at(
                      static_cast<std::size_t>(which))[0] -= 1;
                  call.batched();
                }),
                HasSubstr("(batch strides 1)"));
  }
  EXPECT_THAT(passed_on([] {
                Call call;
                const auto none = cublasHandle_t{};
                cublasSgemm_v2(none, call.op_a, call.op_b, kM, kN, kK, &call.alpha, call.a.data(),
                               kM, call.b.data(), kK, &call.beta, call.c.data(), kM);
              }),
              HasSubstr("(null pointer 1)"));
}

TEST_F(ServeTest, AProductOfCublasLtThatIsMoreThanAProductIsPassedOn) {
  tune({kSize});
  const auto with = [&](const std::function<void(LtCall&)>& change) {
    return passed_on([&] {
      LtCall call;
      change(call);
      call.matmul();
    });
  };
  const auto attribute = [&](cublasLtMatmulDescAttributes_t which, auto value) {
    return with([=](LtCall& it) { it.set(which, value); });
  };
  EXPECT_THAT(attribute(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS),
              HasSubstr("(epilogue 1)"));
  EXPECT_THAT(attribute(CUBLASLT_MATMUL_DESC_POINTER_MODE, std::int32_t{1}),
              HasSubstr("(device pointers 1)"));
  EXPECT_THAT(attribute(CUBLASLT_MATMUL_DESC_TRANSC, std::int32_t{1}), HasSubstr("(operation 1)"));
  EXPECT_THAT(attribute(CUBLASLT_MATMUL_DESC_FILL_MODE, std::int32_t{CUBLAS_FILL_MODE_LOWER}),
              HasSubstr("(D is not C 1)"));
  EXPECT_THAT(attribute(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, std::int32_t{8}),
              HasSubstr("(SM count target 1)"));
  static float scale = 1;
  for (const auto which :
       {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER}) {
    EXPECT_THAT(attribute(which, static_cast<void*>(&scale)), HasSubstr("(scaling 1)"));
  }
  EXPECT_THAT(attribute(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, static_cast<void*>(&scale)),
              HasSubstr("(math mode 1)"));
  const auto layout = [&](cublasLtMatrixLayoutAttribute_t which, auto value) {
    return with([=](LtCall& it) { it.set(it.b_layout, which, value); });
  };
  EXPECT_THAT(layout(CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t{CUBLASLT_ORDER_ROW}),
              HasSubstr("(layout 1)"));
  EXPECT_THAT(layout(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, std::int64_t{64}),
              HasSubstr("(layout 1)"));
  EXPECT_THAT(
      layout(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, std::int32_t{CUBLASLT_BATCH_MODE_POINTER_ARRAY}),
      HasSubstr("(layout 1)"));
  EXPECT_THAT(layout(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{2}),
              HasSubstr("(invalid arguments 1)"));
  EXPECT_THAT(layout(CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{kK + 1}),
              HasSubstr("(invalid arguments 1)"));
  EXPECT_THAT(layout(CUBLASLT_MATRIX_LAYOUT_TYPE, std::uint32_t{CUDA_R_16F}),
              HasSubstr("(element type 1)"));
  EXPECT_THAT(passed_on([] {
                LtCall call(CUBLAS_COMPUTE_32F, CUDA_R_8F_E4M3);
                for (const cublasLtMatrixLayout_t result : {call.c_layout, call.d_layout}) {
                  call.set(result, CUBLASLT_MATRIX_LAYOUT_TYPE, std::uint32_t{CUDA_R_16BF});
                }
                call.matmul();
              }),
              HasSubstr("(element type 1)"))
      << "tuner::gemm has the type; cublasLt scales its products";
  EXPECT_THAT(with([](LtCall& it) { it.a_layout = nullptr; }), HasSubstr("(null pointer 1)"));
  EXPECT_THAT(passed_on([] { LtCall(CUBLAS_COMPUTE_32F_FAST_TF32).matmul(); }),
              HasSubstr("(compute type 1)"));
  EXPECT_THAT(passed_on([] {
                LtCall call;
                call.matmul(call.d.data());
              }),
              HasSubstr("(D is not C 1)"));
}

TEST_F(ServeTest, CublasLtMayWriteElsewhereWhereCIsNotRead) {
  tune({kSize});
  LtCall call;
  call.beta = 0;
  const int before = standin_last_call()->calls;
  EXPECT_EQ(call.matmul(call.d.data()), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(standin_last_call()->calls, before);
  for (float& value : call.right) value -= 1;
  EXPECT_EQ(call.d, call.right);
  EXPECT_EQ(call.c, std::vector<float>(call.c.size(), 1));
}

TEST_F(ServeTest, TheEnvironmentOfCublasIsRespected) {
  tune({kSize});
  const auto sgemm = [] { Call().sgemm(); };
  ::setenv("NVIDIA_TF32_OVERRIDE", "1", 1);
  EXPECT_THAT(passed_on(sgemm), HasSubstr("(environment 1)"));
  ::unsetenv("NVIDIA_TF32_OVERRIDE");
  ::setenv("CUBLAS_EMULATE_SINGLE_PRECISION", "1", 1);
  EXPECT_THAT(passed_on(sgemm), HasSubstr("(environment 1)"));
  ::unsetenv("CUBLAS_EMULATE_SINGLE_PRECISION");
  ::setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
  Call call;
  EXPECT_TRUE(is_taken(call, [&] { return call.sgemm(); }));
}

TEST_F(ServeTest, WhereTheLibraryIsFasterOrNothingWasTunedItServes) {
  tune({kSize}, 0.5);
  EXPECT_THAT(passed_on([] { Call().sgemm(); }), HasSubstr("(cuBLAS is as fast 1)"));
  ::setenv("TUNER_DB", (folder.path() / "none.db").c_str(), 1);
  EXPECT_THAT(
      passed_on([] { Call().sgemm(); }),
      AllOf(HasSubstr("all calls are passed to cuBLAS on device 0"), HasSubstr("(not tuned 1)")));
}

TEST_F(ServeTest, WhatCublasReturnsReachesTheCaller) {
  tune({kSize});
  Call call;
  call.k = 0;
  standin_fail(CUBLAS_STATUS_ARCH_MISMATCH);
  EXPECT_EQ(call.sgemm(), CUBLAS_STATUS_ARCH_MISMATCH);
  LtCall lt;
  lt.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU);
  EXPECT_EQ(lt.matmul(), CUBLAS_STATUS_ARCH_MISMATCH);
}

TEST_F(ServeTest, AKernelThatCannotBeCompiledLeavesTheCallToCublas) {
  database.add({.size = kSize,
                .kernel = "plain",
                .config = R"({"ROWS":2})",
                .family = "gemm",
                .space = kGemmSpace,
                .source = "template <int, int, int> __global__ void plain() { mistake; }"});
  EXPECT_THAT(passed_on([] { Call().sgemm(); }), HasSubstr("0 served, 1 passed to cuBLAS"));
}

TEST_F(ServeTest, WhatCublasCallsItselfIsNotTheProgramsCall) {
  tune({kSize});
  EXPECT_THAT(log_of([] {
                standin_nest(1);
                Call call;
                call.k = 0;  // passed on
                const int before = standin_last_call()->calls;
                call.sgemm();  // by cublasLtMatmul
                return standin_last_call()->calls == before + 2 ? 0 : 1;
              }),
              HasSubstr("0 served, 1 passed to cuBLAS (empty 1)"));
}

TEST_F(ServeTest, ThreadsAreServedAtTheSameTime) {
  tune({kSize, "5,6,4,TRANS_A=1"});
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 100; ++i) {
        Call call(CUBLAS_OP_N, thread % 2 == 0 ? CUBLAS_OP_N : CUBLAS_OP_T);
        if (call.sgemm() != CUBLAS_STATUS_SUCCESS || call.c != call.right) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ServeTest, AForkOfAProgramThatWasServedIsServed) {
  tune({kSize});
  Call first;
  ASSERT_TRUE(is_taken(first, [&] { return first.sgemm(); }));
  EXPECT_THAT(log_of([] {
                Call call;
                return call.sgemm() == CUBLAS_STATUS_SUCCESS && call.c == call.right ? 0 : 1;
              }),
              HasSubstr("1 served, 0 passed to cuBLAS"));
}

TEST_F(ServeTest, OffPassesEverythingOn) {
  tune({kSize});
  for (const char* mode : {"off", "perhaps"}) {
    ::setenv("TUNER_CUBLAS", mode, 1);
    EXPECT_EQ(passed_on([] { Call().sgemm(); }), "");
  }
}

}  // namespace
}  // namespace tuner::cublas
