// SPDX-License-Identifier: Apache-2.0
// What a tuner_dispatcher of the C interface is.
#pragma once

#include "tuner/dispatch/engine.hpp"

struct tuner_dispatcher {
  tuner::dispatch::Engine engine;
};

namespace tuner::dispatch {

/// Throws DispatchError for NULL, and in a process that was forked since it was opened.
[[nodiscard]] Engine& engine_of(tuner_dispatcher* dispatcher);
/// As the other engine_of().
[[nodiscard]] const Engine& engine_of(const tuner_dispatcher* dispatcher);

}  // namespace tuner::dispatch
