// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/read_source.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/trust.hpp"
#include "tuner/source/include.hpp"
#include "tuner/source/standard_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace tuner::source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSourceLimitBytes = std::size_t{1024} * 1024;
constexpr std::size_t kMaximumHeaders = 256;

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

/// A path from a folder by names alone, links not followed; none where it leads out of the folder.
std::optional<std::string> path_from(const fs::path& folder, const fs::path& path) {
  const auto plain = [](const fs::path& each) { return fs::absolute(each).lexically_normal(); };
  const fs::path relative = plain(path).lexically_relative(plain(folder));
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative.generic_string();
}

/// Whether a compiler that is given the source reads a file's text for certain.
enum class Reached { always, maybe };

struct Place {
  const fs::path& file;
  std::size_t line;
  Reached reached;
};

/// A folder of headers.
struct HeaderFolder {
  enum class Kind { own, root, shared };
  Kind kind;
  fs::path path;
  std::string_view prefix;  ///< of the names of its headers
};

/// A file that a source includes.
struct FoundHeader {
  const HeaderFolder* folder;
  fs::path path;
  std::string name;  ///< from the folder
};

/// Collects headers, each once, in the order in which they are first included.
class HeaderCollector {
 public:
  HeaderCollector(const fs::path& source_folder, const IncludeRoots& roots)
      : space_folder_(roots.space_folder) {
    const fs::path own = source_folder.empty() ? fs::path(".") : source_folder;
    folders_.push_back({HeaderFolder::Kind::own, own, ""});
    for (const fs::path& root : roots.folders)
      folders_.push_back({HeaderFolder::Kind::root, root, ""});
    folders_.push_back({HeaderFolder::Kind::shared, own / ".." / "common", "common/"});
  }

  /// Reads a file and collects what it includes. Returns the file's text in which every header has
  /// the name that it is collected by: NVRTC looks up names, not files.
  [[nodiscard]] std::string collect(const fs::path& file, Reached reached) {
    const std::string text = read_source_text(file);
    std::string result;
    std::size_t copied = 0;
    const auto replace = [&](std::size_t begin, std::size_t end, std::string_view by) {
      result.append(text, copied, begin - copied).append(by);
      copied = end;
    };
    for (const Include& include : includes(text)) {
      const Place place{.file = file,
                        .line = include.line,
                        .reached = include.is_conditional ? Reached::maybe : reached};
      if (const auto header = find(include, file.parent_path())) {
        check(*header, place);
        const std::string name = collected_name(*header, place);
        const bool keeps_form =
            header->folder->kind != HeaderFolder::Kind::root && !include.has_parent;
        // A compiler would look for "name" beside the file that includes it.
        if (keeps_form) replace(include.at, include.end, name);
        if (!keeps_form) replace(include.at - 1, include.end + 1, "<" + name + ">");
      } else if (!include.problem.empty()) {
        if (include.word_end == 0 || place.reached == Reached::always) fail(place, include.problem);
        replace(include.word_at, include.word_end, "error refused: not a file of the kernel:");
      } else if (include.form == Include::Form::quoted && place.reached == Reached::always &&
                 !is_standard_header(include.name)) {
        fail_missing(include, place);
      }
    }
    return result.append(text, copied);
  }

  [[nodiscard]] std::vector<Header> take() { return std::move(headers_); }

 private:
  /// What a compiler finds by a name in a file of a folder: as "name", first a file beside it.
  [[nodiscard]] std::optional<FoundHeader> find(const Include& include,
                                                const fs::path& folder) const {
    const bool is_name = include.form != Include::Form::none && include.word_end > 0 &&
                         (include.problem.empty() || include.has_parent);
    const bool is_quoted = include.form == Include::Form::quoted;
    if (!is_name || (!is_quoted && is_standard_header(include.name))) return std::nullopt;
    if (is_quoted) {
      if (auto beside = find(folder / include.name)) return beside;
    }
    const HeaderFolder& own = folders_.front();
    if (is_quoted) {
      if (auto header = find(own.path / include.name)) return header;
    }
    for (const HeaderFolder& each : std::span(folders_).subspan(1)) {
      const fs::path from = each.kind == HeaderFolder::Kind::shared ? each.path / ".." : each.path;
      if (auto header = find(from / include.name)) return header;
    }
    return is_quoted ? std::nullopt : find(own.path / include.name);
  }

  [[nodiscard]] std::optional<FoundHeader> find(const fs::path& path) const {
    std::error_code unreadable;
    for (const HeaderFolder& folder : folders_) {
      const auto name = path_from(folder.path, path);
      // A kernel cannot have a file that is no header in the compiler's messages.
      const bool is_shared = folder.kind == HeaderFolder::Kind::shared;
      if (!name || (is_shared && !name->ends_with(".cuh"))) continue;
      const fs::path normal = path.lexically_normal();
      if (fs::is_regular_file(normal, unreadable)) return FoundHeader{&folder, normal, *name};
    }
    return std::nullopt;
  }

  /// The name by which a header is collected; collects it.
  [[nodiscard]] std::string collected_name(const FoundHeader& header, const Place& place) {
    const auto known = names_.find(header.path);
    if (known != names_.end()) return known->second;
    if (headers_.size() == kMaximumHeaders) {
      fail(place, fmt::format("more than {} headers", kMaximumHeaders));
    }
    const std::string plain = std::string(header.folder->prefix) + header.name;
    std::string name = plain;
    for (int number = 2; is_taken(name, header); ++number)
      name = fmt::format("{}/{}", number, plain);
    names_.emplace(header.path, name);
    const std::size_t index = headers_.size();
    headers_.push_back({.name = name, .text = {}});  // known before its own includes are
    headers_[index].text = collect(header.path, place.reached);
    return name;
  }

  /// Whether another file has the name, or would be hidden by it.
  [[nodiscard]] bool is_taken(const std::string& name, const FoundHeader& header) const {
    const bool hides = header.folder->kind == HeaderFolder::Kind::root && is_standard_header(name);
    return hides || std::ranges::count(headers_, name, &Header::name) > 0;
  }

  /// A link to a file elsewhere, and a file that is no code, would have their text in the
  /// compiler's messages.
  void check(const FoundHeader& header, const Place& place) const {
    const fs::path real = fs::canonical(header.path);
    const auto holds = [&](const HeaderFolder& folder) {
      const bool is_shared = HeaderFolder::Kind::shared == header.folder->kind;
      return (!is_shared || &folder == header.folder) && lies_below(real, folder.path);
    };
    if (std::ranges::none_of(folders_, holds)) {
      fail(place, fmt::format("the header {} is a link to {}, outside of the kernel's folder: a "
                              "kernel may include only files in its own folder or below, and in "
                              "the folders that \"include\" of the space file lists",
                              in_quotes(header.path.string()), in_quotes(real.string())));
    }
    if (header.folder->kind == HeaderFolder::Kind::root && !names_code(real) &&
        !lies_below(real, space_folder_)) {
      fail(place, fmt::format("the header {} is outside of the space file's folder and does not "
                              "have the suffix of a source (.cuh, .h, .hpp, …): move it into that "
                              "folder",
                              in_quotes(real.string())));
    }
  }

  [[noreturn]] void fail_missing(const Include& include, const Place& place) const {
    fail(place, fmt::format("the header {} is missing: there is no file {}; headers are looked up "
                            "beside the file that includes them, in the folder of the kernel's "
                            "source, and in the folders that \"include\" of the space file lists",
                            in_quotes(include.name),
                            in_quotes((folders_.front().path / include.name).string())));
  }

  [[noreturn]] static void fail(const Place& place, const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("{}:{}: {}", place.file.string(), place.line, why));
  }

  fs::path space_folder_;
  std::vector<HeaderFolder> folders_;
  std::map<fs::path, std::string> names_;
  std::vector<Header> headers_;
};

}  // namespace

IncludeRoots include_roots(const fs::path& space_file, const std::vector<std::string>& folders) {
  const auto fail = [&](const std::string& folder, const std::string& why) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: the folder {} of \"include\" {}",
                            printable_name(space_file.string()), in_quotes(folder), why));
  };
  IncludeRoots roots{.space_folder = space_file.parent_path(), .folders = {}};
  for (const std::string& name : folders) {
    if (name.empty() || fs::path(name).is_absolute()) {
      fail(name, "must be a path relative to the space file");
    }
    const fs::path folder = (roots.space_folder / name).lexically_normal();
    std::error_code unreadable;
    if (!fs::is_directory(folder, unreadable)) {
      fail(name, fmt::format("is missing: there is no folder {}", in_quotes(folder.string())));
    }
    if (!lies_below(folder, roots.space_folder)) {
      if (const auto distrusted = distrust(space_file)) {
        fail(name, fmt::format("is outside of the space file's folder, and {}: {}, or move the "
                               "headers into that folder",
                               distrusted->why, distrusted->remedy));
      }
    }
    roots.folders.push_back(folder);
  }
  return roots;
}

KernelSource read_kernel_source(const fs::path& path, const IncludeRoots& roots) {
  KernelSource source;
  source.name = path.filename().string();
  HeaderCollector collector(path.parent_path(), roots);
  source.text = collector.collect(path, Reached::always);
  source.headers = collector.take();
  return source;
}

}  // namespace tuner::source
