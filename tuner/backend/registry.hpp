// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::backend {

/// Of the backend that open_backend opens. Throws Error(usage) for an unknown name.
[[nodiscard]] space::BackendTraits backend_traits(std::string_view name);

/// Opens a device: `kind` is "cuda", "cpu" or "auto" (a GPU if there is one, else the CPU);
/// `ordinal` counts devices of that kind from 0. Throws Error(no_device) that says what is missing
/// and how to get it.
[[nodiscard]] std::unique_ptr<Backend> open_backend(std::string_view kind, int ordinal);

/// The devices that open_backend can open, by ordinal, at least one. Opens none of them. Throws as
/// open_backend does when there is none.
[[nodiscard]] std::vector<space::DeviceInfo> list_devices(std::string_view kind);

/// The compiler of a backend's devices of one architecture ("sm_90"; the cpu backend knows only
/// that of this machine). Needs no device. A compiler that is a program of its own is ended at the
/// deadline, and started by `confiner` (host_compiler.hpp); one that works in this process cannot
/// be. Throws as open_backend does.
[[nodiscard]] std::unique_ptr<const Compiler> make_compiler(
    std::string_view kind, const std::string& architecture, std::chrono::seconds deadline,
    const std::vector<std::string>& confiner = {});

/// The version of a backend's compiler whose code runs on every machine with a device of the
/// architecture, "NVRTC 13.0"; empty where kernels are compiled for the machine at hand. Throws as
/// make_compiler does.
[[nodiscard]] std::string portable_compiler(std::string_view kind);

/// The compiler that Compiler::helper_arguments() describes. Throws Error(usage) for other words.
[[nodiscard]] std::unique_ptr<const Compiler> make_helper_compiler(
    const std::vector<std::string>& arguments);

/// One line of `tune doctor`.
struct Finding {
  enum class Status { good, missing, note };
  Status status = Status::good;
  std::string what;    ///< "CUDA driver"
  std::string detail;  ///< "13.0, 1 device: NVIDIA H200 (sm_90, 132 SMs, 139.7 GiB)"
  std::string remedy;  ///< how to get it; empty when nothing is missing
};

/// What each backend finds on this machine. Never throws for something missing.
[[nodiscard]] std::vector<Finding> examine_machine();

}  // namespace tuner::backend
