// SPDX-License-Identifier: Apache-2.0
// What `tune` and an agent, `tune worker node`, say to each other. An agent begins with {"hello"},
// or with {"shared"} where others speak over the same streams; then it is sent {"connect"}, and its
// {"hello"} comes over a connection of its own, where each side proves to know the token: the
// parent sends {"challenge"}, and {"welcome"} after the {"hello"}. It is sent {"open"} and answers
// {"opened"} or
// {"error"}. Then each request goes to one of its lanes, {"lane", "call", "arguments"}, and so does
// the answer. A lane has one request at a time. Lanes are its devices first, the calls of
// worker/calls.hpp, then compilers. {"ping"} is answered by {"pong"} whatever the lanes do.
#pragma once

#include "tuner/worker/calls.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tuner::cluster {

/// Who has not been heard for so many heartbeats is lost.
inline constexpr double kHeartbeatsToLoss = 2.5;
/// The longest time from the start of a conversation to its {"open"}.
inline constexpr std::chrono::seconds kIntroduction{60};

/// This very program, as agents and their parent compare it.
struct AgentProgram {
  bool operator==(const AgentProgram&) const = default;

  std::string version;
  std::string hash;  ///< of the file

  static constexpr auto fields() {
    return std::tuple(Field("version", &AgentProgram::version), Field("hash", &AgentProgram::hash));
  }
};
/// Throws Error(failure) when the file cannot be read.
[[nodiscard]] AgentProgram this_program();

struct AgentHello {
  AgentProgram program;
  std::string host;
  std::string job;         ///< of the batch system, SLURM_JOB_ID; may be empty
  std::string processors;  ///< that it may use, as the system lists them: "0-7"
  int threads = 1;         ///< how many those are
  // Both empty over standard streams.
  std::string nonce = {};  ///< what the parent's proof must contain
  std::string proof = {};  ///< that it knows the token, token_proof()

  static constexpr auto fields() {
    return std::tuple(Field("program", &AgentHello::program), Field("host", &AgentHello::host),
                      Field("job", &AgentHello::job), Field("processors", &AgentHello::processors),
                      Field("threads", &AgentHello::threads), Field("nonce", &AgentHello::nonce),
                      Field("proof", &AgentHello::proof));
  }
};
void validate(AgentHello& hello);

/// Where an agent finds its parent.
struct AgentRendezvous {
  std::string host;                    ///< the parent's name of itself
  std::vector<std::string> addresses;  ///< of its interfaces, IPv4 and IPv6, without loopback
  int port = 0;
  std::string token;  ///< by which parent and agent know each other; never sent over TCP

  static constexpr auto fields() {
    return std::tuple(
        Field("host", &AgentRendezvous::host), Field("addresses", &AgentRendezvous::addresses),
        Field("port", &AgentRendezvous::port), Field("token", &AgentRendezvous::token));
  }
};

struct AgentOpening {
  worker::FamilyFiles family;
  std::uint64_t seed = 0;
  std::string backend;
  std::string device;  ///< as chosen_devices reads it
  double compile_timeout_s = 60, launch_timeout_s = 10;
  bool no_cache = false;
  double heartbeat_s = 10;

  static constexpr auto fields() {
    return std::tuple(Field("family", &AgentOpening::family), Field("seed", &AgentOpening::seed),
                      Field("backend", &AgentOpening::backend),
                      Field("device", &AgentOpening::device),
                      Field("compile_timeout_s", &AgentOpening::compile_timeout_s),
                      Field("launch_timeout_s", &AgentOpening::launch_timeout_s),
                      Field("no_cache", &AgentOpening::no_cache),
                      Field("heartbeat_s", &AgentOpening::heartbeat_s));
  }
};

struct AgentOpened {
  std::vector<worker::OpenAnswer> devices;
  std::vector<std::string> notes;  ///< why devices are left out, and workers not confined

  static constexpr auto fields() {
    return std::tuple(Field("devices", &AgentOpened::devices), Field("notes", &AgentOpened::notes));
  }
};

/// A compilation. Its binary stays with the agent, which finds it again by the configuration.
struct AgentJob {
  std::string kernel;  ///< whose source it is
  std::vector<std::string> entries, options;
  std::string key;

  static constexpr auto fields() {
    return std::tuple(Field("kernel", &AgentJob::kernel), Field("entries", &AgentJob::entries),
                      Field("options", &AgentJob::options), Field("key", &AgentJob::key));
  }
};
inline constexpr worker::Call<AgentJob, worker::Nothing> kCompile{"compile"};

enum class Role { parent, agent };
/// What shows that one side of a connection knows the token, without showing it: SHA-256 of the
/// token, the side, and what each side has chosen at random for this connection.
[[nodiscard]] std::string token_proof(Role role, const std::string& token,
                                      const std::string& challenge, const std::string& nonce);

/// This machine's name.
[[nodiscard]] std::string host_name();

}  // namespace tuner::cluster
