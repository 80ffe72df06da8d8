// SPDX-License-Identifier: Apache-2.0
// Notes in a database that a kernel was run on the CPU, then asks which configuration to use.

#include "tuner/backend/registry.hpp"
#include "tuner/family/family.hpp"
#include "tuner/select/select.hpp"
#include "tuner/store/store.hpp"

#include <iostream>

int main() {
  const tuner::family::Family family = tuner::family::load_family(SPACES "/gemm.json");
  const tuner::family::Kernel& kernel = family.kernel("gemm_shared");
  const auto backend = tuner::backend::open_backend("cpu", 0);

  tuner::store::Store store = tuner::store::Store::in_memory();
  const tuner::store::KernelRecord record{.family = family.name,
                                          .kernel = kernel.name,
                                          .hash = kernel.hash,
                                          .space_text = family.text,
                                          .source_name = kernel.source.name,
                                          .source_text = kernel.source.text,
                                          .headers_json = "[]"};
  const auto session =
      store.begin_run({backend->device(), backend->environment(), record}, {.uuid = "example"});
  store.end_run(session, {.state = tuner::store::RunState::complete});

  const auto selection =
      tuner::select::select_configuration(store, {.kernel = kernel.name, .size = "64,64,64"});
  std::cout << name(selection.rung) << ": " << selection.config_json << "\n";
}
