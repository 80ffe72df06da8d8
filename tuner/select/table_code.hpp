// SPDX-License-Identifier: Apache-2.0
// Compiled kernels in a table, beside their sources: what a device of the same architecture loads
// without a compiler.
#pragma once

#include "tuner/core/expected.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::select {

/// What compiled code is of: the hash of the kernel's code, as its record has it, and the key of
/// the compilation, which covers source, headers, entries and options.
struct CodeKey {
  auto operator<=>(const CodeKey&) const = default;

  std::string kernel_hash;
  std::string job_key;
};

struct CompiledKernel {
  bool operator==(const CompiledKernel&) const = default;

  std::string image;
  std::vector<std::string> symbols;  ///< the function of each entry
};

/// What all compiled code of a table was made for and by.
struct CodeOrigin {
  bool operator==(const CodeOrigin&) const = default;

  std::string architecture;  ///< of the device: "sm_90"
  /// Changes with what the compiler is given besides the job. Code by another one is not used.
  std::string recipe;
  std::string compiler;  ///< "NVRTC 13.0"; code by another version is used all the same
};

/// As a table has it. Each kernel has a checksum of its own, which covers what it is bound to.
[[nodiscard]] std::string code_text(const CodeOrigin& origin,
                                    const std::map<CodeKey, CompiledKernel>& kernels);

/// The compiled code of a table, of which nothing is read before it is asked for. Safe for many
/// threads.
class TableCode {
 public:
  /// `section`: a part of `*text`, as code_text wrote it or damaged since.
  TableCode(std::shared_ptr<const std::string> text, std::string_view section)
      : text_(std::move(text)), section_(section) {}

  /// None where it cannot be read: see problem().
  [[nodiscard]] const std::optional<CodeOrigin>& origin() const { return index().origin; }
  /// What is wrong with all of it, or that it is cut off; else empty.
  [[nodiscard]] const std::string& problem() const { return index().problem; }
  /// Why a device uses none of it; empty where it may.
  [[nodiscard]] std::string objection(std::string_view architecture, std::string_view recipe) const;

  /// What there is code of, damaged or not.
  [[nodiscard]] std::vector<CodeKey> keys() const;
  /// None where there is none of this kernel. An error says what is damaged.
  [[nodiscard]] Expected<std::optional<CompiledKernel>, std::string> find(const CodeKey& key) const;

 private:
  struct Index {
    std::optional<CodeOrigin> origin = {};
    std::string problem = {};
    std::map<CodeKey, std::string_view> lines = {};
  };
  [[nodiscard]] const Index& index() const;
  [[nodiscard]] static Index read(std::string_view section);

  std::shared_ptr<const std::string> text_;
  std::string_view section_;
  mutable std::once_flag once_;
  mutable Index index_;
};

}  // namespace tuner::select
