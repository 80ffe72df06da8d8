// SPDX-License-Identifier: Apache-2.0
// Connections of agents whose standard streams are shared: they come to their parent by TCP.
#pragma once

#include "tuner/worker/agent_messages.hpp"
#include "tuner/worker/channel.hpp"

#include <optional>

namespace tuner::worker {

/// Connects to the first of the addresses that answers. Throws Error(failure), which names them,
/// when none does.
[[nodiscard]] Channel connect_to_parent(const AgentRendezvous& rendezvous);

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
  /// The next connection, of anybody; none by the deadline.
  [[nodiscard]] std::optional<Channel> accept(Channel::Clock::time_point deadline) const;

 private:
  int socket_;
  AgentRendezvous rendezvous_;
};

}  // namespace tuner::worker
