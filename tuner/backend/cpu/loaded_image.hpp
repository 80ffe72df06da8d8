// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cpu/kernel_abi.hpp"
#include "tuner/backend/cpu/shared_variables.hpp"
#include "tuner/backend/executor.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tuner::backend {

/// A compiled kernel in this process, unloaded when the owner goes.
class LoadedImage {
 public:
  /// `scratch` is a path that no other image loaded at present had; the file is gone on return.
  [[nodiscard]] static Expected<LoadedImage, Failure> load(const Binary& binary,
                                                           const std::filesystem::path& scratch);

  /// The kernel with interleaved threads of a binary that has one; none where it cannot be loaded.
  /// `scratch` as for load().
  [[nodiscard]] static std::optional<LoadedImage> load_interleaved(
      const Binary& binary, const std::filesystem::path& scratch);

  /// Copies bytes into a __constant__ variable; launch_error when the image has none of that name
  /// or one of fewer bytes.
  [[nodiscard]] Expected<void, Failure> write(const SymbolValue& symbol);

  /// Whether a variable of the kernel holds something else than when the image was loaded.
  [[nodiscard]] bool has_changed_variables() const;
  /// Gives all of them what they held when the image was loaded.
  void restore_variables() const;

  /// Those of the binary's symbols, at least one; as long as the image is loaded.
  [[nodiscard]] std::span<const KernelImage* const> functions() const { return functions_; }
  /// What the `__shared__` variables of each function take at the least.
  [[nodiscard]] std::size_t static_shared_bytes() const;
  /// Where the variables lie that all threads share.
  [[nodiscard]] std::vector<std::span<std::byte>> variables() const;
  /// As long as the image is loaded.
  [[nodiscard]] StaticShared static_shared() const {
    return {.context_place = functions_.front()->context_place, .variables = shared_};
  }

 private:
  struct Close {
    void operator()(void* library) const;
  };
  /// A variable of the kernel in this process, and what it held when the image was loaded.
  struct Variable {
    std::byte* place;
    std::vector<std::byte> loaded;
  };
  [[nodiscard]] std::vector<Variable> loaded_variables(std::span<const std::byte> image) const;

  std::unique_ptr<void, Close> library_;
  std::vector<Variable> variables_;
  std::vector<const KernelImage*> functions_;
  std::vector<SharedVariable> shared_;
};

/// Bytes of each parameter.
[[nodiscard]] inline std::span<const unsigned> argument_sizes(const KernelImage& function) {
  return {function.argument_sizes, function.argument_count};
}

/// The arguments of a launch as a kernel's entry takes them: the addresses of their values.
class ArgumentList {
 public:
  void push(const family::Scalar& value);
  void push(void* pointer);
  void push(const ArrayValue& array);
  void push(const TensorMapValue& map);

  /// Valid until the next push.
  [[nodiscard]] void* const* addresses();
  [[nodiscard]] std::span<const std::size_t> sizes_bytes() const { return sizes_; }

 private:
  void push(const void* value, std::size_t size_bytes);

  std::vector<std::uint64_t> words_;  // of the values, each of which begins a word
  std::vector<std::size_t> sizes_;    // bytes
  std::vector<void*> addresses_;
};

}  // namespace tuner::backend
