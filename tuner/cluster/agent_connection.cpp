// SPDX-License-Identifier: Apache-2.0
#include "tuner/cluster/agent_connection.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tuner::cluster {
namespace {

using Clock = worker::Channel::Clock;

constexpr int kConnectMs = 3000;
/// Of what somebody says who has not proved anything yet.
constexpr std::size_t kLargestStrangers = std::size_t{16} << 10;

void send_at_once(int socket) {
  const int on = 1;
  static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}

/// A connected socket; -1 when nobody answers.
int connected(const std::string& address, int port) {
  const addrinfo wanted{.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                        .ai_family = AF_UNSPEC,
                        .ai_socktype = SOCK_STREAM,
                        .ai_protocol = 0,
                        .ai_addrlen = 0,
                        .ai_addr = nullptr,
                        .ai_canonname = nullptr,
                        .ai_next = nullptr};
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), fmt::format("{}", port).c_str(), &wanted, &found) != 0) {
    return -1;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  const int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -1;
  bool done = ::connect(socket, found->ai_addr, found->ai_addrlen) == 0;
  if (!done && errno == EINPROGRESS) {
    pollfd waiting{.fd = socket, .events = POLLOUT, .revents = 0};
    int problem = 0;
    socklen_t length = sizeof problem;
    done = ::poll(&waiting, 1, kConnectMs) == 1 &&
           ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &length) == 0 && problem == 0;
  }
  if (!done) {
    ::close(socket);
    return -1;
  }
  static_cast<void>(::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) & ~O_NONBLOCK));
  send_at_once(socket);
  return socket;
}

/// Introduces an agent to who listens at an address; false where that is not its parent.
bool is_parent(worker::Channel& channel, const std::string& token, AgentHello& hello) {
  const auto end = Clock::now() + kToProve;
  try {
    channel.take_payloads_up_to(kLargestStrangers);
    const auto asked = channel.receive(end);
    if (!std::holds_alternative<Json>(asked)) return false;
    const auto challenge = worker::from_message<std::string>(
        worker::member(std::get<Json>(asked), "challenge"), "challenge");
    hello.nonce = random_word() + random_word();
    hello.proof = token_proof(Role::agent, token, challenge, hello.nonce);
    if (channel.send({{"hello", worker::to_message(hello)}}, end) != worker::Channel::Sending::done)
      return false;
    const auto answered = channel.receive(end);
    if (!std::holds_alternative<Json>(answered)) return false;
    const auto proof = worker::from_message<std::string>(
        worker::member(std::get<Json>(answered), "welcome"), "welcome");
    channel.take_payloads_up_to(worker::kLargestPayload);
    return proof == token_proof(Role::parent, token, challenge, hello.nonce);
  } catch (const Error&) {  // what it says is no message
    return false;
  }
}

/// The addresses of this machine's interfaces that others may reach.
std::vector<std::string> own_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(list, &::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ifa_addr, length, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) != 0) {
      continue;
    }
    const std::string address = text.data();
    if (address.find('%') == std::string::npos) addresses.push_back(address);  // of one link alone
  }
  return addresses;
}

struct Listener {
  int socket;
  int port;
};

/// A socket that listens on every interface; IPv4 alone where there is no IPv6.
Listener listening() {
  for (const int family : {AF_INET6, AF_INET}) {
    const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) continue;
    const int off = 0;
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    sockaddr_in four{};
    four.sin_family = AF_INET;
    auto* const address =
        family == AF_INET6 ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
    socklen_t length = family == AF_INET6 ? sizeof six : sizeof four;
    if (family == AF_INET6) {
      static_cast<void>(::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off));
    }
    constexpr int kBacklog = 128;
    if (::bind(socket, address, length) == 0 && ::listen(socket, kBacklog) == 0 &&
        ::getsockname(socket, address, &length) == 0) {
      return {.socket = socket, .port = ntohs(family == AF_INET6 ? six.sin6_port : four.sin_port)};
    }
    ::close(socket);
  }
  throw Error(ErrorCode::failure,
              fmt::format("agents cannot connect: no port: {}", std::strerror(errno)));
}

}  // namespace

worker::Channel connect_to_parent(const AgentRendezvous& rendezvous, AgentHello hello) {
  std::vector<std::string> addresses = rendezvous.addresses;
  if (rendezvous.host == host_name()) addresses.insert(addresses.begin(), "127.0.0.1");
  for (const std::string& address : addresses) {
    const int socket = connected(address, rendezvous.port);
    if (socket < 0) continue;
    worker::Channel channel(socket);
    if (is_parent(channel, rendezvous.token, hello)) return channel;
  }
  throw Error(ErrorCode::failure,
              fmt::format("{} cannot be reached at port {} of {}, or does not know the token",
                          rendezvous.host, rendezvous.port, fmt::join(addresses, ", ")));
}

ConnectionDesk::ConnectionDesk() {
  const Listener listener = listening();
  socket_ = listener.socket;
  rendezvous_ = {
      .host = host_name(), .addresses = own_addresses(), .port = listener.port, .token = ""};
}

ConnectionDesk::~ConnectionDesk() {
  ::close(socket_);
}

std::optional<worker::Channel> ConnectionDesk::accept(Clock::time_point deadline) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
  if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) {
    return std::nullopt;
  }
  const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return std::nullopt;
  send_at_once(socket);
  worker::Channel channel(socket);
  channel.take_payloads_up_to(kLargestStrangers);
  return channel;
}

}  // namespace tuner::cluster
