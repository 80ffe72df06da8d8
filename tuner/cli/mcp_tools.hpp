// SPDX-License-Identifier: Apache-2.0
// The commands that `tune mcp` offers as tools. Each runs in a process of its own, so that nothing
// that a kernel or a command does reaches the server or its stream of messages.
#pragma once

#include "tuner/core/json.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// The tools with the schemas of their arguments, as "tools/list" gives them.
[[nodiscard]] Json mcp_tools();

[[nodiscard]] bool is_mcp_tool(std::string_view name);

/// The command line of a call, after the program. Throws Error(usage) for arguments that the tool
/// does not have or of another type, and where one is missing.
[[nodiscard]] std::vector<std::string> tool_command(std::string_view name, const Json& arguments);

/// Runs a call to its end and gives its result: the command's document, or what it said when it
/// failed; none when `stopped`, asked meanwhile, ended it.
[[nodiscard]] std::optional<Json> call_tool(std::string_view name, const Json& arguments,
                                            const std::function<bool()>& stopped);

}  // namespace tuner::cli
