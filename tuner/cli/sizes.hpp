// SPDX-License-Identifier: Apache-2.0
// The kernel and the sizes that a command is about.
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/family/family.hpp"
#include "tuner/space/dimensions.hpp"
#include "tuner/space/space.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// A stored size as tables and messages show every size, space::display: "4096x4096x64,TRANS_B=1".
[[nodiscard]] std::string shown_size(std::string_view stored);

/// Those of --size and --sizes, each once; without either the list of the file that is named after
/// the backend, else its list "default". Throws Error(usage).
[[nodiscard]] std::vector<space::Size> chosen_sizes(const family::Family& family,
                                                    const TuneOptions& options,
                                                    const std::string& backend);

/// The first size of the file's lists, "default" before the others, at which a kernel's default
/// configuration is valid on a device.
[[nodiscard]] std::optional<space::Size> listed_size_for(const family::Family& family,
                                                         const family::Kernel& kernel,
                                                         const space::DeviceAttributes& device);

/// Why a configuration of a kernel has no launch at a size; empty where it has one.
[[nodiscard]] std::string why_no_launch(const family::Family& family, const family::Kernel& kernel,
                                        const space::BoundDefinition& space,
                                        const space::Config& config, const space::Size& size);

/// How many configurations have a launch.
struct LaunchCount {
  std::uint64_t launchable = 0;
  std::uint64_t looked_at = 0;  ///< all of a small space, else a part that is spread evenly
  std::string why;              ///< why the first that has none has none
};

/// Of the valid configurations of a kernel at the size of `space`.
[[nodiscard]] LaunchCount count_launches(const family::Family& family, const family::Kernel& kernel,
                                         const space::Space& space, const space::Size& size);

/// What to tell where a kernel's default configuration has no launch at a check size, or is checked
/// at no size but the tuned one although the file states others; else empty.
[[nodiscard]] std::string check_sizes_caution(const family::Family& family,
                                              const family::Kernel& kernel,
                                              const space::BoundDefinition& space,
                                              const space::Size& size);

/// "64:1024:64", or "64:4096:x2" to multiply: sizes whose dimensions without a default all have the
/// same number, from the first to the last. Throws Error(usage) for what is no such range, or has
/// more than 1,000 sizes.
[[nodiscard]] std::vector<space::Size> size_range(std::string_view text,
                                                  const space::Dimensions& dims);

/// The kernel asked for, or the only one of the family. Throws Error(usage) that lists them.
[[nodiscard]] const family::Kernel& chosen_kernel(const family::Family& family,
                                                  const std::vector<std::string>& asked);

/// Throws Error(usage), with an example where the text is empty.
[[nodiscard]] space::Size chosen_size(const family::Family& family, const std::string& text);

/// Throws Error(no_device) when the kernel does not run on the backend.
void require_backend(const family::Kernel& kernel, const std::string& backend);

}  // namespace tuner::cli
