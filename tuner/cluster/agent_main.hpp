// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner::cluster {

/// An agent, `tune worker node`: drives the devices of its machine for a `tune` elsewhere, which
/// has it started by a launcher such as srun or ssh and speaks to it over its standard streams, or
/// over a connection where these are shared (agent_messages.hpp). It has the compilers, the cache
/// of compiled kernels and the deadlines of what it starts. What anything prints to its stdout goes
/// to stderr. Ends, with all that it started, when the parent is gone or has been silent too long.
[[nodiscard]] int agent_main();

}  // namespace tuner::cluster
