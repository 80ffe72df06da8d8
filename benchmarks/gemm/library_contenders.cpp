// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/library_contenders.hpp"

#include "tuner/backend/cuda/cublas_api.hpp"
#include "tuner/backend/cuda/cublas_lt.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cublas_v2.h>
#include <cudaTypedefs.h>

#include <cstdint>
#include <cstdlib>
#include <cxxabi.h>
#include <string_view>

namespace tuner::gemm_benchmark {
namespace {

/// What cuBLAS takes for itself on Hopper. Given to it, so that a captured launch allocates
/// nothing.
constexpr std::size_t kWorkspace_bytes = std::size_t{32} << 20;

cublasOperation_t operation(std::int64_t transposed) {
  return transposed == 0 ? CUBLAS_OP_N : CUBLAS_OP_T;
}

float* floats(std::byte* memory) {
  return reinterpret_cast<float*>(memory);
}

/// A library's refusal as a launch_error, anything else as crashed.
Expected<void, Failure> blas_result(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const bool refused =
      status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_INVALID_VALUE ||
      status == CUBLAS_STATUS_ARCH_MISMATCH || status == CUBLAS_STATUS_NOT_SUPPORTED;
  return Unexpected(Failure{refused ? Outcome::launch_error : Outcome::crashed,
                            fmt::format("cublasStatus_t {}", static_cast<int>(status))});
}

}  // namespace

struct CublasContenders::Api : backend::CublasApi {};

CublasContenders::CublasContenders(cudaStream_t stream)
    : api_(std::make_unique<const Api>()),
      workspace_(backend::make_device_memory(kWorkspace_bytes)) {
  require(blas_result(api_->create(&context_)), "start cuBLAS");
  // In this order: a new stream takes a workspace back.
  require(blas_result(api_->set_stream(context_, stream)), "give cuBLAS its stream");
  require(blas_result(api_->set_workspace(context_, workspace_.get(), kWorkspace_bytes)),
          "give cuBLAS its workspace");
  require(
      blas_result(api_->set_math_mode(
          context_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                              CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION))),
      "set cuBLAS's math mode");
}

CublasContenders::~CublasContenders() {
  if (context_ != nullptr) api_->destroy(context_);
}

std::string CublasContenders::version() const {
  return backend::cublas_version(*api_);
}

Expected<void, Failure> CublasContenders::multiply(const Shape& shape,
                                                   const OperandSet& set) const {
  const float one = 1;
  const float zero = 0;
  if (shape.batch == 1) {
    return blas_result(api_->sgemm(context_, operation(shape.trans_b), operation(shape.trans_a),
                                   shape.n, shape.m, shape.k, &one, floats(set.b), shape.ldb,
                                   floats(set.a), shape.lda, &zero, floats(set.c), shape.ldc));
  }
  return blas_result(api_->sgemm_batched(
      context_, operation(shape.trans_b), operation(shape.trans_a), shape.n, shape.m, shape.k, &one,
      floats(set.b), shape.ldb, matrix_b(shape).stride(), floats(set.a), shape.lda,
      matrix_a(shape).stride(), &zero, floats(set.c), shape.ldc, matrix_c(shape).stride(),
      shape.batch));
}

Expected<void, Failure> CublasContenders::multiply_typed(const Shape& shape,
                                                         const OperandSet& set) const {
  const auto type = static_cast<cudaDataType_t>(row(shape.type).cuda.value);
  const auto result = static_cast<cudaDataType_t>(row(shape.result).cuda.value);
  const double one_f64 = 1, zero_f64 = 0;
  const float one_f32 = 1, zero_f32 = 0;
  const std::int32_t one_s32 = 1, zero_s32 = 0;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  const void* one = &one_f32;
  const void* zero = &zero_f32;
  if (shape.type == ElementType::tf32) compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (shape.type == ElementType::f64) {
    compute = CUBLAS_COMPUTE_64F;
    one = &one_f64;
    zero = &zero_f64;
  } else if (shape.type == ElementType::s8) {
    compute = CUBLAS_COMPUTE_32I;
    one = &one_s32;
    zero = &zero_s32;
  }
  return blas_result(api_->gemm_batched_ex(
      context_, operation(shape.trans_b), operation(shape.trans_a), shape.n, shape.m, shape.k, one,
      set.b, type, shape.ldb, matrix_b(shape).stride(), set.a, type, shape.lda,
      matrix_a(shape).stride(), zero, set.c, result, shape.ldc, matrix_c(shape).stride(),
      shape.batch, compute, CUBLAS_GEMM_DEFAULT));
}

Contender CublasContenders::contender(const Shape& shape, const Operands& operands) const {
  // A row-major matrix is its transpose to cuBLAS, which counts by columns: Cᵀ = op(B)ᵀ·op(A)ᵀ.
  const bool is_float = shape.type == ElementType::f32;
  return {.role = Role::cublas,
          .kernel = {},
          .launch =
              [=, this, &operands](std::size_t index) {
                return is_float ? multiply(shape, operands.set(index))
                                : multiply_typed(shape, operands.set(index));
              },
          .before_capture = [] {}};
}

namespace {

constexpr int kHeuristics = 16;
constexpr std::uint32_t kAlignmentBytes = 256;

blas::MatrixLayout layout(const StoredMatrix& matrix) {
  return {
      .rows = matrix.rows, .columns = matrix.columns, .ld = matrix.ld, .stride = matrix.stride()};
}

blas::Operation lt_operation(const Shape& shape) {
  const auto transpose = [](std::int64_t transposed) {
    return transposed == 0 ? Transpose::no : Transpose::yes;
  };
  return {.type = shape.type,
          .result = shape.result,
          .shape = blas::GemmShape{.m = shape.m,
                                   .n = shape.n,
                                   .k = shape.k,
                                   .trans_a = transpose(shape.trans_a),
                                   .trans_b = transpose(shape.trans_b),
                                   .batch = shape.batch,
                                   .a = layout(matrix_a(shape)),
                                   .b = layout(matrix_b(shape)),
                                   .c = layout(matrix_c(shape))}};
}

}  // namespace

CublasLtContenders::CublasLtContenders(cudaStream_t stream)
    : stream_(stream),
      library_(std::make_unique<const backend::CublasLt>()),
      workspace_(backend::make_device_memory(backend::CublasLt::kWorkspaceBytes)) {}

CublasLtContenders::~CublasLtContenders() = default;

std::vector<Contender> CublasLtContenders::contenders(const Shape& shape, const Operands& operands,
                                                      std::size_t others) const {
  const auto product = std::make_shared<const backend::LtProduct>(*library_, lt_operation(shape));
  const std::int64_t offset = offset_bytes(shape);
  const auto alignment =
      offset == 0 ? kAlignmentBytes : static_cast<std::uint32_t>(offset & -offset);
  std::vector<backend::LtAlgorithm> algorithms = product->proposed(kHeuristics, alignment);
  const std::vector<backend::LtAlgorithm> drawn = product->drawn(others, alignment);
  algorithms.insert(algorithms.end(), drawn.begin(), drawn.end());
  std::vector<Contender> all;
  for (const backend::LtAlgorithm& algorithm : algorithms) {
    all.push_back({.role = Role::cublas_lt,
                   .kernel = product->describe(algorithm),
                   .launch = [=, this, &operands](std::size_t index) {
                     const OperandSet set = operands.set(index);
                     return product->multiply({.places = {{set.a, set.b, set.c}}}, algorithm,
                                              workspace_.get(), stream_);
                   }});
  }
  return all;
}

namespace {

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

/// The text without what stands in angle brackets and without the parameters.
std::string without_arguments(const std::string& name) {
  std::string kept;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0 && c == '(') break;
    if (depth == 0) kept += c;
    if (c == '>') --depth;
  }
  return kept;
}

/// A function of the driver, reached through the runtime; null where it has none of that version.
template <class Function>
Function driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
  if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
  return result == cudaSuccess && found == cudaDriverEntryPointSuccess
             ? reinterpret_cast<Function>(function)
             : nullptr;
}

/// The runtime would answer only for kernels that this program registered with it, which the
/// library's are not.
std::string kernel_name(cudaGraphNode_t node) {
  static const auto parameters_of =
      driver_function<PFN_cuGraphKernelNodeGetParams_v12000>("cuGraphKernelNodeGetParams", 12000);
  static const auto function_name =
      driver_function<PFN_cuFuncGetName_v12030>("cuFuncGetName", 12030);
  static const auto name_of_kernel =
      driver_function<PFN_cuKernelGetName_v12030>("cuKernelGetName", 12030);
  if (parameters_of == nullptr || function_name == nullptr || name_of_kernel == nullptr) return {};
  CUDA_KERNEL_NODE_PARAMS parameters{};
  if (parameters_of(node, &parameters) != CUDA_SUCCESS) return {};
  const char* name = nullptr;
  const CUresult named = parameters.func != nullptr ? function_name(&name, parameters.func)
                                                    : name_of_kernel(&name, parameters.kern);
  return named == CUDA_SUCCESS && name != nullptr ? short_kernel_name(name) : std::string();
}

}  // namespace

std::string short_kernel_name(const std::string& symbol) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string name = demangled(symbol);
  for (std::size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed)) {
    name.erase(at, kUnnamed.size());
  }
  for (const std::string_view wrapper : {"void cutlass::Kernel2<", "void cutlass::Kernel<"}) {
    if (!name.starts_with(wrapper)) continue;
    return name.substr(wrapper.size(), name.find_first_of("<>,", wrapper.size()) - wrapper.size());
  }
  // What the return type is says nothing.
  name = without_arguments(name);
  return name.substr(name.rfind(' ') + 1);
}

std::string kernel_names(const backend::Graph& graph) {
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph.get(), nullptr, &count) != cudaSuccess) return {};
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph.get(), nodes.data(), &count) != cudaSuccess) return {};
  std::vector<std::string> names;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess || type != cudaGraphNodeTypeKernel) {
      continue;
    }
    if (std::string name = kernel_name(node); !name.empty()) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, " + "));
}

}  // namespace tuner::gemm_benchmark
