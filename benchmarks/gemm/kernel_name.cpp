// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/kernel_name.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string_view>

namespace tuner::gemm_benchmark {
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

}  // namespace tuner::gemm_benchmark
