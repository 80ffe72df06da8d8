// SPDX-License-Identifier: Apache-2.0
// Kernels broken in the ways in which kernels break: each must be found out.
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/verify/gemm_family.hpp"
#include "tests/verify/verify_configuration.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A mistake: what it replaces in the kernel, and what of the message shows where it was found.
struct Mutant {
  std::string name, from, to, message = "";
};

const std::vector<Mutant> kMutants = {
    {"drops the tail of K", "k < K", "k < K / 4 * 4"},
    {"leaves out the first slice of K", "k = 0", "k = 1"},
    {"guards M off by one", "row >= M", "row >= M - 1"},
    {"guards N off by one", "col >= N", "col >= N - 1"},
    {"does nothing", "row >= M ||", "true || row >= M ||"},
    {"computes NaN in one element", "sum = 0.0f", "sum = row + col == 11 ? 0.0f / 0.0f : 0.0f",
     "C[41] (row 5, column 6) is NaN, should be"},
    {"writes a constant", "c = beta", "c = 1.0f; return; c = beta"},
    {"ignores beta", "+ beta * c", "+ c", "alpha=3, beta=-2"},
    {"ignores alpha", "alpha * sum + beta", "sum + beta", "alpha=3, beta=-2"},
    {"transposes the output", "C[row * N + col]", "C[col * M + row]"},
    {"is wrong when N is odd", "sum = 0.0f", "sum = N % 2"},
    {"sums twice", "for (int k", "for (int twice = 0; twice < 2; ++twice) for (int k"},
    {"adds to the output", "c = beta", "c += beta", "is NaN"},
    {"reads C although beta is 0", "beta == 0.0f ?", "false ?", "is NaN"},
    {"is wrong at large sizes only", "sum = 0.0f", "sum = K > 30",
     "size 20x24x31, whole-number inputs"},
    {"computes in too few bits", "sum += A[row * K + k]", "sum += (int)A[row * K + k]",
     "size 1x1x1, normal inputs"},
};

std::string mutated(const Mutant& mutant) {
  std::string source(gemm::kSource);
  const std::size_t at = source.find(mutant.from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "the kernel has no " << mutant.from;
    return source;
  }
  return source.replace(at, mutant.from.size(), mutant.to);
}

const space::Size kSize = {20, 24, 31};

// One test for all: they share the compiled kernels that check and the instances.
TEST(Mutants, EndAsWrongResultsThatSayWhatIsWrongWhere) {
  const auto backend = testing_support::open_cached_cpu_backend();
  const family::Family family = gemm::family();
  Verifier verifier(*backend, family, 77);
  const auto unbroken = verify_configuration(*backend, verifier, family.kernels.front(), kSize);
  ASSERT_TRUE(unbroken) << unbroken.error().message;
  EXPECT_LE(unbroken->worst_error, 1.0);
  for (const Mutant& mutant : kMutants) {
    SCOPED_TRACE(mutant.name);
    family::Kernel kernel = family.kernels.front();
    kernel.source.text = mutated(mutant);
    kernel.hash = mutant.name;
    const auto verdict = verify_configuration(*backend, verifier, kernel, kSize);
    ASSERT_FALSE(verdict) << "survived";
    EXPECT_EQ(verdict.error().outcome, Outcome::wrong_result) << verdict.error().message;
    EXPECT_THAT(verdict.error().message,
                AllOf(testing::StartsWith("C["), HasSubstr("should be"), HasSubstr("(size "),
                      HasSubstr("seed 77"), HasSubstr(mutant.message)));
  }
}

TEST(Mutants, NoCandidateFailsForAReferenceThatAnotherOneChanged) {
  const auto backend = testing_support::open_cached_cpu_backend();
  const family::Family family = gemm::family();
  Verifier verifier(*backend, family, 77);
  ASSERT_TRUE(verify_configuration(*backend, verifier, family.kernels.front(), kSize));
  const backend::Region given =
      std::get<backend::Region>(verifier.timing_instance({20, 24, 31}).arguments()[7]);
  // The reference is allocated right behind what a candidate is given.
  backend->fill(backend::BufferId{static_cast<std::uint64_t>(given.buffer) + 1}, 0x7FF8BAD0u, 64);
  const auto verdict = verify_configuration(*backend, verifier, family.kernels.front(), kSize);
  EXPECT_TRUE(verdict) << verdict.error().message;
}

TEST(ShippedKernels, AreRightAtTheirDefaultConfigurations) {
  const auto backend = testing_support::open_cached_cpu_backend();
  const family::Family family = family::load_family(TUNER_SOURCE_DIR "/spaces/gemm.json");
  Verifier verifier(*backend, family, 1);
  for (const family::Kernel& kernel : family.kernels) {
    if (!kernel.backends.empty()) continue;  // not for this one
    // gemm_skinny is for no other sizes.
    const std::string_view size = kernel.name == "gemm_skinny" ? "11,24,31" : "20,24,31";
    const auto verdict = verify_configuration(*backend, verifier, kernel,
                                              space::parse_size(size, family.problem.dims));
    ASSERT_TRUE(verdict) << kernel.name << ": " << verdict.error().message;
    EXPECT_LE(verdict->worst_error, 1.0);
  }
}

}  // namespace
}  // namespace tuner::verify
