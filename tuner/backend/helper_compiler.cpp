// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/helper_compiler.hpp"

#include "tuner/backend/cache_entry.hpp"
#include "tuner/backend/registry.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/installed_file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/process.hpp"
#include "tuner/core/sandbox.hpp"
#include "tuner/source/source.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <sys/prctl.h>
#include <utility>

namespace tuner::backend {
namespace {

// An answer is one of these and then a cache entry, or what the compiler says.
constexpr char kCompiled = 'C';
constexpr char kFailed = 'F';

constexpr std::size_t kMostAnswerBytes = std::size_t{256} << 20;
constexpr std::size_t kMostWords = 8192;  // a compiler's log is cut at 4 KiB

std::string job_bytes(const family::CompileJob& job) {
  Json headers = Json::array();
  for (const source::Header& header : job.source.headers) {
    headers.push_back({header.name, header.text});
  }
  std::string bytes;
  Json::to_cbor(Json{{"name", job.source.name},
                     {"text", job.source.text},
                     {"headers", std::move(headers)},
                     {"entries", job.entries},
                     {"options", job.options},
                     {"key", job.key}},
                bytes);
  return bytes;
}

family::CompileJob job_of(std::string_view bytes) {
  const Json job = Json::from_cbor(bytes);
  family::CompileJob result{
      .source = {.name = job.at("name"), .text = job.at("text"), .headers = {}},
      .entries = job.at("entries"),
      .options = job.at("options"),
      .key = job.at("key")};
  for (const Json& header : job.at("headers")) {
    result.source.headers.push_back({.name = header.at(0), .text = header.at(1)});
  }
  return result;
}

Unexpected<Failure> failure(Outcome outcome, std::string message) {
  return Unexpected(Failure{outcome, std::move(message)});
}

Expected<Binary, Failure> read_answer(const std::string& key, const ProcessResult& result,
                                      std::uint64_t memory_bytes) {
  const std::string_view answer = result.output;
  const std::string_view rest = answer.substr(std::min<std::size_t>(answer.size(), 1));
  if (answer.starts_with(kCompiled)) {
    if (auto binary = decode_cache_entry(key, rest)) return *std::move(binary);
  }
  if (answer.starts_with(kFailed)) {
    return failure(Outcome::compile_error, printable(rest.substr(0, kMostWords)));
  }
  const ProcessEnd end{.exit_code = result.exit_code,
                       .signal = result.exit_code > 128 ? result.exit_code - 128 : 0};
  return failure(Outcome::compile_error,
                 fmt::format("the compiler {} without a result; its memory is limited to {} MiB",
                             end.text(), memory_bytes >> 20));
}

std::string read_input() {
  std::string bytes;
  std::array<char, 16384> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), stdin)) > 0;) {
    bytes.append(buffer.data(), got);
  }
  return bytes;
}

std::string answer_to(std::string_view request, const std::vector<std::string>& arguments) {
  try {
    const family::CompileJob job = job_of(request);
    const auto compiler = make_helper_compiler(arguments);
    const auto binary = compiler->compile(job);
    return binary ? kCompiled + encode_cache_entry(job.key, *binary)
                  : kFailed + binary.error().message;
  } catch (const std::exception& exception) {
    return kFailed + std::string(exception.what());
  }
}

}  // namespace

std::optional<std::filesystem::path> compile_helper() {
  if (is_privileged()) return std::nullopt;
  return installed_file("libexec/tuner/tuner-compile");
}

HelperCompiler::HelperCompiler(std::filesystem::path helper, std::vector<std::string> arguments,
                               const HelperLimits& limits)
    : helper_(std::move(helper)), arguments_(std::move(arguments)), limits_(limits) {}

Expected<Binary, Failure> HelperCompiler::compile(const family::CompileJob& job) const {
  std::vector<std::string> command = {helper_.string()};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  const std::string request = job_bytes(job);
  try {
    const ProcessResult result = run_process(
        command, limits_.deadline,
        {.processor_time = 2 * limits_.deadline,  // also if this process ends first
         .address_space_bytes = limits_.memory_bytes,
         .surroundings = Surroundings::bare},
        {.input = request, .most_output_bytes = kMostAnswerBytes, .keeps_errors = false});
    if (result.timed_out) {
      return failure(Outcome::compile_timeout,
                     fmt::format("the compiler did not end within {} s and was killed",
                                 limits_.deadline.count()));
    }
    return read_answer(job.key, result, limits_.memory_bytes);
  } catch (const Error& error) {
    return Unexpected(
        Failure{.outcome = Outcome::compile_error, .message = error.what(), .is_transient = true});
  }
}

int serve_as_helper(const std::vector<std::string>& arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  confine_process({});
  const std::string answer = answer_to(read_input(), arguments);
  const bool is_said = std::fwrite(answer.data(), 1, answer.size(), stdout) == answer.size();
  return is_said && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace tuner::backend
