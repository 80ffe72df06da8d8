// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/interleaved_image.hpp"

#include <cstring>

namespace tuner::backend {
namespace {

/// The last bytes of an image that has such a part.
struct Trailer {
  std::uint64_t size_bytes = 0;
  Rounding rounding = Rounding::same;
  std::uint64_t mark = 0x696e7465726c6561;  // "interlea"
};

}  // namespace

void append_interleaved(std::vector<std::byte>& image, std::string_view interleaved,
                        Rounding rounding) {
  const Trailer trailer{.size_bytes = interleaved.size(), .rounding = rounding};
  const auto part = std::as_bytes(std::span(interleaved));
  const auto end = std::as_bytes(std::span(&trailer, 1));
  image.insert(image.end(), part.begin(), part.end());
  image.insert(image.end(), end.begin(), end.end());
}

InterleavedPart interleaved_part(std::span<const std::byte> image) {
  Trailer trailer;
  if (image.size() < sizeof trailer) return {};
  const std::span<const std::byte> rest = image.first(image.size() - sizeof trailer);
  const std::uint64_t mark = trailer.mark;
  std::memcpy(&trailer, image.data() + rest.size(), sizeof trailer);
  if (trailer.mark != mark || trailer.size_bytes > rest.size()) return {};
  return {.image = rest.last(static_cast<std::size_t>(trailer.size_bytes)),
          .rounding = trailer.rounding};
}

}  // namespace tuner::backend
