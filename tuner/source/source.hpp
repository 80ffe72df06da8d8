// SPDX-License-Identifier: Apache-2.0
// The module reads kernels as text: which files a source includes, what its tokens say, which code
// its kernels need, what identifies it. Nothing is compiled here; space files are unknown.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tuner::source {

/// A header of a kernel, by the name that its texts include it by.
struct Header {
  std::string name;
  std::string text;
};

/// A source as a compiler gets it.
struct KernelSource {
  std::string name;  ///< file name, for messages of the compiler
  std::string text;
  std::vector<Header> headers;
};

/// Whether the source's text, or that of one of its headers, is such.
template <class Predicate>
[[nodiscard]] bool any_text(const KernelSource& source, const Predicate& is_such) {
  return is_such(source.text) || std::ranges::any_of(source.headers, is_such, &Header::text);
}

}  // namespace tuner::source
