// SPDX-License-Identifier: Apache-2.0
// A source whose parameters only a compiler knows, and what they are.
#pragma once

#include "tuner/family/candidate.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tuner::testing_support {

inline family::CompileJob job_of_signatures() {
  family::CompileJob job;
  job.source = {.name = "signatures.cu",
                .text = R"cuda(
typedef double real;
#define READ const real* __restrict__
struct Options { int a; };
template <class T, int N> struct Traits { typedef T* type; };
extern "C" __global__ void scale(READ x, real (*y)[64], const int n, Options options) {
  if (threadIdx.x < n) y[0][threadIdx.x] = 2 * x[threadIdx.x];
}
namespace detail {
template <class T, int N>
__global__ void add(typename Traits<T, N>::type x, unsigned long long n) { x[n] += N; }
}
__global__ void none() {}
)cuda",
                .headers = {}};
  job.entries = {"scale", "detail::add<float, 4>", "none"};
  return job;
}

inline const std::map<std::size_t, std::vector<std::string>> kSignatures = {
    {0, {"double const*", "double (*) [64]", "int", "Options"}},
    {1, {"float*", "unsigned long long"}},
    {2, {}}};

}  // namespace tuner::testing_support
