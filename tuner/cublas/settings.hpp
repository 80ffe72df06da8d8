// SPDX-License-Identifier: Apache-2.0
// What `tune exec` and `tune record`, or the user, say in the environment.
#pragma once

#include <filesystem>
#include <string>

namespace tuner::cublas {

enum class Mode {
  serve,   ///< take what a tuned kernel serves
  record,  ///< take nothing, and note what is called
  off,     ///< pass everything on
};

struct Settings {
  Mode mode = Mode::serve;               ///< TUNER_CUBLAS=serve|record|off
  std::filesystem::path log = {};        ///< TUNER_CUBLAS_LOG: lines go there; empty: stderr
  std::filesystem::path recording = {};  ///< TUNER_CUBLAS_RECORDING: folder for Mode::record
  std::string backend = "cuda";          ///< TUNER_CUBLAS_BACKEND: "cpu" where a test has no GPU
  /// NVIDIA_TF32_OVERRIDE, CUBLAS_EMULATE_SINGLE_PRECISION, CUBLAS_EMULATE_DOUBLE_PRECISION: cuBLAS
  /// computes otherwise than its handles say.
  bool reduced_precision = false;
};

/// Of this process, read at the first call. A privileged program has mode `off`.
[[nodiscard]] const Settings& settings();

}  // namespace tuner::cublas
