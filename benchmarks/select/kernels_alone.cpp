// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/kernels_alone.hpp"

#include "tuner/select/catalogue_json.hpp"
#include "tuner/store/store.hpp"

namespace tuner::gemm_benchmark {

Table kernels_alone(const std::filesystem::path& database, const std::string& device) {
  const Store store(database, Store::Mode::read_only);
  Catalogue known = catalogue(store, {.device = device, .family = "gemm"});
  for (CatalogueKernel& kernel : known.kernels) {
    for (Entry& entry : kernel.entries) entry.best.ratio_to_library.reset();
  }
  return Table::text(catalogue_json(known));
}

}  // namespace tuner::gemm_benchmark
