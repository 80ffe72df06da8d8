// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/mcp_tools.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/process.hpp"
#include "tuner/core/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace tuner::cli {
namespace {

enum class ArgumentType { text, count, flag };

struct ToolArgument {
  std::string_view name;
  ArgumentType type;
  std::string_view option;  ///< of the command; empty: its positional argument
  std::string_view description;
  bool is_required = false;
};

struct Tool {
  std::string_view name;
  std::string_view title, description;
  std::vector<std::string_view> command;  ///< its words before the arguments
  std::vector<ToolArgument> arguments;
  bool changes_database;
};

constexpr ToolArgument kBackend = {
    "backend", ArgumentType::text, "--backend",
    "auto (a GPU, else the CPU), cuda or cpu; cpu runs the same CUDA source without a GPU"};
constexpr ToolArgument kDevice = {"device", ArgumentType::text, "--device",
                                  "Index or UUID of the GPU"};
constexpr ToolArgument kDatabase = {"database", ArgumentType::text, "--db",
                                    "Path of the results database; default: as for `tune`"};
constexpr ToolArgument kSize = {"size", ArgumentType::text, "--size",
                                "Problem size, such as 4096,4096,4096"};

const std::vector<Tool>& tools() {
  using enum ArgumentType;
  static const std::vector<Tool> kTools = {
      {"judge",
       "Judge a kernel",
       "Compiles, verifies and times one configuration of one CUDA kernel and returns the verdict "
       "document judge/1 (resource tuner://schema/judge-1.schema.json): each check with the first "
       "wrong element, the time, and ratios to the reference, the default and the library. Runs "
       "the kernel's code on this machine.",
       {"judge", "--json", "-q"},
       {{"space", text, "", "Path of the space file that describes the problem and the kernel",
         true},
        {"kernel", text, "--kernel", "Kernel to judge; default: the only one beside the reference"},
        {"config", text, "--config",
         "Values such as TILE_M=64,TILE_N=32, a JSON object as text, best or default"},
        kSize,
        {"seed", count, "--seed", "Seed of the inputs"},
        {"max_time", text, "--max-time", "Time for the whole, such as 60s; default 2m"},
        {"store", flag, "--store", "Add the trial to the database"},
        kBackend,
        kDevice,
        kDatabase},
       true},
      {"tune",
       "Tune kernels",
       "Searches the fastest verified configuration of the kernels of a space file and stores the "
       "results. Takes minutes: state max_time or max_evals.",
       {"--json", "-q"},
       {{"space", text, "--space", "Path of the space file", true},
        {"kernel", text, "--kernel", "One of its kernels; default: all of them"},
        kSize,
        {"max_time", text, "--max-time", "Time for the command, such as 60s"},
        {"max_evals", count, "--max-evals", "At most so many configurations at each size"},
        {"seed", count, "--seed", "Seed of the search and of the inputs"},
        {"set", text, "--set", "Keep only these values of a parameter, such as TILE_M=64,128"},
        {"fresh", flag, "--fresh", "Repeat all trials instead of using stored ones"},
        kBackend,
        kDevice,
        kDatabase},
       true},
      {"query",
       "Best stored configuration",
       "Returns the best stored configuration of a kernel or a family for a size. Name a kernel or "
       "a family.",
       {"query", "--json", "-q"},
       {{"kernel", text, "--kernel", "Kernel to query"},
        {"family", text, "--family", "Family to query: the best of its kernels"},
        {"size", text, "--size", "Problem size, such as 4096,4096,4096", true},
        {"device", text, "--device", "Name of the device; default: the one used last"},
        {"policy", text, "--policy", "exact, or nearest: also from another size"},
        kDatabase},
       false},
      {"explain",
       "Explain the best configuration",
       "Times the best stored configuration of a kernel at a size beside its neighbours, reads "
       "hardware counters and says what limits it. Needs results of `tune`.",
       {"explain", "--json", "-q"},
       {{"kernel", text, "--kernel", "Kernel to explain", true},
        {"size", text, "--size", "Problem size, such as 4096,4096,4096", true},
        {"space", text, "--space", "Path of the space file; default: that of the newest run"},
        kBackend,
        kDevice,
        kDatabase},
       true},
  };
  return kTools;
}

const Tool& tool(std::string_view name) {
  return *std::ranges::find(tools(), name, &Tool::name);
}

std::string_view schema_type(ArgumentType type) {
  switch (type) {
    case ArgumentType::text:
      return "string";
    case ArgumentType::count:
      return "integer";
    case ArgumentType::flag:
      return "boolean";
  }
  return "";
}

Json input_schema(const Tool& tool) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ToolArgument& argument : tool.arguments) {
    Json& property = properties[std::string(argument.name)];
    property = {{"type", schema_type(argument.type)}, {"description", argument.description}};
    if (argument.type == ArgumentType::count) property["minimum"] = 0;
    if (argument.is_required) required.push_back(argument.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

const ToolArgument& argument_of(const Tool& tool, const std::string& name) {
  const auto found = std::ranges::find(tool.arguments, name, &ToolArgument::name);
  if (found != tool.arguments.end()) return *found;
  std::vector<std::string> names;
  for (const ToolArgument& each : tool.arguments) names.emplace_back(each.name);
  throw Error(ErrorCode::usage,
              fmt::format("tool {} has no argument {}{}; it has {}", tool.name, in_quotes(name),
                          did_you_mean(name, names), fmt::join(names, ", ")));
}

/// The words of one argument; none for a flag that is off.
std::vector<std::string> words_of(const Tool& tool, const ToolArgument& argument,
                                  const Json& value) {
  const auto fail = [&](std::string_view wanted) {
    throw Error(ErrorCode::usage, fmt::format("argument {} of tool {} is {}, not {}", argument.name,
                                              tool.name, wanted, in_quotes(value.dump())));
  };
  // Joined to its option, so that a value that begins with - is no option.
  const auto joined = [&](const std::string& text) {
    return std::vector{argument.option.empty() ? text
                                               : fmt::format("{}={}", argument.option, text)};
  };
  switch (argument.type) {
    case ArgumentType::flag:
      if (!value.is_boolean()) fail("true or false");
      return value.get<bool>() ? std::vector{std::string(argument.option)}
                               : std::vector<std::string>();
    case ArgumentType::count:
      if (!value.is_number_unsigned()) fail("a whole number");
      return joined(std::to_string(value.get<std::uint64_t>()));
    case ArgumentType::text:
      if (!value.is_string() || value.get_ref<const std::string&>().empty()) fail("a text");
      if (value.get_ref<const std::string&>().find('\0') != std::string::npos) {
        fail("a text without NUL");
      }
      return joined(value.get<std::string>());
  }
  return {};
}

/// A file in memory that a program writes.
class OutputFile {
 public:
  OutputFile() : descriptor_(::memfd_create("tune-mcp", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(ErrorCode::failure, "no file in memory for a tool's output");
  }
  ~OutputFile() { ::close(descriptor_); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::string text() const {
    std::string text;
    std::array<char, std::size_t{64} * 1024> part{};
    for (ssize_t length = 0; (length = ::pread(descriptor_, part.data(), part.size(),
                                               static_cast<off_t>(text.size()))) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(length));
    }
    return text;
  }

 private:
  int descriptor_;
};

Json text_content(const std::string& text) {
  return {{"type", "text"}, {"text", as_utf8(text)}};
}

Json error_result(const std::string& message) {
  return {{"content", Json::array({text_content(message)})}, {"isError", true}};
}

/// Of what a command printed and how it ended. A verdict of `judge` is a result, whatever it is.
Json result_of(std::string_view name, int exit_code, const std::string& output,
               const std::string& messages) {
  const Json document = Json::parse(output, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return error_result(messages.empty()
                            ? fmt::format("tune {} ended with exit code {}", name, exit_code)
                            : messages);
  }
  const bool is_verdict = name == "judge" && document.value("verdict", "error") != "error";
  if (exit_code != 0 && !is_verdict) {
    return error_result(messages.empty() ? document.value("message", output) : messages);
  }
  Json content = Json::array({text_content(output)});
  if (!messages.empty()) content.push_back(text_content(messages));
  return {{"content", std::move(content)}, {"structuredContent", document}, {"isError", false}};
}

}  // namespace

Json mcp_tools() {
  Json list = Json::array();
  for (const Tool& each : tools()) {
    list.push_back({{"name", each.name},
                    {"title", each.title},
                    {"description", each.description},
                    {"inputSchema", input_schema(each)},
                    {"annotations",
                     {{"readOnlyHint", !each.changes_database},
                      {"destructiveHint", false},
                      {"openWorldHint", false}}}});
  }
  return list;
}

bool is_mcp_tool(std::string_view name) {
  return std::ranges::find(tools(), name, &Tool::name) != tools().end();
}

std::vector<std::string> tool_command(std::string_view name, const Json& arguments) {
  const Tool& its = tool(name);
  std::vector<std::string> words(its.command.begin(), its.command.end());
  std::vector<std::string> positional;
  for (const auto& [key, value] : arguments.items()) {
    const ToolArgument& argument = argument_of(its, key);
    std::vector<std::string> added = words_of(its, argument, value);
    std::vector<std::string>& to = argument.option.empty() ? positional : words;
    to.insert(to.end(), added.begin(), added.end());
  }
  for (const ToolArgument& argument : its.arguments) {
    if (argument.is_required && !arguments.contains(argument.name)) {
      throw Error(ErrorCode::usage, fmt::format("tool {} needs the argument {}: {}", its.name,
                                                argument.name, argument.description));
    }
  }
  if (!positional.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), positional.begin(), positional.end());
  }
  return words;
}

std::optional<Json> call_tool(std::string_view name, const Json& arguments,
                              const std::function<bool()>& stopped) {
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  std::vector<std::string> words;
  try {
    words = tool_command(name, arguments);
    words.insert(words.begin(), std::filesystem::read_symlink("/proc/self/exe"));
    const OutputFile output;
    const OutputFile messages;
    ChildProcess child(words, {.output = output.descriptor(), .errors = messages.descriptor()},
                       {.surroundings = Surroundings::users});
    std::optional<ProcessEnd> end;
    while (!(end = child.poll_end())) {
      if (stopped()) return std::nullopt;  // which kills it
      std::this_thread::sleep_for(kBetweenLooks);
    }
    return result_of(name, end->exit_code, output.text(), messages.text());
  } catch (const Error& error) {
    return error_result(error.what());
  }
}

}  // namespace tuner::cli
