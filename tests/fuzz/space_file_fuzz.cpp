// SPDX-License-Identifier: Apache-2.0
// Any text as a space file: a family, or one Error(usage).
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/family.hpp"

#include <algorithm>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  static const source::KernelSource source{.name = "a.cu", .text = "// a kernel\n", .headers = {}};
  static const std::map<std::string, source::KernelSource> sources = {
      {"plain", source}, {"scale", source}, {"gemm_naive", source}};
  try {
    const family::Family family = family::parse_family(fuzz::text_of(data, size), "fuzz", sources);
    const space::DeviceAttributes device = space::device_profile("h200")->attributes;
    const space::Dimensions& dims = family.problem.dims;
    std::vector<std::optional<std::int64_t>> numbers(dims.size());
    std::fill_n(numbers.begin(), dims.required(), 64);
    const auto made = dims.complete(numbers);
    if (!made) return 0;
    fuzz::require(space::parse_size(space::canonical_size(*made, dims), dims) == *made,
                  "a size reads back");
    for (const family::Kernel& kernel : family.kernels)
      family::check_default(kernel, device, *made);
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::usage || error.code() == ErrorCode::no_valid_config,
                  "a bad file is the user's to fix");
  }
  return 0;
}
