// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/kernel_choice.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tuner::cli {

const family::Kernel& chosen_kernel(const family::Family& family,
                                    const std::vector<std::string>& asked) {
  if (asked.size() == 1) return family.kernel(asked.front());
  if (family.kernels.size() == 1) return family.kernels.front();
  std::vector<std::string> names;
  for (const family::Kernel& kernel : family.kernels) names.push_back(kernel.name);
  throw Error(ErrorCode::usage, fmt::format("which kernel? {} has {}; name one with --kernel",
                                            family.path, fmt::join(names, ", ")));
}

space::Size chosen_size(const family::Family& family, const std::string& text) {
  const space::Dimensions& dims = family.problem.dims;
  if (!text.empty()) return space::parse_size(text, dims);
  std::vector<std::string> names = dims.names();
  names.resize(dims.required());
  throw Error(ErrorCode::usage,
              fmt::format("which size ({})? Write --size {}", fmt::join(names, ","),
                          fmt::join(std::vector(names.size(), 256), ",")));
}

void require_backend(const family::Kernel& kernel, const std::string& backend) {
  if (kernel.runs_on(backend)) return;
  throw Error(ErrorCode::no_device,
              fmt::format("kernel {} runs on {} only, not on the {} backend", kernel.name,
                          fmt::join(kernel.backends, ", "), backend));
}

}  // namespace tuner::cli
