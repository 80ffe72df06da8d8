// SPDX-License-Identifier: Apache-2.0
#include "tuner/capture/capture_folder.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tuner::capture {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw Error(ErrorCode::failure, fmt::format("{}: cannot be written: {}", path.string(), why));
}

void write_all(int file, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const std::string why = std::strerror(errno);
      ::close(file);
      fail(path, why);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

/// The header of numpy.lib.format, version 1.0, for one dimension.
std::string npy_header(ElementType type, std::size_t count) {
  constexpr std::size_t kAlignment = 64, kPrefix = 10;
  const std::string_view own = row(type).numpy;
  const std::string_view stored = !own.empty() ? own : bits(type) == 16 ? "<u2" : "|u1";
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", stored, count);
  text.append(kAlignment - 1 - (kPrefix + text.size()) % kAlignment, ' ');
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  std::string header = "\x93NUMPY";
  header += {'\x01', '\x00', static_cast<char>(length & 0xFFU), static_cast<char>(length >> 8U)};
  return header + text;
}

std::uint64_t bits_at(std::span<const std::byte> elements, std::size_t size, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, elements.data() + i * size, size);
  return bits;
}

/// How far a result of the type may be from the captured one, beside its magnitude: other orders of
/// a sum, and of narrow types two roundings.
double relative_tolerance(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return 1e-12;
    case ElementType::bf16:
      return 1.6e-2;
    case ElementType::f16:
      return 2e-3;
    case ElementType::e4m3:
      return 0.13;
    case ElementType::e5m2:
      return 0.26;
    default:
      return 1e-5;
  }
}

/// JSON for people: what fits on a line stands on one.
std::string json_lines(const Json& value, std::size_t indent) {
  constexpr std::size_t kLine = 110;
  std::string line = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!value.is_structured() || (indent > 0 && indent + line.size() <= kLine)) return line;
  std::vector<std::string> parts;
  for (const auto& [key, part] : value.items()) {
    parts.push_back(fmt::format("{}{}{}", std::string(indent + 2, ' '),
                                value.is_object() ? Json(key).dump() + ": " : "",
                                json_lines(part, indent + 2)));
  }
  const auto [open, close] = value.is_object() ? std::pair('{', '}') : std::pair('[', ']');
  return fmt::format("{}\n{}\n{}{}", open, fmt::join(parts, ",\n"), std::string(indent, ' '),
                     close);
}

}  // namespace

void require_within(std::uint64_t bytes, std::uint64_t limit_bytes, std::string_view kernel) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  if (bytes <= limit_bytes) return;
  throw Error(ErrorCode::usage,
              fmt::format("{}: its buffers have {} MiB, captured are {} MiB at most: allow more by "
                          "TUNER_CAPTURE_LIMIT={} (MiB), or capture a smaller launch",
                          kernel, bytes / kMiB + 1, limit_bytes / kMiB, bytes / kMiB + 1));
}

CaptureFolder::CaptureFolder(fs::path path)
    : path_(std::move(path)), part_(fmt::format("{}.{}", path_.string(), random_word())) {
  std::error_code unknown;
  if (fs::symlink_status(path_, unknown).type() != fs::file_type::not_found) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: exists already: name another folder, or remove it", path_.string()));
  }
  if (const std::error_code error = make_private_directories(part_)) fail(part_, error.message());
}

CaptureFolder::~CaptureFolder() {
  std::error_code ignored;
  fs::remove_all(part_, ignored);
}

void CaptureFolder::write(const fs::path& name, std::string_view header,
                          std::span<const std::byte> content) const {
  const fs::path path = part_ / name;
  if (const auto error = make_private_directories(path.parent_path())) fail(path, error.message());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                          S_IRUSR | S_IWUSR);
  if (file < 0) fail(path, std::strerror(errno));
  write_all(file, std::as_bytes(std::span(header)), path);
  write_all(file, content, path);
  if (::close(file) != 0) fail(path, std::strerror(errno));
}

std::string CaptureFolder::add_source(std::string_view kernel, const source::KernelSource& source) {
  const auto inside = [&](const std::string& name) {
    const fs::path path = fs::path(name).lexically_normal();
    if (path.is_absolute() || path.empty() || *path.begin() == "..") {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: includes {}, outside of the source's folder, which a capture "
                              "cannot hold: tune it by its own space file",
                              kernel, name));
    }
    return fs::path(kernel) / path;
  };
  const fs::path place = fs::path(kernel) / fs::path(source.name).filename();
  write(place, source.text, {});
  for (const source::Header& header : source.headers) write(inside(header.name), header.text, {});
  return place.generic_string();
}

std::string CaptureFolder::add_array(std::string_view name, ElementType type,
                                     std::span<const std::byte> elements) {
  const std::string file = fmt::format("{}.npy", name);
  write(file, npy_header(type, elements_in(type, elements.size())), elements);
  return file;
}

fs::path CaptureFolder::finish(const Json& space) {
  write("space.json", json_lines(space, 0) + "\n", {});
  std::error_code error;
  fs::rename(part_, path_, error);
  if (error) fail(path_, error.message());
  return path_ / "space.json";
}

Json tolerance_of(ElementType type, std::span<const std::byte> elements) {
  if (!is_floating(type)) return {};
  const std::size_t size = element_bytes(type);
  double sum = 0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < elements.size() / size; ++i) {
    const double number = number_of(type, bits_at(elements, size, i));
    if (!std::isfinite(number)) continue;
    sum += number * number;
    ++finite;
  }
  const double typical = finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
  const double relative = relative_tolerance(type);
  Json tolerance = {{"relative", relative}};
  if (std::isfinite(typical) && typical > 0) tolerance["absolute"] = relative * typical;
  return tolerance;
}

}  // namespace tuner::capture
