// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// The documents and schemas that `tune mcp` offers: of the installation, or of the source tree
/// that the program was built in.
class McpResources {
 public:
  McpResources();

  /// As "resources/list" gives them, by their addresses.
  [[nodiscard]] Json list() const;
  /// As "resources/read" gives one; none where there is no such resource. Throws Error(failure)
  /// when it cannot be read.
  [[nodiscard]] std::optional<Json> read(std::string_view uri) const;

 private:
  struct Resource {
    std::string uri, title;
    std::string_view type;  ///< MIME
    std::filesystem::path path;
  };
  void add(const std::filesystem::path& folder, std::string_view prefix, std::string_view extension,
           std::string_view type);

  std::vector<Resource> resources_;
};

/// A call of a tool that a client asked for.
struct McpCall {
  Json id;
  bool is_stateless = false;  ///< of a request without a session, as from revision 2026-07-28 on
  std::string tool;
  Json arguments;
};

/// What of the Model Context Protocol answers at once: messages are JSON-RPC 2.0. Clients begin a
/// session with "initialize", or state the revision of the protocol in each request. The calls of
/// tools, which take long, are passed on.
class McpServer {
 public:
  /// `begin` is given each valid call, `cancel` the id of one whose result is not wanted any more.
  McpServer(std::function<void(McpCall)> begin, std::function<void(const Json&)> cancel);

  /// The answer to a message; none to a notification and to a call that was passed on.
  [[nodiscard]] std::optional<Json> answer(std::string_view text);
  /// The answer to a message that was not read because it is too long.
  [[nodiscard]] static Json too_long();
  /// The answer to a call: what call_tool gave.
  [[nodiscard]] static Json answer_to(const McpCall& call, Json result);

 private:
  struct Request;
  [[nodiscard]] std::optional<Json> answer(const Request& request);
  [[nodiscard]] Json initialize(const Request& request) const;
  [[nodiscard]] Json read_resource(const Request& request) const;
  [[nodiscard]] std::optional<Json> begin_call(const Request& request);
  void notice(std::string_view method, const Json& params);

  std::function<void(McpCall)> begin_;
  std::function<void(const Json&)> cancel_;
  McpResources resources_;
};

}  // namespace tuner::cli
