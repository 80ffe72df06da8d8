// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/mcp_server.hpp"

#include "tuner/cli/data_file.hpp"
#include "tuner/cli/mcp_tools.hpp"
#include "tuner/cli/version.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestResource = std::size_t{4} << 20;

std::string read_text(const fs::path& path) {
  return as_utf8(read_file(path, kLargestResource));
}

/// The first heading of a page, the title of a schema, else the file's name.
std::string title_of(const fs::path& path) {
  const std::string text = read_text(path);
  if (path.extension() == ".json") {
    const Json schema = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (schema.is_object()) return schema.value("title", path.filename().string());
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) return line.substr(2);
  }
  return path.filename().string();
}

}  // namespace

McpResources::McpResources() {
  if (const auto docs = data_file("docs")) add(*docs, "tuner://docs/", ".md", "text/markdown");
  if (const auto schemas = data_file("spaces/schema")) {
    add(*schemas, "tuner://schema/", ".json", "application/schema+json");
  }
  std::ranges::sort(resources_, {}, &Resource::uri);
}

void McpResources::add(const fs::path& folder, std::string_view prefix, std::string_view extension,
                       std::string_view type) {
  std::error_code unreadable;
  for (const auto& entry : fs::recursive_directory_iterator(folder, unreadable)) {
    if (!entry.is_regular_file(unreadable) || entry.path().extension() != extension) continue;
    resources_.push_back(
        {.uri = std::string(prefix) + fs::relative(entry.path(), folder).generic_string(),
         .title = title_of(entry.path()),
         .type = type,
         .path = entry.path()});
  }
}

Json McpResources::list() const {
  Json list = Json::array();
  for (const Resource& each : resources_) {
    list.push_back({{"uri", each.uri},
                    {"name", each.path.filename().string()},
                    {"title", each.title},
                    {"mimeType", each.type}});
  }
  return list;
}

std::optional<Json> McpResources::read(std::string_view uri) const {
  const auto found = std::ranges::find(resources_, uri, &Resource::uri);
  if (found == resources_.end()) return std::nullopt;
  return Json::array(
      {{{"uri", found->uri}, {"mimeType", found->type}, {"text", read_text(found->path)}}});
}

namespace {

// Revisions with sessions, the newest first, and the one without.
constexpr std::array<std::string_view, 3> kSessionRevisions = {"2025-11-25", "2025-06-18",
                                                               "2024-11-05"};
constexpr std::string_view kStatelessRevision = "2026-07-28";
constexpr const char* kRevisionKey = "io.modelcontextprotocol/protocolVersion";

enum class RpcError {
  no_json = -32700,
  no_request = -32600,
  no_method = -32601,
  bad_parameters = -32602,
  internal = -32603,
  no_resource = -32002,  // of revisions with sessions
  no_such_revision = -32022,
};

Json rpc_error(const Json& id, RpcError code, const std::string& message) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"error", {{"code", static_cast<int>(code)}, {"message", message}}}};
}

Json rpc_result(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json server_info() {
  return {{"name", "tune"}, {"title", "tuner"}, {"version", version_json().at("version")}};
}

Json capabilities() {
  return {{"tools", Json::object()}, {"resources", Json::object()}};
}

constexpr std::string_view kInstructions =
    "Tools to verify, time and tune CUDA kernels. A space file (JSON) describes the problem, the "
    "reference and the kernels; read tuner://docs/tutorial.md and "
    "tuner://schema/space-1.schema.json to write one. After each change of a kernel call judge; "
    "when it is right, tune its parameters.";

/// A result that a client may keep, for requests without a session.
Json kept(Json result) {
  constexpr int kHourMs = 3'600'000;
  result["ttlMs"] = kHourMs;
  result["cacheScope"] = "private";
  return result;
}

}  // namespace

struct McpServer::Request {
  Json id;
  std::string method;
  Json params;
  bool is_stateless = false;

  /// The answer with a result, which clients may keep where `lasts`.
  enum class Lasts { no, yes };
  [[nodiscard]] Json result(Json result, Lasts lasts = Lasts::no) const {
    if (!is_stateless) return rpc_result(id, std::move(result));
    result["resultType"] = "complete";
    return rpc_result(id, lasts == Lasts::yes ? kept(std::move(result)) : std::move(result));
  }
  [[nodiscard]] Json error(RpcError code, const std::string& message) const {
    return rpc_error(id, code, message);
  }
};

McpServer::McpServer(std::function<void(McpCall)> begin, std::function<void(const Json&)> cancel)
    : begin_(std::move(begin)), cancel_(std::move(cancel)) {}

Json McpServer::too_long() {
  return rpc_error(nullptr, RpcError::no_request, "the message is longer than 16 MiB");
}

Json McpServer::answer_to(const McpCall& call, Json result) {
  if (call.is_stateless) result["resultType"] = "complete";
  return rpc_result(call.id, std::move(result));
}

std::optional<Json> McpServer::answer(std::string_view text) {
  const Json message = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (message.is_discarded()) {
    return rpc_error(nullptr, RpcError::no_json,
                     "the message is no JSON: each message is one line of JSON in UTF-8");
  }
  const auto invalid = [&](const std::string& why) {
    return rpc_error(nullptr, RpcError::no_request, why);
  };
  if (!message.is_object()) return invalid("the message is no object (batches are not supported)");
  if (message.value("jsonrpc", Json()) != "2.0") return invalid("\"jsonrpc\" is not \"2.0\"");
  const Json method = message.value("method", Json());
  if (method.is_null() && (message.contains("result") || message.contains("error"))) {
    return std::nullopt;  // an answer, though nothing was asked
  }
  if (!method.is_string()) return invalid("\"method\" is missing or no text");
  const Json params = message.value("params", Json::object());
  if (!message.contains("id")) {
    if (params.is_object()) notice(method.get<std::string>(), params);
    return std::nullopt;
  }
  const Json& id = message.at("id");
  if (!id.is_string() && !id.is_number_integer())
    return invalid("\"id\" is no text or whole number");
  if (!params.is_object()) {
    return rpc_error(id, RpcError::bad_parameters, "\"params\" is no object");
  }
  Request request{.id = id, .method = method.get<std::string>(), .params = params};
  try {
    return answer(request);
  } catch (const Error& error) {
    return request.error(RpcError::internal, error.what());
  }
}

std::optional<Json> McpServer::answer(const Request& asked) {
  Request request = asked;
  const Json meta = request.params.value("_meta", Json::object());
  const Json revision = meta.is_object() ? meta.value(kRevisionKey, Json()) : Json();
  request.is_stateless = revision == kStatelessRevision;
  if (!revision.is_null() && !request.is_stateless) {
    Json answer = request.error(RpcError::no_such_revision, "Unsupported protocol version");
    answer["error"]["data"] = {{"supported", {kStatelessRevision}}, {"requested", revision}};
    return answer;
  }
  using enum Request::Lasts;
  const std::string& method = request.method;
  if (method == "initialize") return initialize(request);
  if (method == "server/discover") {
    return request.result({{"supportedVersions", {kStatelessRevision}},
                           {"capabilities", capabilities()},
                           {"instructions", kInstructions},
                           {"_meta", {{"io.modelcontextprotocol/serverInfo", server_info()}}}},
                          yes);
  }
  if (method == "ping") return request.result(Json::object());
  if (method == "tools/list") return request.result({{"tools", mcp_tools()}}, yes);
  if (method == "resources/list") return request.result({{"resources", resources_.list()}}, yes);
  if (method == "resources/templates/list") {
    return request.result({{"resourceTemplates", Json::array()}}, yes);
  }
  if (method == "resources/read") return read_resource(request);
  if (method == "tools/call") return begin_call(request);
  return request.error(RpcError::no_method,
                       fmt::format("there is no method {}", in_quotes(method)));
}

Json McpServer::initialize(const Request& request) const {
  const Json wanted = request.params.value("protocolVersion", Json());
  if (!wanted.is_string()) {
    return request.error(RpcError::bad_parameters, "\"protocolVersion\" is missing or no text");
  }
  const bool is_known =
      std::ranges::count(kSessionRevisions, wanted.get_ref<const std::string&>()) > 0;
  return request.result({{"protocolVersion", is_known ? wanted : Json(kSessionRevisions.front())},
                         {"capabilities", capabilities()},
                         {"serverInfo", server_info()},
                         {"instructions", kInstructions}});
}

Json McpServer::read_resource(const Request& request) const {
  const Json uri = request.params.value("uri", Json());
  if (!uri.is_string()) {
    return request.error(RpcError::bad_parameters, "\"uri\" is missing or no text");
  }
  auto contents = resources_.read(uri.get_ref<const std::string&>());
  if (!contents) {
    return request.error(request.is_stateless ? RpcError::bad_parameters : RpcError::no_resource,
                         fmt::format("there is no resource {}; resources/list lists them",
                                     in_quotes(uri.get<std::string>())));
  }
  return request.result({{"contents", *std::move(contents)}}, Request::Lasts::yes);
}

std::optional<Json> McpServer::begin_call(const Request& request) {
  const Json name = request.params.value("name", Json());
  const Json arguments = request.params.value("arguments", Json::object());
  if (!name.is_string() || !is_mcp_tool(name.get_ref<const std::string&>())) {
    return request.error(
        RpcError::bad_parameters,
        fmt::format("there is no tool {}; tools/list lists them",
                    in_quotes(name.is_string() ? name.get<std::string>() : name.dump())));
  }
  if (!arguments.is_object()) {
    return request.error(RpcError::bad_parameters, "\"arguments\" is no object");
  }
  begin_({.id = request.id,
          .is_stateless = request.is_stateless,
          .tool = name.get<std::string>(),
          .arguments = arguments});
  return std::nullopt;
}

void McpServer::notice(std::string_view method, const Json& params) {
  if (method == "notifications/cancelled" && params.contains("requestId")) {
    cancel_(params.at("requestId"));
  }
}

}  // namespace tuner::cli
