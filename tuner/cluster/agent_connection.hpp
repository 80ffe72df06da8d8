// SPDX-License-Identifier: Apache-2.0
// Module cluster: devices of other machines: agents there, and here proxies that look like local
// workers. Optional in the build (TUNER_CLUSTER).
//
// Connections of agents whose standard streams are shared: they come to their parent by TCP.
#pragma once

#include "tuner/cluster/agent_messages.hpp"
#include "tuner/worker/channel.hpp"

#include <chrono>
#include <optional>

namespace tuner::cluster {

/// How long either side waits for the other to show who it is.
inline constexpr std::chrono::seconds kToProve{10};

/// Connects to the first of the addresses at which somebody proves to know the token, and says
/// {"hello"}: others may listen there, who must not be obeyed. Throws Error(failure), which names
/// the addresses, when nobody does.
[[nodiscard]] worker::Channel connect_to_parent(const AgentRendezvous& rendezvous,
                                                AgentHello hello);

/// Where agents connect to: a port that the system chooses, on every interface.
class ConnectionDesk {
 public:
  /// Throws Error(failure) when there can be none.
  ConnectionDesk();
  ~ConnectionDesk();
  ConnectionDesk(const ConnectionDesk&) = delete;
  ConnectionDesk& operator=(const ConnectionDesk&) = delete;

  /// Without a token.
  [[nodiscard]] const AgentRendezvous& rendezvous() const { return rendezvous_; }
  /// The next connection, of anybody; none by the deadline. It takes small messages alone until it
  /// is trusted.
  [[nodiscard]] std::optional<worker::Channel> accept(
      worker::Channel::Clock::time_point deadline) const;

 private:
  int socket_;
  AgentRendezvous rendezvous_;
};

}  // namespace tuner::cluster
