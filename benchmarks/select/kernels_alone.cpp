// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/kernels_alone.hpp"

#include "tuner/select/catalogue_json.hpp"
#include "tuner/store/store.hpp"

namespace tuner::gemm_benchmark {

Table kernels_alone(const std::filesystem::path& database, const std::string& device) {
  const store::Store store(database, store::Store::Mode::read_only);
  select::Catalogue known = select::catalogue(store, {.device = device, .family = "gemm"});
  for (select::CatalogueKernel& kernel : known.kernels) {
    for (select::Entry& entry : kernel.entries) entry.best.ratio_to_library.reset();
  }
  return Table::text(select::catalogue_json(known));
}

}  // namespace tuner::gemm_benchmark
