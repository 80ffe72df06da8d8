// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/store/store.hpp"

#include <string>

namespace tuner::report {

/// A name that ends every element, attribute and script that does not escape it.
inline constexpr const char* kHostileName =
    "\"></h2></script><script>window.hit=1</script>{{data}}";

/// A family of several element types, with a kernel of the same name.
inline constexpr const char* kTypedName = "rows";

/// A space file of one kernel: of the dimensions M, N and K and, where it is typed, TYPE; else with
/// the parameters of gemm_shared.
[[nodiscard]] std::string sample_space(const std::string& kernel, bool is_typed);

/// A GPU and versions as a real run records them, with a kernel of a given name.
[[nodiscard]] store::Subject sample_subject(const std::string& kernel);

/// A database in memory with a run of gemm_shared over four sizes (1,512 trials, of which some
/// failed in each way), seven more that search the largest of them by three strategies, a small
/// one of a kernel named kHostileName and one of kTypedName. The same on every call but for the
/// clock.
[[nodiscard]] store::Store sample_store();

/// A database in memory of so many kernels of one family at as many sizes, each with 116 trials of
/// 19 parameters and a final round of 11.
[[nodiscard]] store::Store large_store(int kernels, int sizes);
/// Adds the kernels from `first` to before `last`, of at most 10, to such a database.
void add_kernels(store::Store& store, int first, int last, int sizes);

}  // namespace tuner::report
