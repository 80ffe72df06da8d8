// SPDX-License-Identifier: Apache-2.0
#include "tuner/capture/captured_program.hpp"

#include "tuner/capture/capture_folder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/family/space_draft.hpp"
#include "tuner/source/read_source.hpp"
#include "tuner/source/token.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <cxxabi.h>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace tuner::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTextBytes = std::size_t{16} << 20;
constexpr std::size_t kMostBufferBytes = std::size_t{1} << 40;

/// A program that was compiled by NVRTC, or a file.
struct Source {
  source::KernelSource files;
  std::vector<std::string> options;
};

/// A parameter of the launch.
struct Parameter {
  std::vector<std::byte> bytes;
  fs::path before, after;  ///< empty: it is no pointer to device memory, or was not changed
  std::uint64_t buffer_bytes = 0;
};

struct Launch {
  std::string kernel;  ///< as in the compiled code
  std::array<std::int64_t, 3> grid{}, block{};
  std::int64_t shared_bytes = 0;
  std::vector<Parameter> parameters;
};

/// What a name of the compiled code stands for: "void spmv<256, float>(int, …)".
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

/// The arguments of the function's template, as texts of C++.
std::vector<std::string> template_arguments(const std::string& name, const std::string& function) {
  const std::string text = demangled(name);
  const std::size_t begin = text.find(function + "<");
  if (begin == std::string::npos) return {};
  std::vector<std::string> arguments(1);
  int depth = 0;
  for (const char c : std::string_view(text).substr(begin + function.size() + 1)) {
    if ((c == '>' || c == ')') && depth-- == 0) break;
    if (c == '<' || c == '(') ++depth;
    if (c == ',' && depth == 0) {
      arguments.emplace_back();
    } else if (c != ' ' || !arguments.back().empty()) {
      arguments.back() += c;
    }
  }
  return arguments;
}

/// "4", "4u", "(int)4", "true" as a value of a parameter; none for other texts.
std::optional<Json> parameter_value(std::string text) {
  if (text == "true" || text == "false") return text == "true";
  if (const std::size_t cast = text.rfind(')'); cast != std::string::npos) text.erase(0, cast + 1);
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos) {
    text.pop_back();
  }
  const Json number = Json::parse(text, nullptr, false);
  return number.is_number_integer() ? std::optional(number) : std::nullopt;
}

std::vector<std::byte> read_bytes(const fs::path& file) {
  const std::string content = read_file(file, kMostBufferBytes);
  const auto bytes = std::as_bytes(std::span(content));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

Launch read_launch(const fs::path& folder) {
  const fs::path file = folder / "launch.json";
  const Json record = parse_json(read_file(file, kMostTextBytes), file.string());
  Launch launch;
  launch.kernel = record.at("kernel");
  if (const std::string problem = record.at("problem"); !problem.empty()) {
    throw Error(ErrorCode::nothing_found, fmt::format("{} was launched but not captured: {}",
                                                      demangled(launch.kernel), problem));
  }
  launch.grid = record.at("grid");
  launch.block = record.at("block");
  launch.shared_bytes = record.at("shared_bytes");
  for (const Json& each : record.at("parameters")) {
    Parameter& parameter = launch.parameters.emplace_back();
    parameter.bytes = from_hex(each.at("value"));
    if (!each.contains("buffer")) continue;
    const std::string name = each.at("buffer");
    parameter.before = folder / (name + ".before");
    if (each.at("changed")) parameter.after = folder / (name + ".after");
    parameter.buffer_bytes = each.at("bytes");
  }
  return launch;
}

/// The process that captured the launch; the kernels that were launched where none did.
fs::path recorded_folder(const fs::path& record, const std::string& kernel) {
  std::set<std::string> seen;
  for (const auto& process : fs::directory_iterator(record)) {
    if (fs::exists(process.path() / "launch.json")) return process.path();
    if (!fs::exists(process.path() / "kernels.txt")) continue;
    std::string names = read_file(process.path() / "kernels.txt", kMostTextBytes);
    for (std::size_t end = 0; (end = names.find('\n')) != std::string::npos;) {
      seen.insert(demangled(names.substr(0, end)));
      names.erase(0, end + 1);
    }
  }
  constexpr std::size_t kMostShown = 20;
  std::vector<std::string> shown(seen.begin(), seen.end());
  if (shown.size() > kMostShown) shown.resize(kMostShown);
  throw Error(
      ErrorCode::nothing_found,
      shown.empty()
          ? fmt::format("{}: the program launched no kernel by the CUDA driver, or replaces its "
                        "environment: nothing was captured",
                        kernel)
          : fmt::format("{}: no kernel of this name was launched so often outside of CUDA graphs. "
                        "Launched were:\n  {}",
                        kernel, fmt::join(shown, "\n  ")));
}

bool has_kernel(const std::string& source, const std::string& kernel) {
  const std::vector<source::Token> tokens = source::tokens_of(source);
  const auto has = [&](std::string_view word) {
    return std::ranges::find(tokens, word, &source::Token::text) != tokens.end();
  };
  return has("__global__") && has(kernel);
}

/// The folders of headers that NVRTC was given, without CUDA's own.
std::vector<fs::path> include_folders(const std::vector<std::string>& options) {
  std::vector<fs::path> folders;
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string_view text = options[i];
    const bool is_apart = text == "-I" || text == "--include-path";
    if (is_apart && i + 1 < options.size()) text = options[++i];
    const bool is_one = is_apart || text.starts_with("-I") || text.starts_with("--include-path=");
    if (!is_one) continue;
    if (!is_apart) text.remove_prefix(text.starts_with("-I") ? 2 : std::strlen("--include-path="));
    if (fs::is_directory(text) && !fs::exists(fs::path(text) / "cuda.h"))
      folders.emplace_back(text);
  }
  return folders;
}

/// What NVRTC compiled that has the kernel, the last first, with the headers that it includes.
std::optional<Source> compiled_source(const fs::path& folder, const std::string& kernel) {
  std::vector<fs::path> programs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".program") programs.push_back(entry.path());
  }
  std::ranges::sort(programs, std::greater());
  for (const fs::path& file : programs) {
    const Json program = parse_json(read_file(file, kMostTextBytes), file.string());
    const std::string text = program.at("source");
    if (!has_kernel(text, kernel)) continue;
    const fs::path place = folder / "source";
    write_file(place / (kernel + ".cu"), text);
    for (const auto& header : program.at("headers").items()) {
      const fs::path name = fs::path(header.key()).lexically_normal();
      if (name.is_absolute() || *name.begin() == "..") continue;
      write_file(place / name, header.value().get<std::string>());
    }
    const auto options = program.at("options").get<std::vector<std::string>>();
    return Source{
        .files = source::read_kernel_source(
            place / (kernel + ".cu"), {.space_folder = place, .folders = include_folders(options)}),
        .options = options};
  }
  return std::nullopt;
}

Source source_of(const fs::path& folder, const ProgramOptions& options) {
  if (!options.source.empty()) {
    return {.files = source::read_kernel_source(options.source), .options = {}};
  }
  if (auto found = compiled_source(folder, options.kernel)) return *std::move(found);
  throw Error(ErrorCode::usage,
              fmt::format("{}: the launch was seen, but not the kernel's source, which was not "
                          "compiled in the program by NVRTC: name it with --source FILE",
                          options.kernel));
}

/// The options of a compiler that a space file may have; -D of parameters becomes their default.
std::vector<std::string> kept_options(const std::vector<std::string>& all, Json& parameters) {
  std::vector<std::string> kept;
  for (std::string option : all) {
    if (option == "-use_fast_math") option = "--use_fast_math";
    if (option.starts_with("--std=")) option.erase(0, 1);
    if (option.starts_with("-D")) {
      const std::size_t equals = option.find('=');
      const std::string name = option.substr(2, equals == std::string::npos ? equals : equals - 2);
      const auto value =
          equals == std::string::npos ? std::nullopt : parameter_value(option.substr(equals + 1));
      if (parameters.contains(name) && value) {
        parameters[name]["default"] = *value;
        continue;
      }
    }
    const bool is_allowed = option.starts_with("-D") || option == "--use_fast_math" ||
                            option == "-std=c++17" || option == "-std=c++20" ||
                            option.starts_with("--maxrregcount=");
    if (is_allowed) kept.push_back(option);
  }
  return kept;
}

/// Makes the space file of a launch from the draft of its source.
class ProgramCapture {
 public:
  ProgramCapture(Launch launch, Source source, const ProgramOptions& options)
      : launch_(std::move(launch)), source_(std::move(source)), options_(options) {
    draft_ = parse_json(family::space_draft(source_.files.text, source_.files.name, options.kernel),
                        "a draft");
  }

  CapturedProgram write(const fs::path& path) {
    CaptureFolder folder(path);
    Json& arguments = draft_["arguments"];
    require_parameters(arguments);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      capture(arguments[i], launch_.parameters[i], folder);
    }
    if (results_.empty()) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: takes no pointer to device memory that is not const: there is "
                              "no result to compare",
                              options_.kernel));
    }
    Json kernel = captured_kernel();
    kernel["source"] = folder.add_source(options_.kernel, source_.files);
    Json check = {{"reference", {{"npy", results_}, {"size", size_}}}};
    if (uses_atomics()) check["deterministic"] = false;
    const Json space = {{"format", "space/1"},
                        {"family", "captured_" + options_.kernel},
                        {"problem",
                         {{"dims", dims_},
                          {"flops", 0},
                          {"bytes", bytes_},
                          {"sizes", {{"default", Json::array({size_})}}}}},
                        {"arguments", arguments},
                        {"check", check},
                        {"kernels", {{options_.kernel, kernel}}}};
    CapturedProgram made{.space = folder.finish(space), .warnings = {}};
    made.warnings = warnings();
    return made;
  }

 private:
  static ElementType element_of(std::string type) {
    while (!type.empty() && std::string_view("*[]").find(type.back()) != std::string_view::npos) {
      type.pop_back();
    }
    return *element_type_from_name(type);
  }

  /// Throws unless the source has the parameters of the compiled kernel.
  void require_parameters(const Json& arguments) const {
    std::vector<std::size_t> wanted, found;
    for (const Json& entry : arguments) {
      const std::string type = entry["type"];
      const std::size_t one = element_bytes(element_of(type));
      wanted.push_back(type.ends_with('*')   ? sizeof(void*)
                       : type.ends_with(']') ? one * entry["count"].get<std::size_t>()
                                             : one);
    }
    for (const Parameter& parameter : launch_.parameters) found.push_back(parameter.bytes.size());
    if (wanted == found) return;
    throw Error(ErrorCode::usage,
                fmt::format("{}: the launched kernel has parameters of ({}) bytes, those in {} "
                            "have ({}): name the source that it was compiled from with --source",
                            options_.kernel, fmt::join(found, ", "), source_.files.name,
                            fmt::join(wanted, ", ")));
  }

  void capture(Json& entry, const Parameter& parameter, CaptureFolder& folder) {
    const std::string type = entry["type"];
    if (type.ends_with('*')) return capture_buffer(entry, parameter, folder);
    const ElementType element = element_of(type);
    Json values = Json::array();
    for (std::size_t at = 0; at < parameter.bytes.size(); at += element_bytes(element)) {
      values.push_back(value_at(element, parameter.bytes, at));
    }
    if (type.ends_with(']')) {
      entry["fill"] = {{"values", values}};
      return;
    }
    const bool is_dimension = entry["value"].is_string();
    const Json value = values[0];
    constexpr std::int64_t kMostExtent = (std::int64_t{1} << 31) - 1;
    if (is_dimension && value.is_number_integer() && value >= 1 && value <= kMostExtent) {
      dims_.push_back(entry["value"]);
      size_.push_back(value);
    } else {
      entry["value"] = value;
    }
  }

  static Json value_at(ElementType type, std::span<const std::byte> bytes, std::size_t at) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, element_bytes(type));
    if (type == ElementType::s64) return static_cast<std::int64_t>(bits);
    if (type == ElementType::u64) return bits;
    const double number = number_of(type, bits);
    if (is_floating(type)) return number;
    return static_cast<std::int64_t>(number);
  }

  void capture_buffer(Json& entry, const Parameter& parameter, CaptureFolder& folder) {
    const std::string name = entry["name"];
    const bool is_null =
        std::ranges::all_of(parameter.bytes, [](auto it) { return it == std::byte{}; });
    if (is_null) {
      entry = {{"name", name}, {"type", "u64"}, {"value", 0}};
      return;
    }
    if (parameter.before.empty()) {
      throw Error(
          ErrorCode::usage,
          fmt::format("{}: {} points to memory of which the driver knows no length, such as "
                      "pageable memory of the host: it cannot be captured",
                      options_.kernel, name));
    }
    const bool is_written = entry.contains("role");
    require_own_memory(name, parameter, is_written);
    const ElementType element = element_of(entry["type"]);
    std::vector<std::byte> before = read_bytes(parameter.before);
    std::vector<std::byte> after = parameter.after.empty() ? before : read_bytes(parameter.after);
    auto count = static_cast<std::int64_t>(elements_in(element, before.size()));
    if (const auto given = options_.elements.find(name); given != options_.elements.end()) {
      count = std::min(count, static_cast<std::int64_t>(given->second));
    }
    before.resize(bytes_of(element, count));
    after.resize(before.size());
    entry["count"] = count;
    entry["fill"] = {{"npy", folder.add_array(name, element, before)}};
    bytes_ += before.size() * (is_written ? 2 : 1);
    if (!is_written) return;
    results_[name] = folder.add_array(name + "_after", element, after);
    changed_ = changed_ || !parameter.after.empty();
    if (Json tolerance = tolerance_of(element, after); !tolerance.is_null()) {
      entry["tolerance"] = std::move(tolerance);
    }
  }

  /// Each argument gets an array of its own.
  void require_own_memory(const std::string& name, const Parameter& parameter, bool is_written) {
    const auto [known, is_new] = seen_.emplace(parameter.bytes, std::pair(name, is_written));
    if (is_new || (!is_written && !known->second.second)) return;
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: {} and {} are the same memory, which the kernel writes: a space file "
                    "has a buffer for each argument; capture a launch that has, too",
                    options_.kernel, known->second.first, name));
  }

  [[nodiscard]] bool uses_atomics() const {
    return std::ranges::any_of(source::tokens_of(source_.files.text),
                               [](const auto& token) { return token.text.starts_with("atomic"); });
  }

  Json captured_kernel() {
    Json kernel = draft_["kernels"][options_.kernel];
    Json parameters = kernel["parameters"];
    fix_template(kernel, parameters);
    const std::vector<std::string> options = kept_options(source_.options, parameters);
    set_geometry(kernel, parameters);
    for (auto& parameter : parameters.items()) include_default(parameter.value());
    kernel["parameters"] = std::move(parameters);
    if (!options.empty()) kernel["options"] = options;
    if (dims_.empty()) {
      dims_.emplace_back("N");
      size_.push_back(1);
    }
    return kernel;
  }

  /// Defaults of the template's parameters are those of the launch; its types are fixed.
  void fix_template(Json& kernel, Json& parameters) const {
    const std::vector<std::string> values = template_arguments(launch_.kernel, options_.kernel);
    std::string entry = kernel["entry"];
    const std::size_t open = entry.find('<');
    if (open == std::string::npos || values.empty()) return;
    std::vector<std::string> places(1);
    for (const char c : entry.substr(open + 1, entry.size() - open - 2)) {
      if (c == ',') {
        places.emplace_back();
      } else {
        places.back() += c;
      }
    }
    for (std::size_t i = 0; i < std::min(places.size(), values.size()); ++i) {
      const auto value = parameter_value(values[i]);
      if (!places[i].starts_with("${")) {
        places[i] = values[i];
      } else if (value) {
        parameters[places[i].substr(2, places[i].size() - 3)]["default"] = *value;
      }
    }
    kernel["entry"] = fmt::format("{}<{}>", entry.substr(0, open), fmt::join(places, ","));
  }

  /// Blocks of other sizes: with as many threads in all, or with as many blocks, as a kernel needs
  /// that walks through its work by itself. Only one of them is right for most kernels.
  void set_geometry(Json& kernel, Json& parameters) {
    const std::string drafted = kernel["launch"]["block"][0];
    const bool is_flat = launch_.block[1] == 1 && launch_.block[2] == 1;
    if (!is_flat && parameters[drafted].value("kind", "") == "launch") parameters.erase(drafted);
    Json grid = Json::array(), block = Json::array();
    std::string threads = "1";
    std::string is_captured = "true";
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t extent = launch_.block[axis], blocks = launch_.grid[axis];
      if (extent == 1 && (axis > 0 || !is_flat)) {
        grid.push_back(blocks);
        block.push_back(1);
        continue;
      }
      const std::string name = is_flat ? drafted : fmt::format("BLOCK_{}", "XYZ"[axis]);
      if (!is_flat) {
        parameters[name] = {{"pow2",
                             {1, axis == 0   ? 128
                                 : axis == 1 ? 32
                                             : 8}},
                            {"kind", "launch"}};
      }
      parameters[name]["default"] = extent;
      block.push_back(name);
      threads += "*" + name;
      is_captured += fmt::format(" and {} == {}", name, extent);
      grid.push_back(
          fmt::format("GRID == 'threads' ? ceil_div({}, {}) : {}", blocks * extent, name, blocks));
    }
    parameters["GRID"] = {{"values", {"threads", "blocks"}},
                          {"default", "threads"},
                          {"kind", "launch"},
                          {"doc", "what stays as in the captured launch"}};
    kernel["constraints"] = {
        {{"expr", threads.substr(2) + " <= dev.max_threads_per_block"},
         {"why", "device limit of threads per block"}},
        {{"expr", fmt::format("GRID == 'threads' or not ({})", is_captured.substr(9))},
         {"why", "the captured launch once"}}};
    Json launch = {{"grid", grid}, {"block", block}};
    const std::int64_t all = launch_.block[0] * launch_.block[1] * launch_.block[2];
    if (launch_.shared_bytes % all == 0 && launch_.shared_bytes > 0) {
      launch["dynamic_shared_bytes"] =
          fmt::format("{}*{}", launch_.shared_bytes / all, threads.substr(2));
    } else if (launch_.shared_bytes > 0) {
      launch["dynamic_shared_bytes"] = launch_.shared_bytes;
    }
    kernel["launch"] = std::move(launch);
  }

  /// A parameter whose values have its default.
  static void include_default(Json& parameter) {
    if (parameter.contains("pow2")) {
      Json values = Json::array();
      for (std::int64_t each = parameter["pow2"][0]; each <= parameter["pow2"][1]; each *= 2) {
        values.push_back(each);
      }
      parameter.erase("pow2");
      parameter["values"] = std::move(values);
    }
    std::vector<Json> values = parameter["values"];
    if (std::ranges::find(values, parameter["default"]) != values.end()) return;
    values.push_back(parameter["default"]);
    std::ranges::sort(values);
    parameter["values"] = values;
  }

  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> all;
    if (!changed_) {
      all.emplace_back("the launch changed none of its buffers: wrong results may not show");
    }
    const std::string& text = source_.files.text;
    if (text.find("__constant__") != std::string::npos) {
      all.emplace_back(
          "the source has __constant__ variables, whose content is not captured: a "
          "kernel that reads them gives other results");
    }
    return all;
  }

  Launch launch_;
  Source source_;
  const ProgramOptions& options_;
  Json draft_;
  std::vector<std::string> dims_;
  Json size_ = Json::array(), results_ = Json::object();
  std::uint64_t bytes_ = 0;
  bool changed_ = false;
  std::map<std::vector<std::byte>, std::pair<std::string, bool>>
      seen_;  // pointers: whose, whether written
};

}  // namespace

CapturedProgram write_program_capture(const fs::path& folder, const fs::path& record,
                                      const ProgramOptions& options) {
  const fs::path process = recorded_folder(record, options.kernel);
  return ProgramCapture(read_launch(process), source_of(process, options), options).write(folder);
}

}  // namespace tuner::capture
