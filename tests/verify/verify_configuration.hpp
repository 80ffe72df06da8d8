// SPDX-License-Identifier: Apache-2.0
// A configuration of a kernel, compiled, loaded and verified.
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/verify/verifier.hpp"

#include <string_view>

namespace tuner {

/// The default configuration, unless `config_text` names another.
inline Expected<Verdict, Failure> verify_configuration(Backend& backend, Verifier& verifier,
                                                       const Kernel& kernel, const Size& size,
                                                       std::string_view config_text = "") {
  const Space space(kernel.space, backend.device().attributes, size);
  const Config config = config_from_text(*kernel.space, config_text);
  const auto binary = backend.compiler().compile(compile_job(kernel, space, config));
  if (!binary) return Unexpected(binary.error());
  const LoadedKernel loaded(backend, *backend.load(*binary));
  LoadedCandidate candidate{
      .kernel = kernel, .space = space, .config = config, .loaded = loaded.id()};
  return verifier.verify(candidate, size);
}

}  // namespace tuner
