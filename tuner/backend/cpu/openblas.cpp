// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/openblas.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <string_view>

namespace tuner::backend {
namespace {

constexpr const char* kFile = "libopenblas.so.0";

[[noreturn]] void refuse() {
  throw Error(ErrorCode::no_device,
              fmt::format("the cpu backend needs {} and cannot open it ({}): `apt-get install "
                          "libopenblas0`",
                          kFile, ::dlerror()));
}

template <class Function>
Function* function(void* library, const char* name) {
  void* const address = ::dlsym(library, name);
  if (address == nullptr) refuse();
  return reinterpret_cast<Function*>(address);
}

OpenBlas open() {
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse();
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  const auto configuration =
      function<decltype(openblas_get_config)>(library, "openblas_get_config");
  const std::string_view text = configuration();
  return {.version = std::string(text.substr(0, text.find(' ', text.find(' ') + 1))),
          .sgemm = function<decltype(cblas_sgemm)>(library, "cblas_sgemm"),
          .dgemm = function<decltype(cblas_dgemm)>(library, "cblas_dgemm")};
}

}  // namespace

const OpenBlas& openblas() {
  static const OpenBlas library = open();
  return library;
}

}  // namespace tuner::backend
