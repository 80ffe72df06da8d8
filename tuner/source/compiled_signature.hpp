// SPDX-License-Identifier: Apache-2.0
// The parameters of kernels as the compiler resolved them: macros, typedefs and templates are
// replaced. A compiler tells them in the names of symbols of the image, tuner::Signature<ENTRY,
// decltype(&KERNEL)>, ENTRY being the place of the kernel among the entries that were compiled.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::source {

/// Precedes a CUDA source whose kernels' signatures are to be in the image. Takes C++14 or later.
inline constexpr std::string_view kSignatureDeclaration =
    "namespace tuner { template <int, class> __device__ char Signature; }\n";

/// The name expression for NVRTC that puts the signature of an entry into the image.
[[nodiscard]] std::string signature_expression(std::size_t place, std::string_view entry);

/// Whether a symbol of an image is there for its name alone.
[[nodiscard]] bool is_signature(std::string_view symbol);

/// The types of the parameters of the entries whose signatures are in an ELF image (a cubin, or a
/// shared object of the cpu backend), by the place of the entry: "float const*", "int".
[[nodiscard]] std::map<std::size_t, std::vector<std::string>> compiled_signatures(
    std::span<const std::byte> image);

}  // namespace tuner::source
