// SPDX-License-Identifier: Apache-2.0
// On a GPU, in the application's own streams, captures and contexts, with the shipped kernels.
#include "tests/dispatch/squares_family.hpp"
#include "tests/support/lone_final.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/backend/registry.hpp"
#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/gemm.hpp"
#include "tuner/family/family.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <thread>

namespace tuner::dispatch {
namespace {

#define EXPECT_CUDA(call) EXPECT_EQ(call, cudaSuccess)

/// Puts kernels of spaces/ into a database as if they had been tuned.
class ShippedDatabase {
 public:
  void add(const backend::Executor& executor, const std::string& kernel_name,
           const std::string& size, const std::string& config_json,
           const std::string& family_name = "gemm", const std::string& algorithm = "") {
    const family::Family family =
        family::load_family(TUNER_SOURCE_DIR "/spaces/" + family_name + ".json");
    const family::Kernel& kernel = family.kernel(kernel_name);
    Json headers = Json::array();
    for (const source::Header& header : kernel.source.headers) {
      headers.push_back({{"name", header.name}, {"text", header.text}});
    }
    const space::Config config = space::config_from_json(*kernel.space, config_json);
    store::Subject subject{.device = executor.device(),
                           .environment = executor.environment(),
                           .kernel = {.family = family.name,
                                      .kernel = kernel.name,
                                      .hash = kernel.hash,
                                      .space_text = family.text,
                                      .source_name = kernel.source.name,
                                      .source_text = kernel.source.text,
                                      .headers_json = headers.dump()}};
    store::Store store(path(), store::Store::Mode::read_write);
    store::RunRecord run;
    run.uuid = std::to_string(++runs_);
    run.problems = {size};
    const std::int64_t id = store.begin_run(subject, run);
    store::BestRecord best;
    best.problem = size;
    best.config_json = space::canonical_json(*kernel.space, config);
    best.time = {.median_ns = 1000, .q1_ns = 1000, .q3_ns = 1000, .min_ns = 1000, .samples = 30};
    best.library_ns = 2000;
    best.ratio_to_library = 2;
    if (!algorithm.empty()) {
      best.library_algorithm = algorithm;
      best.ratio_to_library_tuned = 0.5;
    }
    best.flops = best.bytes = 1e6;
    store::record_lone_final(store, id, best);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "tune.db"; }

 private:
  TemporaryDirectory folder_;
  int runs_ = 0;
};

/// Device memory of the current context, as whole numbers so that sums are exact.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t columns, int period)
      : host_(static_cast<std::size_t>(rows * columns)) {
    for (std::size_t i = 0; i < host_.size(); ++i) {
      host_[i] = static_cast<float>(static_cast<int>(i % static_cast<std::size_t>(period)) - 2);
    }
    EXPECT_CUDA(cudaMalloc(&memory_, bytes()));
    EXPECT_CUDA(cudaMemcpy(memory_, host_.data(), bytes(), cudaMemcpyHostToDevice));
  }
  ~Matrix() { cudaFree(memory_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  [[nodiscard]] float* get() const { return static_cast<float*>(memory_); }
  [[nodiscard]] const std::vector<float>& host() const { return host_; }
  [[nodiscard]] std::vector<float> download() const {
    std::vector<float> values(host_.size());
    EXPECT_CUDA(cudaMemcpy(values.data(), memory_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return host_.size() * sizeof(float); }
  std::vector<float> host_;
  void* memory_ = nullptr;
};

/// A context besides the primary one, current while it lives.
class OwnContext {
 public:
  OwnContext() {
    const auto create = reinterpret_cast<PFN_cuCtxCreate_v3020>(::dlsym(driver_, "cuCtxCreate_v2"));
    EXPECT_EQ(create(&context_, 0, 0), CUDA_SUCCESS);
  }
  ~OwnContext() {
    reinterpret_cast<PFN_cuCtxDestroy_v4000>(::dlsym(driver_, "cuCtxDestroy_v2"))(context_);
  }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;

 private:
  void* driver_ = ::dlopen("libcuda.so.1", RTLD_NOW);
  CUcontext context_ = nullptr;
};

[[nodiscard]] std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

/// What is captured on a stream of its own, ready to run there.
class CapturedGraph {
 public:
  template <class Work>
  explicit CapturedGraph(const Work& work) {
    EXPECT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    EXPECT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    work(stream_);
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamEndCapture(stream_, &graph));
    EXPECT_CUDA(cudaGraphInstantiate(&executable_, graph, 0));
    EXPECT_CUDA(cudaGraphDestroy(graph));
  }
  ~CapturedGraph() {
    cudaGraphExecDestroy(executable_);
    cudaStreamDestroy(stream_);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch() const { EXPECT_CUDA(cudaGraphLaunch(executable_, stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

struct Problem3 {
  std::int64_t m, n, k;
};
constexpr Problem3 kTiled = {256, 192, 128};
constexpr Problem3 kSplit = {64, 64, 4096};

class GpuDispatcherTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      executor_ = backend::open_executor("cuda", 0);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::no_device || std::getenv("TUNER_REQUIRE_GPU") != nullptr) {
        FAIL() << error.what();
      }
      GTEST_SKIP() << error.what();
    }
    database_.add(*executor_, "gemm_tiled", "256,192,128", "{}");
    database_.add(*executor_, "gemm_tiled", "64,64,4096",
                  R"({"THREAD_M":8,"THREAD_N":8,"LANES_M":4,"WARPS_M":2,"WARPS_N":2,"TILE_K":16,
                      "STAGES":3,"PRODUCERS":0,"COPY":1,"TRANSPOSE":1,"PAD":4,"STEP_K":1,"UNROLL_K":8,
                      "FRAGMENTS":2,"K_GROUPS":1,"SPLIT":4,"GROUP_M":8,"MIN_BLOCKS":4})");
    dispatcher_ = open(Table::database(database_.path()));
    library_ = open(Table::none());
  }

  [[nodiscard]] std::unique_ptr<Dispatcher> open(const Table& table) const {
    DispatchOptions options;
    options.cache = folder_.path() / "binaries";
    return std::make_unique<Dispatcher>(table, options);
  }
  static void multiply(Dispatcher& dispatcher, const Problem3& p, const Matrix& a, const Matrix& b,
                       const Matrix& c, cudaStream_t stream) {
    sgemm(dispatcher, stream, Transpose::no, Transpose::no, p.m, p.n, p.k, 1, a.get(), p.k, b.get(),
          p.n, 0, c.get(), p.n);
  }
  /// What cuBLAS makes of the same matrices.
  [[nodiscard]] std::vector<float> right(const Problem3& p, const Matrix& a, const Matrix& b) {
    const Matrix c(p.m, p.n, 3);
    multiply(*library_, p, a, b, c, nullptr);
    EXPECT_CUDA(cudaDeviceSynchronize());
    return c.download();
  }
  void prepare(const Problem3& p) {
    const FamilyId family = dispatcher_->family("gemm");
    const auto results =
        dispatcher_->prepare(family, std::vector<Size>{{p.m, p.n, p.k, 1, 0, 0, p.k, p.n, p.n}});
    ASSERT_TRUE(results[0].answer) << results[0].error;
    EXPECT_EQ(results[0].answer->rung, Rung::exact);
  }

  TemporaryDirectory folder_;
  ShippedDatabase database_;
  std::unique_ptr<backend::Executor> executor_;
  std::unique_ptr<Dispatcher> dispatcher_, library_;
};

TEST_F(GpuDispatcherTest, MultipliesInTheApplicationsStream) {
  const Matrix a(256, 128, 7), b(128, 192, 5), c(256, 192, 3);
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  multiply(*dispatcher_, kTiled, a, b, c, stream);
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(c.download(), right(kTiled, a, b));
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST_F(GpuDispatcherTest, WhatMeasurementChoseIsTheFastestOfThoseItNamesAndMultipliesRight) {
  const Problem3 p = {320, 192, 512};
  const auto done =
      dispatcher_->prepare(dispatcher_->family("gemm"), {{{p.m, p.n, p.k}}}, ChooseBy::measurement);
  ASSERT_TRUE(done.front().answer) << done.front().error;
  EXPECT_THAT(done.front().answer->explanation,
              testing::Contains(
                  testing::AnyOf(testing::HasSubstr("measured: the library takes"),
                                 testing::HasSubstr("measured: the library in graphs takes"))));
  EXPECT_THAT(done.front().answer->explanation,
              testing::Contains(testing::HasSubstr("measured: the library by algorithm")));
  EXPECT_GT(done.front().answer->expected_ns.value(), 1e3);
  EXPECT_LT(done.front().answer->expected_ns.value(), 1e6);
  const Matrix a(p.m, p.k, 7), b(p.k, p.n, 5), c(p.m, p.n, 3);
  multiply(*dispatcher_, p, a, b, c, nullptr);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(c.download(), right(p, a, b));
}

/// Elements of a type in device memory, from whole numbers.
class TypedMatrix {
 public:
  TypedMatrix(ElementType type, const std::vector<int>& numbers) : type_(type) {
    const std::size_t each = element_bytes(type);
    bytes_.resize(numbers.size() * each);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::uint64_t bits = bits_of(type, numbers[i]);
      std::memcpy(&bytes_[i * each], &bits, each);
    }
    EXPECT_CUDA(cudaMalloc(&memory_, bytes_.size()));
    EXPECT_CUDA(cudaMemcpy(memory_, bytes_.data(), bytes_.size(), cudaMemcpyHostToDevice));
  }
  ~TypedMatrix() { cudaFree(memory_); }
  TypedMatrix(const TypedMatrix&) = delete;
  TypedMatrix& operator=(const TypedMatrix&) = delete;
  [[nodiscard]] void* get() const { return memory_; }
  [[nodiscard]] std::vector<double> download() const {
    std::vector<std::byte> bytes(bytes_.size());
    EXPECT_CUDA(cudaMemcpy(bytes.data(), memory_, bytes.size(), cudaMemcpyDeviceToHost));
    const std::size_t each = element_bytes(type_);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < bytes.size(); i += each) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &bytes[i], each);
      numbers.push_back(number_of(type_, bits));
    }
    return numbers;
  }

 private:
  ElementType type_;
  std::vector<std::byte> bytes_;
  void* memory_ = nullptr;
};

std::vector<int> whole_numbers(std::int64_t count, int period) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<int>(i) % period - period / 2;
  }
  return numbers;
}

/// A type of the typed call and what it is called in a size.
struct TypedCase {
  GemmType type;
  const char* name;
  ElementType of, result;
};
constexpr std::array<TypedCase, 4> kTypedCases = {
    {{GemmType::bf16, "bf16", ElementType::bf16, ElementType::bf16},
     {GemmType::f16, "f16", ElementType::f16, ElementType::f16},
     {GemmType::f64, "f64", ElementType::f64, ElementType::f64},
     {GemmType::s8, "s8", ElementType::s8, ElementType::s32}}};

/// Those that the family has no kernels for.
constexpr std::array<TypedCase, 2> kLibraryCases = {
    {{GemmType::tf32, "tf32", ElementType::tf32, ElementType::f32},
     {GemmType::e4m3, "e4m3", ElementType::e4m3, ElementType::bf16}}};

/// Products of whole numbers, row-major, A not transposed and B stored transposed: 3 of a batch
/// that lie `gap` elements apart.
class TypedGpuGemmTest : public GpuDispatcherTest {
 protected:
  static constexpr std::int64_t kM = 48, kN = 64, kK = 128, kBatch = 3;

  static std::string size(const char* type) {
    return fmt::format("{},{},{},BATCH={},TRANS_B=1,TYPE={}", kM, kN, kK, kBatch, type);
  }
  /// Whether a call gives 2·A·Bᵀ + C.
  static bool is_right(Dispatcher& dispatcher, const TypedCase& types, std::int64_t gap = 0,
                       cudaStream_t stream = nullptr) {
    const std::int64_t stride_a = kM * kK + gap, stride_b = kN * kK + gap, stride_c = kM * kN + gap;
    const std::vector<int> a = whole_numbers(kBatch * stride_a, 7);
    const std::vector<int> b = whole_numbers(kBatch * stride_b, 5);
    const std::vector<int> c = whole_numbers(kBatch * stride_c, 3);
    const TypedMatrix on_a(types.of, a), on_b(types.of, b), on_c(types.result, c);
    gemm(dispatcher, stream,
         {.type = types.type,
          .trans_b = Transpose::yes,
          .m = kM,
          .n = kN,
          .k = kK,
          .batch = kBatch,
          .stride_a = stride_a,
          .stride_b = stride_b,
          .stride_c = stride_c},
         2, on_a.get(), on_b.get(), 1, on_c.get());
    EXPECT_CUDA(cudaDeviceSynchronize());
    std::vector<double> expected(c.begin(), c.end());
    for (std::int64_t i = 0; i < kBatch * kM * kN; ++i) {
      const std::int64_t matrix = i / (kM * kN), row = i / kN % kM, column = i % kN;
      int sum = 0;
      for (std::int64_t k = 0; k < kK; ++k) {
        sum += a[static_cast<std::size_t>(matrix * stride_a + row * kK + k)] *
               b[static_cast<std::size_t>(matrix * stride_b + column * kK + k)];
      }
      double& result = expected[static_cast<std::size_t>(matrix * stride_c + row * kN + column)];
      result = number_of(types.result, bits_of(types.result, 2 * sum + result));
    }
    return on_c.download() == expected;
  }
  static Size in_gemm(std::int64_t type) { return {kM, kN, kK, kBatch, 0, 1, kK, kK, kN, 4, type}; }
  [[nodiscard]] static Answer answer(Dispatcher& dispatcher, std::int64_t type) {
    return dispatcher.answer(dispatcher.family("gemm"), in_gemm(type));
  }
};

TEST_F(TypedGpuGemmTest, EveryTypeIsServedByAKernelOfItsOwn) {
  for (const TypedCase& types : kTypedCases) {
    database_.add(*executor_, "gemm_naive", size(types.name), "{}");
  }
  const auto dispatcher = open(Table::database(database_.path()));
  std::int64_t value = 0;  // of TYPE: f32 is the first
  for (const TypedCase& types : kTypedCases) {
    EXPECT_EQ(answer(*dispatcher, ++value).rung, Rung::exact) << types.name;
    EXPECT_TRUE(is_right(*dispatcher, types)) << types.name;
    EXPECT_EQ(answer(*dispatcher, value).kernel, "gemm_naive") << "its kernel could be launched";
  }
}

TEST_F(TypedGpuGemmTest, WhatTheTableDoesNotHaveIsTheLibrarys) {
  database_.add(*executor_, "gemm_naive", size("bf16"), "{}");
  const auto dispatcher = open(Table::database(database_.path()));
  for (const TypedCase& types : kTypedCases) {
    EXPECT_TRUE(is_right(*dispatcher, types)) << types.name;
    EXPECT_TRUE(is_right(*dispatcher, types, 16)) << types.name << ", matrices apart";
    EXPECT_TRUE(is_right(*library_, types)) << types.name << ", no table";
  }
  for (const TypedCase& types : kLibraryCases) {
    EXPECT_TRUE(is_right(*dispatcher, types)) << types.name;
    EXPECT_TRUE(is_right(*library_, types, 16)) << types.name << ", matrices apart";
  }
}

/// All algorithms that cublasLt proposes for this size on an H200 need a workspace.
TEST_F(TypedGpuGemmTest, TheLibraryHasAWorkspaceForE4m3) {
  constexpr std::int64_t m = 16, n = 3584, k = 18944;
  const TypedMatrix a(ElementType::e4m3, std::vector<int>(m * k, 1));
  const TypedMatrix b(ElementType::e4m3, std::vector<int>(n * k, 1));
  const TypedMatrix c(ElementType::bf16, std::vector<int>(m * n, 0));
  const auto multiply = [&](cudaStream_t stream) {
    gemm(*library_, stream,
         {.type = GemmType::e4m3, .trans_b = Transpose::yes, .m = m, .n = n, .k = k}, 1, a.get(),
         b.get(), 0, c.get());
  };
  const std::vector<double> expected(m * n, static_cast<double>(k));  // a bf16
  multiply(nullptr);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(c.download(), expected);
  EXPECT_CUDA(cudaMemset(c.get(), 0, 2 * m * n));
  CapturedGraph(multiply).launch();
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(c.download(), expected);
}

TEST_F(TypedGpuGemmTest, TheLibrarysFastestAlgorithmServesStreamsAndGraphs) {
  const auto backend = backend::open_backend("cuda", 0);
  blas::GemmShape shape = blas::packed_gemm(kM, kN, kK, Transpose::no, Transpose::yes, kBatch);
  const auto buffer = backend->allocate(std::size_t{1} << 20);
  backend::LibraryCall call{.operation = {.type = ElementType::bf16, .shape = shape},
                            .operands = {}};
  for (const std::size_t operand : {blas::kA, blas::kB, blas::kC}) call.operands[operand] = buffer;
  const std::vector<std::string> algorithms = backend->library_algorithms(call);
  ASSERT_FALSE(algorithms.empty());
  const TypedCase& bf16 = kTypedCases[0];
  for (const std::string& algorithm : algorithms) {
    ShippedDatabase database;
    database.add(*executor_, "gemm_naive", size("bf16"), "{}", "gemm", algorithm);
    const auto dispatcher = open(Table::database(database.path()));
    EXPECT_TRUE(is_right(*dispatcher, bf16)) << algorithm;
    EXPECT_EQ(answer(*dispatcher, 1).rung, Rung::library_tuned) << algorithm;
    const TypedMatrix a(ElementType::bf16, whole_numbers(kBatch * kM * kK, 7));
    const TypedMatrix b(ElementType::bf16, whole_numbers(kBatch * kN * kK, 5));
    const TypedMatrix c(ElementType::bf16, whole_numbers(kBatch * kM * kN, 3));
    const auto multiply_once = [&](cudaStream_t stream) {
      gemm(*dispatcher, stream,
           {.type = GemmType::bf16,
            .trans_b = Transpose::yes,
            .m = kM,
            .n = kN,
            .k = kK,
            .batch = kBatch},
           1, a.get(), b.get(), 0, c.get());
    };
    multiply_once(nullptr);
    EXPECT_CUDA(cudaDeviceSynchronize());
    const std::vector<double> expected = c.download();
    EXPECT_CUDA(cudaMemset(c.get(), 0, 2 * kBatch * kM * kN));
    CapturedGraph(multiply_once).launch();
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(c.download(), expected) << algorithm;
  }
}

TEST_F(TypedGpuGemmTest, AnAlgorithmOfAnotherVersionFallsBackOnTheLibrarysOwnChoice) {
  ShippedDatabase database;
  database.add(*executor_, "gemm_naive", size("bf16"), "{}", "gemm",
               "cublasLt/90000/16/" + std::string(128, '0'));
  const auto dispatcher = open(Table::database(database.path()));
  EXPECT_TRUE(is_right(*dispatcher, kTypedCases[0]));
  // An installed table may serve the call by another family.
  EXPECT_TRUE(dispatcher->prepare(dispatcher->family("gemm"), {{in_gemm(1)}}).front().answer);
  const Answer now = answer(*dispatcher, 1);
  EXPECT_NE(now.rung, Rung::library_tuned);
  EXPECT_THAT(now.explanation,
              testing::Contains(testing::HasSubstr("the algorithm is of cublasLt 90000")));
}

/// A thread that loaded no kernel itself has no CUDA context yet.
TEST_F(GpuDispatcherTest, AThreadPreparesWithTheKernelThatAnotherOneLoaded) {
  constexpr const char* kOther = "512,192,128";  // tuned: an installed table may serve other sizes
  database_.add(*executor_, "gemm_tiled", kOther, "{}");
  const auto dispatcher = open(Table::database(database_.path()));
  const FamilyId family = dispatcher->family("gemm");
  const auto prepared = [&](const char* size) {
    return dispatcher->prepare(family, {{dispatcher->parse_size(family, size)}});
  };
  std::vector<Preparation> results = prepared("256,192,128");
  ASSERT_TRUE(results.front().answer) << results.front().error;
  std::jthread([&] { results = prepared(kOther); }).join();
  ASSERT_TRUE(results.front().answer) << results.front().error;
  EXPECT_EQ(results.front().answer->kernel, "gemm_tiled");
  EXPECT_THAT(results.front().answer->explanation,
              testing::Not(testing::Contains(testing::HasSubstr("skipped"))));
}

TEST_F(GpuDispatcherTest, BuffersThatBeginAnywhereAreMultipliedToo) {
  const Matrix a(257, 128, 7), b(129, 192, 5), c(257, 192, 3), whole(256, 192, 3);
  sgemm(*dispatcher_, nullptr, Transpose::no, Transpose::no, 256, 192, 128, 1, a.get() + 1, 128,
        b.get() + 2, 192, 0, c.get() + 3, 192);
  sgemm(*library_, nullptr, Transpose::no, Transpose::no, 256, 192, 128, 1, a.get() + 1, 128,
        b.get() + 2, 192, 0, whole.get(), 192);
  EXPECT_CUDA(cudaDeviceSynchronize());
  const std::vector<float> found = c.download();
  EXPECT_EQ(std::vector<float>(found.begin() + 3, found.begin() + 3 + 256 * 192), whole.download());
}

TEST_F(GpuDispatcherTest, RunsInACapturedGraph) {
  for (const Problem3& p : {kTiled, kSplit}) {
    const Problem3 part = {p.m, p.n, p.k / 2 + 1};  // never prepared
    const Matrix a(p.m, p.k, 7), b(p.k, p.n, 5), c(p.m, p.n, 3), of_part(p.m, p.n, 3);
    prepare(p);
    cudaStream_t stream = nullptr;
    EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    multiply(*dispatcher_, p, a, b, c, stream);
    multiply(*dispatcher_, part, a, b, of_part, stream);
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable = nullptr;
    EXPECT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i) EXPECT_CUDA(cudaGraphLaunch(executable, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(c.download(), right(p, a, b));
    EXPECT_EQ(of_part.download(), right(part, a, b));
    EXPECT_CUDA(cudaGraphExecDestroy(executable));
    EXPECT_CUDA(cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaStreamDestroy(stream));
  }
}

TEST_F(GpuDispatcherTest, AnyNumberOfGraphsRunAtOnce) {
  const Matrix a(64, 4096, 7), b(4096, 64, 5);
  const Problem3 by_library = {63, 64, 4096};
  prepare(kSplit);
  struct Captured {
    Matrix split{64, 64, 3}, library{63, 64, 3};
    std::unique_ptr<CapturedGraph> graph;
  };
  std::vector<std::unique_ptr<Captured>> all;
  for (int i = 0; i < 24; ++i) {
    auto& it = *all.emplace_back(std::make_unique<Captured>());
    it.graph = std::make_unique<CapturedGraph>([&](cudaStream_t stream) {
      multiply(*dispatcher_, kSplit, a, b, it.split, stream);
      multiply(*library_, by_library, a, b, it.library, stream);
      multiply(*dispatcher_, kSplit, a, b, it.split, stream);
    });
  }
  for (int run = 0; run < 20; ++run) {
    for (const auto& it : all) it->graph->launch();
  }
  EXPECT_CUDA(cudaDeviceSynchronize());
  const std::vector<float> split = right(kSplit, a, b), library = right(by_library, a, b);
  for (const auto& it : all) {
    EXPECT_EQ(it->split.download(), split);
    EXPECT_EQ(it->library.download(), library);
  }
}

TEST_F(GpuDispatcherTest, MemoryOfGraphsThatAreGoneIsForOthers) {
  const Matrix a(64, 4096, 7), b(4096, 64, 5), c(64, 64, 3), d(64, 64, 3);
  prepare(kSplit);
  const auto capture_and_run = [&] {
    const CapturedGraph graph([&](cudaStream_t stream) {
      multiply(*dispatcher_, kSplit, a, b, c, stream);
      multiply(*library_, kSplit, a, b, d, stream);
    });
    graph.launch();
    EXPECT_CUDA(cudaDeviceSynchronize());
  };
  capture_and_run();
  const std::size_t before = free_bytes();
  for (int i = 0; i < 100; ++i) capture_and_run();
  // The driver says late, on a thread of its own, that a graph is gone: a few more may be needed.
  EXPECT_GT(free_bytes() + (std::size_t{512} << 20), before) << "of 100 times 32 MiB";
  EXPECT_EQ(c.download(), right(kSplit, a, b));
}

TEST_F(GpuDispatcherTest, GraphsOfLibraryCallsWithoutAWorkspaceTakeNoMemory) {
  const Matrix a(64, 64, 7), b(64, 64, 5), c(64, 64, 3);
  const Problem3 p = {64, 64, 64};
  std::vector<std::unique_ptr<CapturedGraph>> graphs;
  const auto capture = [&] {
    graphs.push_back(std::make_unique<CapturedGraph>(
        [&](cudaStream_t stream) { multiply(*library_, p, a, b, c, stream); }));
  };
  capture();
  const std::size_t before = free_bytes();
  for (int i = 0; i < 20; ++i) capture();
  EXPECT_GT(free_bytes() + (std::size_t{64} << 20), before) << "20 workspaces are 640 MiB";
  for (const auto& graph : graphs) graph->launch();
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(c.download(), right(p, a, b));
}

TEST_F(GpuDispatcherTest, AGraphOfALibraryThatWasNeverUsedBeforeIsCaptured) {
  const Matrix a(64, 64, 7), b(64, 64, 5), c(64, 64, 3);
  const Problem3 p = {64, 64, 64};
  {
    const CapturedGraph graph(
        [&](cudaStream_t stream) { multiply(*library_, p, a, b, c, stream); });
    graph.launch();
    EXPECT_CUDA(cudaDeviceSynchronize());
  }
  EXPECT_EQ(c.download(), right(p, a, b));
}

TEST_F(GpuDispatcherTest, ACapturedGraphKeepsAnArrayAsItWas) {
  database_.add(*executor_, "convolution_naive", "8,8,3", "{}", "convolution");
  dispatcher_->reload(Table::database(database_.path()));
  const FamilyId family = dispatcher_->family("convolution");
  const Size size = {8, 8, 3};
  const auto prepared = dispatcher_->prepare(family, std::vector<Size>{size});
  ASSERT_TRUE(prepared[0].answer) << prepared[0].error;
  const Matrix in(10, 10, 7), out(8, 8, 3);
  std::array<float, 9> filter{};
  filter[4] = 2;  // its middle
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  dispatcher_->launch(
      family, size,
      std::vector<DispatchArgument>{in.get(), DispatchArgument::array(filter.data()), out.get()},
      stream);
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
  filter.fill(0);
  cudaGraphExec_t executable = nullptr;
  EXPECT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT_CUDA(cudaGraphLaunch(executable, stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  std::vector<float> right;
  for (std::size_t i = 0; i < 64; ++i) right.push_back(2 * in.host()[(i / 8 + 1) * 10 + i % 8 + 1]);
  EXPECT_EQ(out.download(), right);
  EXPECT_CUDA(cudaGraphExecDestroy(executable));
  EXPECT_CUDA(cudaGraphDestroy(graph));
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST_F(GpuDispatcherTest, EveryStepOfAKernelIsLaunchedAndCaptured) {
  TunedDatabase tuned(executor_->device(), executor_->environment());
  tuned.add(squares("16"));
  const auto dispatcher = open(Table::database(tuned.path()));
  const FamilyId family = dispatcher->family("squares");
  const Matrix x(1, 16, 5), y(1, 1, 1);
  const auto launch = [&](float factor, cudaStream_t stream) {
    const std::array<DispatchArgument, 3> arguments = {factor, x.get(), y.get()};
    dispatcher->launch(family, Size{16}, arguments, stream);
  };
  float sum = 0;
  for (const float value : x.host()) sum += value * value;
  launch(1, nullptr);
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(y.download(), std::vector<float>{sum});
  const CapturedGraph graph([&](cudaStream_t stream) { launch(2, stream); });
  graph.launch();
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(y.download(), std::vector<float>{2 * sum});
}

TEST_F(GpuDispatcherTest, TwoStreamsThatSplitKAtOnceDoNotDisturbEachOther) {
  const Matrix a(64, 4096, 7), b(4096, 64, 5), other(4096, 64, 3);
  const Matrix first(64, 64, 3), second(64, 64, 3);
  prepare(kSplit);
  const auto repeat = [&](const Matrix& operand, const Matrix& result) {
    cudaStream_t stream = nullptr;
    EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 200; ++i) multiply(*dispatcher_, kSplit, a, operand, result, stream);
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_CUDA(cudaStreamDestroy(stream));
  };
  {
    std::jthread one([&] { repeat(b, first); });
    std::jthread two([&] { repeat(other, second); });
  }
  EXPECT_EQ(first.download(), right(kSplit, a, b));
  EXPECT_EQ(second.download(), right(kSplit, a, other));
}

TEST_F(GpuDispatcherTest, WorksInAContextOfTheApplicationsOwn) {
  prepare(kTiled);
  const Matrix a0(256, 128, 7), b0(128, 192, 5);
  const std::vector<float> expected = right(kTiled, a0, b0);
  const OwnContext own;
  {
    const Matrix a(256, 128, 7), b(128, 192, 5), c(256, 192, 3);
    cudaStream_t stream = nullptr;
    EXPECT_CUDA(cudaStreamCreate(&stream));
    multiply(*dispatcher_, kTiled, a, b, c, stream);
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(c.download(), expected);
    EXPECT_CUDA(cudaStreamDestroy(stream));
  }
}

}  // namespace
}  // namespace tuner::dispatch
