// SPDX-License-Identifier: Apache-2.0
// Any text as a space file: a family, or one Error(usage).
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/family.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  static const KernelSource source{.name = "a.cu", .text = "// a kernel\n", .headers = {}};
  static const std::map<std::string, KernelSource> sources = {
      {"plain", source}, {"scale", source}, {"gemm_naive", source}};
  try {
    const Family family = parse_family(fuzz::text_of(data, size), "fuzz", sources);
    const DeviceAttributes device = device_profile("h200")->attributes;
    for (const Kernel& kernel : family.kernels) {
      check_default(kernel, device, Size(family.problem.dims.size(), 64));
    }
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::usage || error.code() == ErrorCode::no_valid_config,
                  "a bad file is the user's to mend");
  }
  return 0;
}
