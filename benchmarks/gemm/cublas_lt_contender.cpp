// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/cublas_lt_contender.hpp"

#include "benchmarks/gemm/blas_status.hpp"
#include "tuner/backend/cuda/shared_library.hpp"

#include <fmt/format.h>

#include <cublasLt.h>

#include <array>

namespace tuner::gemm_benchmark {
namespace {

constexpr std::size_t kWorkspace_bytes = std::size_t{32} << 20;
constexpr int kHeuristics = 16;

void require_status(cublasStatus_t status, std::string_view action) {
  require(blas_result(status), action);
}

}  // namespace

struct CublasLtContenders::Api {
  backend::SharedLibrary library{fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR)};
  decltype(&cublasLtCreate) create = library.symbol("cublasLtCreate");
  decltype(&cublasLtDestroy) destroy = library.symbol("cublasLtDestroy");
  decltype(&cublasLtMatmulDescCreate) make_product = library.symbol("cublasLtMatmulDescCreate");
  decltype(&cublasLtMatmulDescDestroy) free_product = library.symbol("cublasLtMatmulDescDestroy");
  decltype(&cublasLtMatmulDescSetAttribute) set_product =
      library.symbol("cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatrixLayoutCreate) make_layout = library.symbol("cublasLtMatrixLayoutCreate");
  decltype(&cublasLtMatrixLayoutDestroy) free_layout =
      library.symbol("cublasLtMatrixLayoutDestroy");
  decltype(&cublasLtMatrixLayoutSetAttribute) set_layout =
      library.symbol("cublasLtMatrixLayoutSetAttribute");
  decltype(&cublasLtMatmulPreferenceCreate) make_preference =
      library.symbol("cublasLtMatmulPreferenceCreate");
  decltype(&cublasLtMatmulPreferenceDestroy) free_preference =
      library.symbol("cublasLtMatmulPreferenceDestroy");
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference =
      library.symbol("cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristics =
      library.symbol("cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_attribute =
      library.symbol("cublasLtMatmulAlgoConfigGetAttribute");
  decltype(&cublasLtMatmul) multiply = library.symbol("cublasLtMatmul");
};

/// The descriptions of one product, by columns as cublasLt counts: Cᵀ = op(B)ᵀ·op(A)ᵀ, where a
/// row-major matrix is its transpose in the same memory.
class CublasLtContenders::Problem {
 public:
  Problem(const Api& api, const Shape& shape)
      : api_(api),
        first_(layout(matrix_b(shape), shape.batch)),
        second_(layout(matrix_a(shape), shape.batch)),
        result_(layout(matrix_c(shape), shape.batch)) {
    require_status(api_.make_product(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                   "describe a product to cublasLt");
    transpose(CUBLASLT_MATMUL_DESC_TRANSA, shape.trans_b);
    transpose(CUBLASLT_MATMUL_DESC_TRANSB, shape.trans_a);
  }
  ~Problem() {
    api_.free_product(product_);
    for (cublasLtMatrixLayout_t each : {first_, second_, result_}) api_.free_layout(each);
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  [[nodiscard]] std::vector<cublasLtMatmulHeuristicResult_t> heuristics(cublasLtHandle_t context,
                                                                        const Shape& shape) const {
    cublasLtMatmulPreference_t preference = nullptr;
    require_status(api_.make_preference(&preference), "ask cublasLt for algorithms");
    prefer(preference, shape);
    std::vector<cublasLtMatmulHeuristicResult_t> found(kHeuristics);
    int count = 0;
    const cublasStatus_t status =
        api_.heuristics(context, product_, first_, second_, result_, result_, preference,
                        kHeuristics, found.data(), &count);
    api_.free_preference(preference);
    found.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
    std::erase_if(found, [](const auto& each) { return each.state != CUBLAS_STATUS_SUCCESS; });
    return found;
  }

  /// What cublasLt needs for one launch beside the descriptions.
  struct Launch {
    cublasLtHandle_t context;
    std::byte* workspace;
    cudaStream_t stream;
  };
  [[nodiscard]] Expected<void, Failure> multiply(const Launch& launch, const OperandSet& set,
                                                 const cublasLtMatmulAlgo_t& algorithm) const {
    const float one = 1;
    const float zero = 0;
    return blas_result(api_.multiply(launch.context, product_, &one, set.b, first_, set.a, second_,
                                     &zero, set.c, result_, set.c, result_, &algorithm,
                                     launch.workspace, kWorkspace_bytes, launch.stream));
  }

 private:
  [[nodiscard]] cublasLtMatrixLayout_t layout(const StoredMatrix& matrix,
                                              std::int64_t batch) const {
    cublasLtMatrixLayout_t made = nullptr;
    require_status(api_.make_layout(&made, CUDA_R_32F, static_cast<std::uint64_t>(matrix.columns),
                                    static_cast<std::uint64_t>(matrix.rows), matrix.ld),
                   "describe a matrix to cublasLt");
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = matrix.stride();
    require_status(api_.set_layout(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                   "describe a batch to cublasLt");
    require_status(
        api_.set_layout(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "describe a batch to cublasLt");
    return made;
  }

  void transpose(cublasLtMatmulDescAttributes_t which, std::int64_t transposed) {
    const cublasOperation_t operation = transposed == 0 ? CUBLAS_OP_N : CUBLAS_OP_T;
    require_status(api_.set_product(product_, which, &operation, sizeof operation),
                   "describe a transposition to cublasLt");
  }

  void prefer(cublasLtMatmulPreference_t preference, const Shape& shape) const {
    const std::uint64_t workspace = kWorkspace_bytes;
    require_status(api_.set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &workspace, sizeof workspace),
                   "tell cublasLt its workspace");
    // Where the operands begin at a boundary of 256 bytes, that is what cublasLt assumes by itself.
    const auto begin_bytes =
        static_cast<std::uint32_t>(sizeof(float)) * static_cast<std::uint32_t>(offset(shape));
    if (begin_bytes == 0) return;
    for (const auto which :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      require_status(api_.set_preference(preference, which, &begin_bytes, sizeof begin_bytes),
                     "tell cublasLt the alignment");
    }
  }

  const Api& api_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t first_, second_, result_;
};

CublasLtContenders::CublasLtContenders(cudaStream_t stream)
    : stream_(stream),
      api_(std::make_unique<const Api>()),
      workspace_(backend::make_device_memory(kWorkspace_bytes)) {
  require_status(api_->create(&context_), "start cublasLt");
}

CublasLtContenders::~CublasLtContenders() {
  if (context_ != nullptr) api_->destroy(context_);
}

std::vector<Contender> CublasLtContenders::contenders(const Shape& shape,
                                                      const Operands& operands) const {
  const auto problem = std::make_shared<const Problem>(*api_, shape);
  const auto attribute = [&](const cublasLtMatmulAlgo_t& algorithm,
                             cublasLtMatmulAlgoConfigAttributes_t which) {
    std::uint32_t value = 0;
    std::size_t written = 0;
    api_->algorithm_attribute(&algorithm, which, &value, sizeof value, &written);
    return value;
  };
  std::vector<Contender> all;
  for (const auto& [algorithm, workspace, state, waves, reserved] :
       problem->heuristics(context_, shape)) {
    all.push_back({.role = Role::cublas_lt,
                   .kernel = fmt::format("algorithm {} tile {} stages {} split-K {}",
                                         attribute(algorithm, CUBLASLT_ALGO_CONFIG_ID),
                                         attribute(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
                                         attribute(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
                                         attribute(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM)),
                   .launch = [=, this, &operands, algorithm = algorithm](std::size_t set) {
                     return problem->multiply({context_, workspace_.get(), stream_},
                                              operands.set(set), algorithm);
                   }});
  }
  return all;
}

}  // namespace tuner::gemm_benchmark
