// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>

namespace tuner::backend {

/// A library of the CUDA Toolkit, opened when it is first needed: linking cuBLAS would cost every
/// start of the program 60 ms, and a machine without the toolkit could not start it at all.
/// What is opened stays for the life of the process, as these libraries have exit handlers and
/// threads of their own.
class SharedLibrary {
 public:
  enum class Origin { toolkit, driver };

  /// Opens e.g. "libnvrtc.so.13" from where the dynamic linker looks, from the toolkit this program
  /// was built with, from /usr/local/cuda, or from NVIDIA's Python packages beside the wheel.
  /// Throws Error(no_device) with a remedy, which depends on what the library is part of.
  explicit SharedLibrary(const std::string& file_name, Origin origin = Origin::toolkit);

  /// A library of the toolkit, e.g. "libnvrtc": of the major version that this program was built
  /// with, else of an older one that has the same functions. A newer one is never opened: the
  /// driver may be too old for it. Throws as the constructor.
  [[nodiscard]] static SharedLibrary of_toolkit(const std::string& name);

  /// The address of a function; becomes a pointer to it of whatever type it is stored in.
  class Symbol {
   public:
    explicit Symbol(void* address) : address_(address) {}
    template <class Function>
      requires std::is_function_v<Function>
    operator Function*() const {  // NOLINT(google-explicit-constructor): its only purpose
      return reinterpret_cast<Function*>(address_);
    }

   private:
    void* address_;
  };

  /// Throws Error(no_device) when the library has no function of that name.
  [[nodiscard]] Symbol symbol(const char* name) const;

  /// The file that the library was opened from, by one of its functions; empty when unknown.
  [[nodiscard]] std::filesystem::path path(const char* name) const;

 private:
  SharedLibrary(std::string file_name, Origin origin, void* handle)
      : file_name_(std::move(file_name)), origin_(origin), handle_(handle) {}

  std::string file_name_;
  Origin origin_;
  void* handle_;
};

}  // namespace tuner::backend
