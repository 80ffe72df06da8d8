// SPDX-License-Identifier: Apache-2.0
// A program that opens the dispatcher while it runs, as an extension of a language's does.
//   opened_late LIBRARY
#include "tuner/dispatch/dispatch.h"

#include <cstdio>
#include <dlfcn.h>

int main(int, char** argv) {
  void* const library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 1;
  }
  const auto open = reinterpret_cast<decltype(&tuner_open)>(::dlsym(library, "tuner_open"));
  const auto why =
      reinterpret_cast<decltype(&tuner_last_error)>(::dlsym(library, "tuner_last_error"));
  tuner_options options = {};
  options.struct_size = sizeof options;
  options.backend = "nothing";
  tuner_dispatcher* dispatcher = nullptr;
  if (open({TUNER_TABLE_NONE, nullptr}, &options, &dispatcher) != TUNER_FAILED) return 1;
  std::puts(why());
}
