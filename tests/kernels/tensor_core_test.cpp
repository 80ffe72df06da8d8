// SPDX-License-Identifier: Apache-2.0
// The host versions of the wrappers for tensor cores in kernels/common.
#include "mma_probes.hpp"
#include "tensor_core_probes.hpp"
#include "tests/support/cached_cpu_backend.hpp"

namespace tuner {
namespace {

class TensorCoreTest : public testing::Test {
 protected:
  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  TensorCoreProbes probes_{*backend_};
};

TEST_F(TensorCoreTest, CopiesOfBoxesAreSwizzledWithZerosOutsideOfTheTensor) {
  probes_.expect_copy(0, 0, 0, 8);
  probes_.expect_copy(32, 5, 1, 16);
  probes_.expect_copy(-8, -2, 1, 8);
  probes_.expect_copy(72, 3, 0, 8);
}

TEST_F(TensorCoreTest, DescriptorsHaveTheBitsThatTheInstructionReads) {
  probes_.expect_descriptors();
}

TEST_F(TensorCoreTest, ProductsReadOperandsOfEitherOrderInSharedMemory) {
  probes_.expect_products();
}

TEST_F(TensorCoreTest, MatricesAreLoadedAsTheyAreAndTransposed) {
  MmaProbes(*backend_).expect_matrices();
}

TEST_F(TensorCoreTest, ProductsOfTf32DoNotReadTheLowerBits) {
  MmaProbes(*backend_).expect_multiplies_tf32();
}

}  // namespace
}  // namespace tuner
