// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/npy.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/family/data_files.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <span>
#include <string>

namespace tuner::verify {
namespace {

/// Of a file that holds more elements than it should, as a message may say.
constexpr std::size_t kMostBytesBeyond = std::size_t{64} << 20;
constexpr std::string_view kMagic = "\x93NUMPY";

/// The header's text, and where the elements begin; an empty text where it is none.
struct NpyHeader {
  std::string_view text;
  std::size_t end = 0;
};

NpyHeader header_of(std::string_view file) {
  constexpr std::size_t kShortPrefix = 10, kLongPrefix = 12;
  if (!file.starts_with(kMagic) || file.size() < kLongPrefix) return {};
  const bool is_short = file[kMagic.size()] == 1;
  const std::size_t prefix = is_short ? kShortPrefix : kLongPrefix;
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + kMagic.size() + 2, is_short ? 2 : 4);
  if (file.size() < prefix + length) return {};
  return {.text = file.substr(prefix, length), .end = prefix + length};
}

/// NumPy's type of the elements; of a type that it lacks that of their bits.
std::string_view numpy_type(family::ElementType type) {
  const std::string_view own = family::row(type).numpy;
  if (!own.empty()) return own;
  return family::size_bytes(type) == 2 ? "<u2" : "|u1";
}

}  // namespace

std::vector<std::byte> read_npy(const family::Family& family, std::string_view file,
                                std::string_view argument, family::ElementType type,
                                std::int64_t count, const space::Size& size) {
  const std::filesystem::path path = family::npy_file(family.path, file);
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("{}: argument {}: the file {} {}", family.path,
                                              argument, path.string(), why));
  };
  if (!std::filesystem::exists(path)) fail("is not there: save the array by numpy.save");
  const std::size_t wanted = static_cast<std::size_t>(count) * family::size_bytes(type);
  const auto fail_count = [&](std::size_t held) {
    fail(fmt::format(
        "holds {} elements, but at the size {} the argument has {}: tune and check only "
        "the size that it is for (\"problem\": \"sizes\"; \"check\": \"sizes\"; "
        "\"check_sizes\"), or take another \"fill\"",
        held, space::display(size, family.problem.dims), count));
  };
  std::error_code unknown;
  const std::uintmax_t file_bytes = std::filesystem::file_size(path, unknown);
  if (!unknown && file_bytes > wanted + kMostBytesBeyond) {
    fail_count(file_bytes / family::size_bytes(type));  // the header is no share of so many
  }
  const std::string content = read_file(path, wanted + kMostBytesBeyond);
  const std::string_view numpy = numpy_type(type);
  const NpyHeader header = header_of(content);
  if (header.text.empty()) fail("is not a NumPy file (.npy)");
  if (header.text.find(fmt::format("'descr': '{}'", numpy)) == std::string_view::npos) {
    fail(fmt::format("does not hold '{}', which NumPy calls {}: convert it with .astype('{}')",
                     family::name(type), numpy, numpy));
  }
  if (header.text.find("'fortran_order': False") == std::string_view::npos) {
    fail("is in Fortran order: save numpy.ascontiguousarray(…)");
  }
  const auto bytes = std::as_bytes(std::span(content)).subspan(header.end);
  if (bytes.size() != wanted) fail_count(bytes.size() / family::size_bytes(type));
  return {bytes.begin(), bytes.end()};
}

}  // namespace tuner::verify
