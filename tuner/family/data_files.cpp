// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/data_files.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/trust.hpp"
#include "tuner/family/document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <system_error>
#include <variant>

namespace tuner::family {

namespace fs = std::filesystem;

fs::path npy_file(const fs::path& space_file, std::string_view name) {
  const fs::path folder = space_file.parent_path(), relative = name;
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: the file {} of \"npy\" {}", printable_name(space_file.string()),
                            in_quotes(std::string(name)), why));
  };
  if (relative.empty() || relative.is_absolute()) fail("must be a path relative to the space file");
  fs::path path = (folder / relative).lexically_normal();
  std::error_code missing;
  const fs::path real = fs::canonical(path, missing);
  const bool is_below =
      missing ? *relative.lexically_normal().begin() != ".." : lies_below(path, folder);
  if (!is_below && (missing ? path : real).extension() != ".npy") {
    fail(
        "is outside of the space file's folder and does not end in .npy: move it into that folder");
  }
  return path;
}

std::vector<fs::path> npy_files(const Family& family) {
  std::vector<fs::path> files;
  const auto add = [&](const InputFill& fill) {
    if (fill.kind == FillKind::npy) files.push_back(npy_file(family.path, fill.source));
  };
  for (const Argument& argument : family.arguments) {
    if (const auto* buffer = std::get_if<BufferArgument>(&argument.what)) add(buffer->fill);
    if (const auto* array = std::get_if<ArrayArgument>(&argument.what)) add(array->fill);
  }
  if (const auto* results = std::get_if<NpyReference>(&family.check.reference)) {
    for (const auto& [name, file] : results->files) files.push_back(npy_file(family.path, file));
  }
  return files;
}

fs::path results_folder(const Family& family) {
  const auto* const results = std::get_if<ResultsReference>(&family.check.reference);
  if (results == nullptr) return {};
  return fs::path(family.path).parent_path() / results->folder;
}

std::string results_identity(const fs::path& folder) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const fs::path file = folder / "manifest.json";
  if (!fs::is_regular_file(file)) return {};
  const std::string text = read_file(file, kMostBytes);
  const Json manifest = parse_json(text, file.string());
  return DocumentNode(manifest, file.string()).at("identity").text();
}

}  // namespace tuner::family
