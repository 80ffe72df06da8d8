// SPDX-License-Identifier: Apache-2.0
// A configuration of a kernel, compiled, loaded and verified.
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/verify/verifier.hpp"

#include <string_view>

namespace tuner::verify {

/// The default configuration, unless `config_text` names another.
inline Expected<Verdict, Failure> verify_configuration(backend::Backend& backend,
                                                       Verifier& verifier,
                                                       const family::Kernel& kernel,
                                                       const space::Size& size,
                                                       std::string_view config_text = "") {
  const space::Space space(kernel.space, backend.device().attributes, size);
  const space::Config config = space::config_from_text(*kernel.space, config_text);
  const auto binary = backend.compiler().compile(family::compile_job(kernel, space, config));
  if (!binary) return Unexpected(binary.error());
  const backend::LoadedKernel loaded(backend, *backend.load(*binary));
  LoadedCandidate candidate{
      .kernel = kernel, .space = space, .config = config, .loaded = loaded.id()};
  return verifier.verify(candidate, size);
}

}  // namespace tuner::verify
