// SPDX-License-Identifier: Apache-2.0
// Programs that are not linked to cuBLAS, and load it in their own ways.
#include "tests/cublas/preloaded.hpp"

#include <cublas_v2.h>

#include <array>
#include <dlfcn.h>

namespace tuner::cublas {
namespace {

using testing::HasSubstr;

class LateTest : public Preloaded {
 protected:
  LateTest() { tune({"2,2,2"}); }

  static void* open(const char* file, int flags) {
    void* const library = ::dlopen(file, flags);
    EXPECT_NE(library, nullptr) << ::dlerror();
    return library;
  }
  template <class Function>
  static Function* find(void* library, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library, name));
  }
  /// Multiplies with functions that the program looked up; 0: it was right.
  static int multiply(void* library) {
    const auto create = find<decltype(cublasCreate_v2)>(library, "cublasCreate_v2");
    const auto sgemm = find<decltype(cublasSgemm_v2)>(library, "cublasSgemm_v2");
    if (create == nullptr || sgemm == nullptr) return 1;
    cublasHandle_t handle = nullptr;
    create(&handle);
    const std::array<float, 4> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
    std::array<float, 4> c{};
    const float one = 1, zero = 0;
    sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a.data(), 2, b.data(), 2, &zero,
          c.data(), 2);
    return c == std::array<float, 4>{23, 34, 31, 46} ? 0 : 1;
  }
};

TEST_F(LateTest, AnExtensionWithCublasOfItsOwnIsServed) {
  EXPECT_THAT(log_of([] {
                void* const extension = open(TUNER_EXTENSION, RTLD_NOW | RTLD_LOCAL);
                return find<int()>(extension, "extension_multiplies")() == 1 ? 0 : 1;
              }),
              HasSubstr("1 served, 0 passed to cuBLAS"));
}

TEST_F(LateTest, AProgramThatLooksFunctionsUpIsServed) {
  EXPECT_THAT(log_of([] { return multiply(open(TUNER_STANDIN, RTLD_NOW | RTLD_LOCAL)); }),
              HasSubstr("1 served, 0 passed to cuBLAS"));
}

TEST_F(LateTest, CublasMayBeLoadedForAllLate) {
  EXPECT_THAT(log_of([] {
                open(TUNER_STANDIN, RTLD_NOW | RTLD_GLOBAL);
                return multiply(RTLD_DEFAULT);
              }),
              HasSubstr("1 served, 0 passed to cuBLAS"));
}

TEST_F(LateTest, WithoutCublasACallFails) {
  const auto create = find<decltype(cublasCreate_v2)>(RTLD_DEFAULT, "cublasCreate_v2");
  ASSERT_NE(create, nullptr) << "it is preloaded";
  cublasHandle_t handle = nullptr;
  EXPECT_EQ(create(&handle), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST_F(LateTest, OffLooksFunctionsUpInCublas) {
  ::setenv("TUNER_CUBLAS", "off", 1);
  Dl_info info{};
  void* const library = open(TUNER_STANDIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(::dladdr(::dlsym(library, "cublasSgemm_v2"), &info), 0);
  EXPECT_THAT(info.dli_fname, HasSubstr("libcublas.so.13"));
}

TEST_F(LateTest, OtherFunctionsAreLookedUpAsEver) {
  void* const library = open(TUNER_STANDIN, RTLD_NOW | RTLD_LOCAL);
  Dl_info info{};
  ASSERT_NE(::dladdr(::dlsym(library, "cublasGetStream_v2"), &info), 0);
  EXPECT_THAT(info.dli_fname, HasSubstr("libcublas.so.13"));
  EXPECT_EQ(::dlsym(library, "cublasNoSuchFunction"), nullptr);
  EXPECT_THAT(::dlerror(), HasSubstr("cublasNoSuchFunction"));
  // Who asks is this program, not the library that passes the question on.
  ASSERT_NE(::dladdr(::dlsym(RTLD_NEXT, "malloc"), &info), 0);
  EXPECT_THAT(info.dli_fname, HasSubstr("libc.so"));
}

}  // namespace
}  // namespace tuner::cublas
