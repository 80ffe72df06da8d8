// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/stored_results.hpp"

#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/data_files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tuner::verify {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestStoredFile = std::size_t{1} << 36;
constexpr std::string_view kSpread = ":spread";

/// Where a file says so: why the reference has no results for inputs.
constexpr const char* kRefused = "refused";

/// Throws ResultsError unless a program gave each output, of the type and with the elements that
/// it has.
std::vector<NamedArray> checked(Safetensors given, const std::vector<NamedArray>& outputs,
                                const std::string& origin) {
  std::vector<NamedArray> results;
  for (const NamedArray& output : outputs) {
    const auto found = std::ranges::find(given.arrays, output.name, &NamedArray::name);
    if (found == given.arrays.end()) {
      throw ResultsError(ErrorCode::usage,
                         fmt::format("{}: has no array {}", origin, in_quotes(output.name)));
    }
    if (found->type != output.type || found->count != output.count) {
      throw ResultsError(
          ErrorCode::usage,
          fmt::format("{}: {} has {} elements of type {}; the output has {} of type {}", origin,
                      in_quotes(output.name), found->count, found->type, output.count,
                      output.type));
    }
    results.push_back(std::move(*found));
  }
  return results;
}

bool are_equal(const std::vector<NamedArray>& some, const std::vector<NamedArray>& others) {
  return std::ranges::equal(some, others, {}, &NamedArray::bytes, &NamedArray::bytes);
}

std::string text_of(const Safetensors& inputs, const char* key) {
  const auto found = inputs.metadata.find(key);
  return found == inputs.metadata.end() ? "" : found->second;
}

}  // namespace

StoredResults::StoredResults(const family::Family& family)
    : family_(family), folder_(family::results_folder(family)) {
  const fs::path file = folder_ / "manifest.json";
  if (!fs::is_regular_file(file)) return;
  const Json manifest = parse_json(read_file(file, std::size_t{64} << 20), file.string());
  try {
    files_ = manifest.at("files").get<std::map<std::string, std::string>>();
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: is no manifest of results: {}; remove the folder "
                            "and make it again by `tune space results`",
                            file.string(), error.what()));
  }
}

StoredResults::StoredResults(const family::Family& family, ResultsProgram program)
    : StoredResults(family) {
  program_ = std::move(program);
}

std::optional<StoredResults::Entry> StoredResults::stored(
    const std::string& key, const std::vector<NamedArray>& outputs) const {
  const auto known = files_.find(key);
  if (known == files_.end()) return std::nullopt;
  const fs::path file = folder_ / (key + ".safetensors");
  const std::string content = fs::is_regular_file(file) ? read_file(file, kLargestStoredFile) : "";
  if (content_hash({content}) != known->second) {
    if (program_) return std::nullopt;  // a command that was killed wrote it: it is made again
    throw ResultsError(
        ErrorCode::usage,
        fmt::format("{}: is not the file that the manifest of its folder names: it was changed or "
                    "removed; remove the folder and make it again by `tune space results`",
                    file.string()));
  }
  Safetensors read = parse_safetensors(content, file.string());
  Entry entry{.key = key, .results = {}, .spreads = {}, .refused = text_of(read, kRefused)};
  if (!entry.refused.empty()) return entry;
  for (NamedArray& array : read.arrays) {
    if (!array.name.ends_with(kSpread)) continue;
    array.name.resize(array.name.size() - kSpread.size());
    entry.spreads.push_back(array);
  }
  entry.results = checked(std::move(read), outputs, file.string());
  return entry;
}

StoredResults::Entry StoredResults::find(const std::string& key, const Safetensors& inputs,
                                         const std::vector<NamedArray>& outputs) {
  auto entry = stored(key, outputs);
  if (program_ && !settled_.contains(key)) {
    Entry answer = asked(key, inputs, outputs);
    const bool is_same =
        entry && entry->refused == answer.refused && are_equal(entry->results, answer.results);
    if (is_same) {
      program_->keep(key, {});
    } else {
      keep(answer);
      entry = std::move(answer);
    }
    settled_.insert(key);
  }
  if (!entry) fail_without_entry(inputs);
  if (!entry->refused.empty()) {
    throw Error(ErrorCode::usage, fmt::format("the reference has no results for these inputs ({}): "
                                              "{}",
                                              text_of(inputs, "inputs"), entry->refused));
  }
  return *std::move(entry);
}

StoredResults::Entry StoredResults::asked(const std::string& key, const Safetensors& inputs,
                                          const std::vector<NamedArray>& outputs) {
  const ResultsRequest request{.inputs = program_->exchange / "inputs.safetensors",
                               .results = program_->exchange / "results.safetensors"};
  fs::remove(request.results);
  write_safetensors(request.inputs, inputs);
  const ResultsAnswer answer = program_->ask(request);
  if (answer.kind == ResultsAnswer::Kind::failed) {
    throw ResultsError(ErrorCode::failure, answer.reason);
  }
  Entry entry{.key = key, .results = {}, .spreads = {}, .refused = {}};
  if (answer.kind == ResultsAnswer::Kind::refused) {
    entry.refused = answer.reason.empty() ? "no reason is given" : answer.reason;
    return entry;
  }
  if (!fs::is_regular_file(request.results)) {
    throw ResultsError(
        ErrorCode::usage,
        fmt::format("the answer is \"ok\", but there is no file {}", request.results.string()));
  }
  entry.results = checked(read_safetensors(request.results, kLargestStoredFile), outputs,
                          "the file of results");
  return entry;
}

std::vector<NamedArray> StoredResults::compute(const std::string& key, const Safetensors& inputs,
                                               const std::vector<NamedArray>& outputs) {
  if (!program_) fail_without_entry(inputs);
  Entry entry = asked(key, inputs, outputs);
  if (!entry.refused.empty()) {
    if (!key.empty()) keep(entry);
    throw Error(ErrorCode::usage,
                fmt::format("the reference has no results for these inputs, moved by rounding "
                            "errors ({}): {}",
                            text_of(inputs, "inputs"), entry.refused));
  }
  return std::move(entry.results);
}

void StoredResults::keep(const Entry& entry) {
  if (!program_) return;
  Safetensors content{.metadata = {{"format", "results/1"}}, .arrays = entry.results};
  if (!entry.refused.empty()) content.metadata.emplace(kRefused, entry.refused);
  for (NamedArray spread : entry.spreads) {
    spread.name += kSpread;
    content.arrays.push_back(std::move(spread));
  }
  const fs::path file = program_->exchange / "kept.safetensors";
  write_safetensors(file, content);
  files_[entry.key] = content_hash({read_file(file, kLargestStoredFile)});
  program_->keep(entry.key, file);
}

void StoredResults::fail_without_entry(const Safetensors& inputs) const {
  throw ResultsError(
      ErrorCode::usage,
      fmt::format("{}: has no results for these inputs ({}): make them by `tune space results`, "
                  "with the sizes, seed and device of the run",
                  folder_.string(), text_of(inputs, "inputs")));
}

}  // namespace tuner::verify
