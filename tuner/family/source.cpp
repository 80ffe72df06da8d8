// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/source.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/family/document.hpp"
#include "tuner/family/include.hpp"
#include "tuner/family/standard_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace tuner::family {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSourceLimitBytes = std::size_t{1024} * 1024;
constexpr std::size_t kMaximumHeaders = 64;

/// A source that can be embedded in another one: without the byte order mark with which some
/// editors begin a file.
std::string read_source_text(const fs::path& path) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string text = read_file(path, kSourceLimitBytes);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  for (const std::string_view mark : {"\xff\xfe", "\xfe\xff"}) {
    if (!text.starts_with(mark)) continue;
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: is UTF-16, which no compiler reads; save it as UTF-8", path.string()));
  }
  return as_utf8(text);
}

/// Collects headers, each once, in the order in which they are first included.
class HeaderCollector {
 public:
  explicit HeaderCollector(const fs::path& folder) : folder_(folder.empty() ? "." : folder) {}

  /// Reads a file in this folder, relative to the source's, and collects what it includes. Returns
  /// the file's text in which every header has the name that it is collected by: NVRTC looks up
  /// names, not files.
  [[nodiscard]] std::string collect(const fs::path& file, const fs::path& folder) {
    const std::string text = read_source_text(file);
    std::string result;
    std::size_t copied = 0;
    for (const Include& include : includes(text)) {
      const std::string place = fmt::format("{}:{}", file.string(), include.line);
      if (!include.problem.empty()) fail(place, include.problem);
      if (include.form != Include::Form::quoted) continue;
      const std::string name = found_name(folder, include.name);
      result.append(text, copied, include.at - copied).append(name);
      copied = include.end;
      if (!known(name)) collect_header(name, place);
    }
    return result.append(text, copied);
  }

  [[nodiscard]] std::vector<Header> take() { return std::move(headers_); }

 private:
  /// What a compiler finds by a name in a file of this folder: a file beside it before one from the
  /// source's folder.
  [[nodiscard]] std::string found_name(const fs::path& folder, const std::string& name) const {
    const std::string beside = (folder / name).lexically_normal().generic_string();
    return folder.empty() || !fs::is_regular_file(root_of(beside) / beside) ? name : beside;
  }

  /// The folder in which a header is looked up: the source's, or for "common/NAME.cuh" the one
  /// above where only that has it. Other endings are not looked up there: a kernel cannot have a
  /// file that is no header in the compiler's messages.
  [[nodiscard]] fs::path root_of(const std::string& name) const {
    const bool may_be_shared = name.starts_with("common/") && name.ends_with(".cuh") &&
                               !fs::is_regular_file(folder_ / name);
    const fs::path above = folder_ / "..";
    return may_be_shared && fs::is_regular_file(above / name) ? above : folder_;
  }

  void collect_header(const std::string& name, const std::string& place) {
    if (headers_.size() == kMaximumHeaders) {
      fail(place, fmt::format("more than {} headers", kMaximumHeaders));
    }
    const fs::path root = root_of(name);
    const fs::path path = root / name;
    if (!fs::is_regular_file(path)) {
      if (is_standard_header(name)) return;  // the compiler has it
      fail(place, fmt::format("the header {} is missing: there is no file {}; local headers are "
                              "looked up beside the file that includes them and from the folder "
                              "of the kernel's source",
                              in_quotes(name), in_quotes(path.string())));
    }
    check_link(path, root, place);
    const std::size_t index = headers_.size();
    headers_.push_back({.name = name, .text = {}});  // known before its own includes are
    headers_[index].text = collect(path, fs::path(name).parent_path());
  }

  [[noreturn]] static void fail(const std::string& place, const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", place, why));
  }

  /// A link to a file elsewhere would have that file's text in the compiler's messages.
  void check_link(const fs::path& path, const fs::path& root, const std::string& place) const {
    const fs::path real = fs::canonical(path);
    const fs::path allowed = fs::canonical(root == folder_ ? folder_ : root / "common");
    const fs::path from_folder = real.lexically_relative(allowed);
    if (*from_folder.begin() != "..") return;
    fail(place, fmt::format("the header {} is a link to {}, outside of the kernel's folder: a "
                            "kernel may include only files in its own folder or below",
                            in_quotes(path.string()), in_quotes(real.string())));
  }

  [[nodiscard]] bool known(const std::string& name) const {
    return std::any_of(headers_.begin(), headers_.end(),
                       [&](const Header& header) { return header.name == name; });
  }

  fs::path folder_;
  std::vector<Header> headers_;
};

}  // namespace

KernelSource read_kernel_source(const fs::path& path) {
  KernelSource source;
  source.name = path.filename().string();
  HeaderCollector collector(path.parent_path());
  source.text = collector.collect(path, {});
  source.headers = collector.take();
  return source;
}

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

}  // namespace tuner::family
