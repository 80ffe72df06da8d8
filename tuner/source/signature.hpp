// SPDX-License-Identifier: Apache-2.0
// What the tokens of a source say of its kernels' signatures, without compiling it.
#pragma once

#include "tuner/source/token.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::source {

using Tokens = std::span<const Token>;

inline constexpr int kMostThreads = 1024;

/// A parameter of the kernel's template or of the kernel.
struct Declared {
  std::vector<std::string> type;  // its words
  std::string name;
  bool is_const = false;
  int pointers = 0;
  bool to_arrays = false;  // float (*name)[64]
};

struct Signature {
  std::string name;
  std::string qualifier;  // "detail::fast::", the named namespaces around it
  std::vector<Declared> of_template;
  std::vector<Declared> parameters;
  int most_threads = kMostThreads;  // __launch_bounds__
  std::string bound = {};           // the one word in its place: a parameter or a macro
  std::size_t grid_axes = 1;        // of blockIdx that the body reads: x, up to y, up to z
  /// The words of the elements of extern __shared__ memory in the body; empty: it has none.
  std::vector<std::string> dynamic_shared;
};

/// Where a kernel is declared.
struct KernelPlace {
  std::size_t global = 0;      ///< the token __global__
  std::size_t parameters = 0;  ///< the parenthesis that opens them
};

/// Finds the kernels in time that does not grow with the square of the text's length.
class DeclaredKernels {
 public:
  explicit DeclaredKernels(Tokens tokens);

  /// In the order of the text, each once.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// All declarations of a name that is known, in the order of the text.
  [[nodiscard]] const std::vector<KernelPlace>& places(const std::string& name) const {
    return places_.at(name);
  }

 private:
  void find(std::size_t global);

  Tokens tokens_;
  std::vector<std::size_t> behind_;  // the partner of a parenthesis; 0 where it has none
  std::vector<std::string> names_;
  std::map<std::string, std::vector<KernelPlace>> places_;
};

[[nodiscard]] bool has_text(const Token& token, std::string_view text);
/// Whether a character may be in an identifier.
[[nodiscard]] bool is_in_word(char c);
/// The function that an entry names, without namespaces and template arguments; empty for other
/// entries.
[[nodiscard]] std::string entry_function(std::string_view entry);
/// A whole number that is all of the text.
[[nodiscard]] std::optional<int> number(std::string_view text);
/// The tokens of each parameter of a kernel, without default values; none for (void).
[[nodiscard]] std::vector<Tokens> kernel_parameters(Tokens tokens, const KernelPlace& place);
[[nodiscard]] Signature signature_at(Tokens tokens, const KernelPlace& place);

}  // namespace tuner::source
