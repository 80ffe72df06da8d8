// SPDX-License-Identifier: Apache-2.0
// What the database holds that may answer a question: one device, the current version of each
// kernel, and their entries on that device.
#pragma once

#include "tuner/select/select.hpp"
#include "tuner/space/size.hpp"
#include "tuner/store/store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// A size of the question or of an entry, in a kernel's dimensions.
struct KnownSize {
  std::string text;  ///< canonical
  Size numbers;      ///< empty where the kernel came without its space file
};

/// A stored best with its size.
struct Entry {
  StoredBest stored;
  KnownSize size;
  bool stale = false;  ///< measured with another driver or compiler than the one in use
};

/// A kernel in the version used last, and its entries: at most one for a size, measured in the
/// environment in use if there is such a one; of those one that is verified, and of these the
/// newest.
struct CatalogueKernel {
  KernelRecord record;
  std::optional<Dimensions> dims = {};  ///< absent where it came without its space file
  std::optional<KnownSize> asked =
      {};  ///< the question's size; absent when it is none of this kernel's
  std::vector<Entry> entries = {};
};

struct Catalogue {
  DeviceInfo device;
  EnvironmentInfo environment;           ///< in use; unset when nothing says so
  std::vector<CatalogueKernel> kernels;  ///< the one used last first; never empty
  std::vector<std::string> explanation;  ///< how the device and the kernels were found
};

/// Throws as select_configuration.
[[nodiscard]] Catalogue catalogue(const Store& store, const Question& question);

/// "driver 13.0, NVRTC 13.0".
[[nodiscard]] std::string versions(const EnvironmentInfo& environment);

}  // namespace tuner
