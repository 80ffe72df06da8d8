// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/settings.hpp"

#include "tuner/core/environment.hpp"

namespace tuner::cublas {
namespace {

bool is_set(const char* name) {
  const std::string value = environment_variable(name);
  return !value.empty() && value != "0";
}

Settings read_settings() {
  Settings result;
  const std::string mode = environment_variable("TUNER_CUBLAS");
  if (mode == "record") result.mode = Mode::record;
  if (is_privileged() || (!mode.empty() && mode != "serve" && mode != "record")) {
    result.mode = Mode::off;
  }
  result.log = environment_variable("TUNER_CUBLAS_LOG");
  result.recording = environment_variable("TUNER_CUBLAS_RECORDING");
  if (const std::string backend = environment_variable("TUNER_CUBLAS_BACKEND"); !backend.empty()) {
    result.backend = backend;
  }
  result.reduced_precision = is_set("NVIDIA_TF32_OVERRIDE") ||
                             is_set("CUBLAS_EMULATE_SINGLE_PRECISION") ||
                             is_set("CUBLAS_EMULATE_DOUBLE_PRECISION");
  return result;
}

}  // namespace

const Settings& settings() {
  // Never destroyed: a program may call cuBLAS until its very end.
  static const Settings& known = *new Settings(read_settings());
  return known;
}

}  // namespace tuner::cublas
