// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/store/store.hpp"

namespace tuner::store {

/// Records a final round that a best had to itself.
inline void record_lone_final(Store& store, std::int64_t run, const BestRecord& best) {
  store.record_final(run, best,
                     {{.role = "candidate",
                       .config_json = best.config_json,
                       .time = best.time,
                       .samples_ns = {}}});
}

}  // namespace tuner::store
