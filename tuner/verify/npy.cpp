// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/npy.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/family/data_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <system_error>

namespace tuner::verify {
namespace {

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

/// The first piece of a file, with which its header begins.
std::string first_bytes(const std::filesystem::path& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  std::string begin;
  read_pieces(path, [&](std::string_view piece) {
    begin = piece.substr(0, kMostBytes);
    return false;
  });
  return begin;
}

/// NumPy's type of the elements; of a type that it lacks that of their bits.
std::string_view numpy_type(family::ElementType type) {
  const std::string_view own = family::row(type).numpy;
  if (!own.empty()) return own;
  return family::bits(type) == 16 ? "<u2" : "|u1";
}

}  // namespace

NpyFile::NpyFile(const family::Family& family, std::string_view file, std::string_view argument,
                 family::ElementType type, std::int64_t count, const space::Size& size)
    : path_(family::npy_file(family.path, file)), size_bytes_(family::bytes_of(type, count)) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::usage, fmt::format("{}: argument {}: the file {} {}", family.path,
                                              argument, path_.string(), why));
  };
  if (!std::filesystem::exists(path_)) fail("is not there: save the array by numpy.save");
  const std::string begin = first_bytes(path_);
  const std::string_view numpy = numpy_type(type);
  const NpyHeader header = header_of(begin);
  if (header.text.empty()) fail("is not a NumPy file (.npy)");
  if (header.text.find(fmt::format("'descr': '{}'", numpy)) == std::string_view::npos) {
    fail(fmt::format("does not hold '{}', which NumPy calls {}: convert it with .astype('{}')",
                     family::name(type), numpy, numpy));
  }
  if (header.text.find("'fortran_order': False") == std::string_view::npos) {
    fail("is in Fortran order: save numpy.ascontiguousarray(…)");
  }
  begin_ = header.end;
  std::error_code unknown;
  const std::uintmax_t file_bytes = std::filesystem::file_size(path_, unknown);
  const std::uintmax_t held_bytes = unknown ? 0 : file_bytes - header.end;
  if (held_bytes == size_bytes_) return;
  fail(fmt::format(
      "holds {} elements, but at the size {} the argument has {}: tune and check only "
      "the size that it is for (\"problem\": \"sizes\"; \"check\": \"sizes\"; "
      "\"check_sizes\"), or take another \"fill\"",
      family::elements_in(type, held_bytes), space::display(size, family.problem.dims), count));
}

void NpyFile::copy_to(backend::Backend& backend, backend::Region to) const {
  std::size_t skipped = 0, copied = 0;
  read_pieces(path_, [&](std::string_view piece) {
    const std::size_t skip = std::min(begin_ - skipped, piece.size());
    skipped += skip;
    const auto bytes = std::as_bytes(std::span(piece.substr(skip)));
    const auto fitting = bytes.first(std::min(bytes.size(), size_bytes_ - copied));
    if (!fitting.empty()) backend.write({to.buffer, to.offset_bytes + copied}, fitting);
    copied += bytes.size();
    return true;
  });
  if (copied == size_bytes_) return;
  throw Error(ErrorCode::usage,
              fmt::format("{}: was changed while it was read: run this again", path_.string()));
}

}  // namespace tuner::verify
