// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/source.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/family/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileLimitBytes = std::size_t{1024} * 1024;
constexpr std::size_t kMaximumHeaders = 64;

/// `#include "name"` and the line it stands on, from 1.
struct Include {
  std::string name;
  std::size_t line = 0;
};

std::string_view trim_left(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// What follows `prefix` and blanks; none when the text begins otherwise.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return trim_left(text.substr(prefix.size()));
}

std::optional<std::string> included_name(std::string_view line) {
  const auto directive = after(trim_left(line), "#");
  const auto operand = directive ? after(*directive, "include") : std::nullopt;
  if (!operand || !operand->starts_with('"')) return std::nullopt;
  const std::size_t end = operand->find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;  // the compiler says it better
  return std::string(operand->substr(1, end - 1));
}

std::vector<Include> local_includes(std::string_view text) {
  std::vector<Include> result;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto name = included_name(text.substr(0, end))) result.push_back({*std::move(name), line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

/// Collects headers, each once, in the order in which they are first included.
class HeaderCollector {
 public:
  explicit HeaderCollector(fs::path folder) : folder_(std::move(folder)) {}

  void collect(const fs::path& file, std::string_view text) {
    for (const Include& include : local_includes(text)) {
      const std::string place = fmt::format("{}:{}", file.string(), include.line);
      check_inside(include.name, place);
      if (known(include.name)) continue;
      if (headers_.size() == kMaximumHeaders) {
        fail(place, fmt::format("more than {} headers", kMaximumHeaders));
      }
      const fs::path path = folder_ / include.name;
      if (!fs::is_regular_file(path)) {
        fail(place, fmt::format("the header {} is missing: there is no file {}; local headers are "
                                "looked up from the folder of the kernel's source",
                                in_quotes(include.name), in_quotes(path.string())));
      }
      headers_.push_back({include.name, read_file(path, kFileLimitBytes)});
      const std::string header_text = headers_.back().text;  // the vector grows below
      collect(path, header_text);
    }
  }

  [[nodiscard]] std::vector<Header> take() { return std::move(headers_); }

 private:
  [[noreturn]] static void fail(const std::string& place, const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", place, why));
  }

  static void check_inside(const std::string& name, const std::string& place) {
    const fs::path path(name);
    const bool leaves = std::find(path.begin(), path.end(), "..") != path.end();
    if (!path.is_absolute() && !leaves) return;
    fail(place, fmt::format("the include {} {}: a kernel may include only files in its own folder "
                            "or below; move the header there",
                            in_quotes(name), leaves ? "contains \"..\"" : "is an absolute path"));
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
  source.text = read_file(path, kFileLimitBytes);
  HeaderCollector collector(path.parent_path());
  collector.collect(path, source.text);
  source.headers = collector.take();
  return source;
}

}  // namespace tuner
