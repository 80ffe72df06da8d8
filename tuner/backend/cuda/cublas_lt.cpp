// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cublas_lt.hpp"

#include "tuner/core/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <random>
#include <string_view>
#include <variant>

namespace tuner::backend {
namespace {

using family::ElementType;

constexpr std::uint32_t kMostAlignment = 16;
constexpr std::string_view kTextBegins = "cublasLt/";

void require(const CublasLtApi& api, cublasStatus_t status, std::string_view action) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::failure,
              fmt::format("cublasLt cannot {}: {}", action, api.status_name(status)));
}

cudaDataType_t cuda_type(ElementType type) {
  return static_cast<cudaDataType_t>(family::row(type).cuda.value);
}

cublasComputeType_t compute_type(ElementType type) {
  if (type == ElementType::f64) return CUBLAS_COMPUTE_64F;
  if (type == ElementType::s8) return CUBLAS_COMPUTE_32I;
  if (type == ElementType::tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
  return CUBLAS_COMPUTE_32F;
}

/// A factor in the type that cublasLt takes it in.
struct FactorBytes {
  FactorBytes(cudaDataType_t type, double value) {
    const auto put = [this](auto number) { std::memcpy(bytes.data(), &number, sizeof number); };
    if (type == CUDA_R_64F) {
      put(value);
    } else if (type == CUDA_R_32I) {
      put(static_cast<std::int32_t>(value));
    } else {
      put(static_cast<float>(value));
    }
  }
  alignas(double) std::array<std::byte, sizeof(double)> bytes{};
};

/// The number at the beginning of a text, which loses it and the slash behind it.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length == text.size() || text[length] != '/') return false;
  text.remove_prefix(length + 1);
  return true;
}

}  // namespace

Expected<void, Failure> attempt(const CublasLtApi& api, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const bool refused =
      status == CUBLAS_STATUS_INVALID_VALUE || status == CUBLAS_STATUS_NOT_SUPPORTED ||
      status == CUBLAS_STATUS_ARCH_MISMATCH || status == CUBLAS_STATUS_ALLOC_FAILED;
  return Unexpected(
      Failure{refused ? Outcome::launch_error : Outcome::crashed,
              fmt::format("{} ({})", api.status_name(status), static_cast<int>(status))});
}

CublasLt::CublasLt() {
  require(api_, api_.create(&handle_), "start");
}

CublasLt::~CublasLt() {
  api_.destroy(handle_);
}

std::string lt_text(const LtAlgorithm& algorithm, std::size_t version) {
  std::string text = fmt::format("{}{}/{}/", kTextBegins, version, algorithm.alignment_bytes);
  for (const std::uint64_t word : algorithm.algorithm.data) text += fmt::format("{:016x}", word);
  return text;
}

Expected<LtAlgorithm, Failure> lt_algorithm(const std::string& text, std::size_t version) {
  const auto fail = [](std::string message) {
    return Unexpected(Failure{Outcome::launch_error, std::move(message)});
  };
  constexpr std::size_t kDigits = 16;
  LtAlgorithm result;
  std::size_t its_version = 0;
  std::string_view rest = text;
  const bool is_ours = rest.starts_with(kTextBegins);
  if (is_ours) rest.remove_prefix(kTextBegins.size());
  if (!is_ours || !take_number(rest, its_version) || !take_number(rest, result.alignment_bytes) ||
      result.alignment_bytes == 0 || rest.size() != kDigits * std::size(result.algorithm.data)) {
    return fail(fmt::format("'{}' is no algorithm of cublasLt", text.substr(0, 40)));
  }
  for (std::uint64_t& word : result.algorithm.data) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + kDigits, word, 16);
    if (error != std::errc() || end != rest.data() + kDigits) {
      return fail(fmt::format("'{}' is no algorithm of cublasLt", text.substr(0, 40)));
    }
    rest.remove_prefix(kDigits);
  }
  if (its_version == version) return result;
  return fail(fmt::format("the algorithm is of cublasLt {}, here is {}", its_version, version));
}

std::uint32_t alignment_bytes(const blas::Addresses& operands) {
  const auto bits = reinterpret_cast<std::uintptr_t>(operands[blas::kA]) |
                    reinterpret_cast<std::uintptr_t>(operands[blas::kB]) |
                    reinterpret_cast<std::uintptr_t>(operands[blas::kC]) | kMostAlignment;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

bool LtProduct::has(const Epilogue& epilogue) {
  return epilogue.bias != Bias::per_row;
}

LtProduct::LtProduct(const CublasLt& library, const blas::Operation& operation, const void* bias)
    : library_(library),
      type_(cuda_type(operation.type)),
      result_(cuda_type(operation.result_type())),
      factors_(operation.type == ElementType::f64  ? CUDA_R_64F
               : operation.type == ElementType::s8 ? CUDA_R_32I
                                                   : CUDA_R_32F),
      compute_(compute_type(operation.type)),
      adds_residual_(operation.epilogue.residual),
      has_bias_(operation.epilogue.bias == Bias::per_column) {
  const auto& shape = std::get<blas::GemmShape>(operation.shape);
  try {
    require(library_.api(), library_.api().make_product(&product_, compute_, factors_),
            "describe such a product");
    set_transpose(CUBLASLT_MATMUL_DESC_TRANSA, shape.trans_b);
    set_transpose(CUBLASLT_MATMUL_DESC_TRANSB, shape.trans_a);
    set_epilogue(operation.epilogue, bias);
    if (operation.fast_sums) {
      const std::int8_t fast = 1;
      require(
          library_.api(),
          library_.api().set_product(product_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast),
          "describe its sums");
    }
    first_ = layout(shape.b, type_, shape.batch);
    second_ = layout(shape.a, type_, shape.batch);
    c_ = layout(shape.c, result_, shape.batch);
  } catch (...) {
    release();
    throw;
  }
}

LtProduct::~LtProduct() {
  release();
}

void LtProduct::release() {
  for (cublasLtMatrixLayout_t each : {first_, second_, c_}) {
    if (each != nullptr) library_.api().free_layout(each);
  }
  if (product_ != nullptr) library_.api().free_product(product_);
}

cublasLtMatrixLayout_t LtProduct::layout(const blas::MatrixLayout& matrix, cudaDataType_t type,
                                         std::int64_t batch) const {
  const CublasLtApi& api = library_.api();
  cublasLtMatrixLayout_t made = nullptr;
  require(api,
          api.make_layout(&made, type, static_cast<std::uint64_t>(matrix.columns),
                          static_cast<std::uint64_t>(matrix.rows),
                          std::max<std::int64_t>(matrix.ld, 1)),
          "describe a matrix");
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = matrix.stride;
  auto status = api.set_layout(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status =
        api.set_layout(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  }
  if (status != CUBLAS_STATUS_SUCCESS) api.free_layout(made);
  require(api, status, "describe a batch");
  return made;
}

void LtProduct::set_transpose(cublasLtMatmulDescAttributes_t which, Transpose transpose) {
  const cublasOperation_t operation = transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
  require(library_.api(), library_.api().set_product(product_, which, &operation, sizeof operation),
          "describe a transposition");
}

void LtProduct::set_epilogue(const Epilogue& epilogue, const void* bias) {
  const CublasLtApi& api = library_.api();
  const auto set = [&](cublasLtMatmulDescAttributes_t which, const auto& value) {
    require(api, api.set_product(product_, which, &value, sizeof value), "describe an epilogue");
  };
  if (!has_bias_ && epilogue.activation == Activation::none) return;
  // Columns here are the library's rows, along which its bias lies.
  const auto which = [&](cublasLtEpilogue_t without, cublasLtEpilogue_t with) {
    return has_bias_ ? with : without;
  };
  set(CUBLASLT_MATMUL_DESC_EPILOGUE,
      epilogue.activation == Activation::relu
          ? which(CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS)
      : epilogue.activation == Activation::gelu
          ? which(CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS)
          : CUBLASLT_EPILOGUE_BIAS);
  if (!has_bias_) return;
  set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, result_);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

std::vector<LtAlgorithm> LtProduct::proposed(int most, std::uint32_t alignment_bytes) const {
  const CublasLtApi& api = library_.api();
  cublasLtMatmulPreference_t preference = nullptr;
  require(api, api.make_preference(&preference), "prepare its search for algorithms");
  const std::uint64_t workspace = CublasLt::kWorkspaceBytes;
  // Partial sums in the type of C would be rounded twice.
  const std::uint32_t reductions =
      CUBLASLT_REDUCTION_SCHEME_INPLACE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  api.set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                     sizeof workspace);
  api.set_preference(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
                     sizeof reductions);
  for (const auto which :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    api.set_preference(preference, which, &alignment_bytes, sizeof alignment_bytes);
  }
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
  int count = 0;
  const cublasStatus_t status = api.heuristic(library_.handle(), product_, first_, second_, c_, c_,
                                              preference, most, results.data(), &count);
  api.free_preference(preference);
  results.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
  std::vector<LtAlgorithm> found;
  for (const cublasLtMatmulHeuristicResult_t& each : results) {
    if (each.state != CUBLAS_STATUS_SUCCESS) continue;
    found.push_back({.algorithm = each.algo,
                     .alignment_bytes = alignment_bytes,
                     .workspace_bytes = each.workspaceSize});
  }
  return found;
}

std::vector<LtAlgorithm> LtProduct::drawn(std::size_t count, std::uint32_t alignment_bytes) const {
  constexpr std::array<std::uint16_t, 8> kClusters = {
      CUBLASLT_CLUSTER_SHAPE_AUTO,  CUBLASLT_CLUSTER_SHAPE_1x1x1, CUBLASLT_CLUSTER_SHAPE_2x1x1,
      CUBLASLT_CLUSTER_SHAPE_1x2x1, CUBLASLT_CLUSTER_SHAPE_2x2x1, CUBLASLT_CLUSTER_SHAPE_4x1x1,
      CUBLASLT_CLUSTER_SHAPE_1x4x1, CUBLASLT_CLUSTER_SHAPE_4x2x1};
  constexpr std::array<std::int32_t, 4> kSplits = {2, 4, 8, 16};
  constexpr std::size_t kTriesForOne = 500;
  constexpr int kMostIds = 256;
  const CublasLtApi& api = library_.api();
  std::array<int, kMostIds> ids{};
  int id_count = 0;
  std::vector<LtAlgorithm> found;
  if (api.algorithm_ids(library_.handle(), compute_, factors_, type_, type_, result_, result_,
                        kMostIds, ids.data(), &id_count) != CUBLAS_STATUS_SUCCESS ||
      id_count == 0) {
    return found;
  }
  std::mt19937_64 random(1);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (std::size_t tries = 0; found.size() < count && tries < kTriesForOne * count; ++tries) {
    cublasLtMatmulAlgo_t algorithm{};
    if (api.init_algorithm(library_.handle(), compute_, factors_, type_, type_, result_, result_,
                           ids.at(below(static_cast<std::size_t>(id_count))),
                           &algorithm) != CUBLAS_STATUS_SUCCESS) {
      continue;
    }
    const auto set = [&](cublasLtMatmulAlgoConfigAttributes_t which, const auto& value) {
      return api.set_attribute(&algorithm, which, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
    };
    const auto pick = [&](cublasLtMatmulAlgoCapAttributes_t which) {
      const std::vector<std::uint32_t> values = capabilities(algorithm, which);
      return values[below(values.size())];
    };
    const bool may_split = capabilities(algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT)[0] != 0;
    const bool split = may_split && below(2) == 1;
    const std::int32_t parts = split ? kSplits.at(below(kSplits.size())) : 1;
    const std::uint32_t reduction =
        split ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
    const bool may_reorder =
        capabilities(algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT)[0] != 0;
    const auto order = static_cast<std::uint32_t>(may_reorder ? below(2) : 0);
    if (!set(CUBLASLT_ALGO_CONFIG_TILE_ID, pick(CUBLASLT_ALGO_CAP_TILE_IDS)) ||
        !set(CUBLASLT_ALGO_CONFIG_STAGES_ID, pick(CUBLASLT_ALGO_CAP_STAGES_IDS)) ||
        !set(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, kClusters.at(below(kClusters.size()))) ||
        !set(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, order) ||
        !set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, parts) ||
        !set(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, reduction)) {
      continue;
    }
    if (auto taken = checked({.algorithm = algorithm, .alignment_bytes = alignment_bytes})) {
      found.push_back(*taken);
    }
  }
  return found;
}

std::vector<std::uint32_t> LtProduct::capabilities(const cublasLtMatmulAlgo_t& algorithm,
                                                   cublasLtMatmulAlgoCapAttributes_t which) const {
  std::size_t bytes = 0;
  library_.api().capability(&algorithm, which, nullptr, 0, &bytes);
  std::vector<std::uint32_t> values(bytes / sizeof(std::uint32_t));
  if (!values.empty()) {
    library_.api().capability(&algorithm, which, values.data(), bytes, &bytes);
  }
  if (values.empty()) values.push_back(0);
  return values;
}

Expected<LtAlgorithm, Failure> LtProduct::checked(LtAlgorithm algorithm) const {
  cublasLtMatmulHeuristicResult_t result{};
  auto taken = attempt(library_.api(),
                       library_.api().check_algorithm(library_.handle(), product_, first_, second_,
                                                      c_, c_, &algorithm.algorithm, &result));
  if (!taken) return Unexpected(std::move(taken.error()));
  if (result.workspaceSize > CublasLt::kWorkspaceBytes) {
    return Unexpected(Failure{Outcome::launch_error,
                              fmt::format("it needs {} bytes of workspace", result.workspaceSize)});
  }
  algorithm.workspace_bytes = result.workspaceSize;
  return algorithm;
}

std::string LtProduct::describe(const LtAlgorithm& algorithm) const {
  const auto attribute = [&]<class Value>(cublasLtMatmulAlgoConfigAttributes_t which, Value value) {
    std::size_t written = 0;
    library_.api().attribute(&algorithm.algorithm, which, &value, sizeof value, &written);
    return value;
  };
  return fmt::format("algorithm {} tile {} stages {} split-K {} order {} cluster {}",
                     attribute(CUBLASLT_ALGO_CONFIG_ID, std::int32_t{}),
                     attribute(CUBLASLT_ALGO_CONFIG_TILE_ID, std::uint32_t{}),
                     attribute(CUBLASLT_ALGO_CONFIG_STAGES_ID, std::uint32_t{}),
                     attribute(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, std::int32_t{}),
                     attribute(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, std::uint32_t{}),
                     attribute(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, std::uint16_t{}));
}

Expected<void, Failure> LtProduct::multiply(const blas::Addresses& operands,
                                            const LtAlgorithm& algorithm, void* workspace,
                                            cudaStream_t stream) const {
  if (adds_residual_ && operands.beta != 0) {
    return Unexpected(
        Failure{Outcome::launch_error, "cublasLt adds a residual or beta·C, not both"});
  }
  const FactorBytes alpha(factors_, operands.alpha),
      beta(factors_, adds_residual_ ? 1 : operands.beta);
  const void* const added = adds_residual_ ? operands[blas::kResidual] : operands[blas::kC];
  // A copy, since other threads may multiply with other biases.
  cublasLtMatmulDescOpaque_t product = *product_;
  if (has_bias_) {
    const void* const bias = operands[blas::kBias];
    const auto set =
        library_.api().set_product(&product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    if (auto done = attempt(library_.api(), set); !done) return done;
  }
  return attempt(
      library_.api(),
      library_.api().multiply(library_.handle(), &product, alpha.bytes.data(), operands[blas::kB],
                              first_, operands[blas::kA], second_, beta.bytes.data(), added, c_,
                              blas::result_address(operands), c_, &algorithm.algorithm, workspace,
                              algorithm.workspace_bytes, stream));
}

Expected<LtChoice, Failure> lt_choice(const CublasLt& library, const blas::Operation& operation,
                                      const std::string& algorithm, const void* bias) {
  auto parsed = lt_algorithm(algorithm, library.api().version());
  if (!parsed) return Unexpected(std::move(parsed.error()));
  auto product = std::make_shared<const LtProduct>(library, operation, bias);
  auto checked = product->checked(*parsed);
  if (!checked) return Unexpected(std::move(checked.error()));
  return LtChoice{std::move(product), *checked};
}

bool has_lt_algorithms(const blas::Operation& operation) {
  return std::holds_alternative<blas::GemmShape>(operation.shape) &&
         LtProduct::has(operation.epilogue);
}

std::vector<std::string> lt_algorithms(const CublasLt& library, const blas::Operation& operation,
                                       const blas::Addresses& operands) {
  constexpr int kMost = 8;
  std::vector<std::string> texts;
  const LtProduct product(library, operation, operands[blas::kBias]);
  for (const LtAlgorithm& each : product.proposed(kMost, alignment_bytes(operands))) {
    texts.push_back(lt_text(each, library.api().version()));
  }
  return texts;
}

}  // namespace tuner::backend
