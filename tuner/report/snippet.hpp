// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/candidate.hpp"
#include "tuner/store/records.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::report {

/// A stored kernel, read once for all its snippets.
class SnippetKernel {
 public:
  /// Throws Error(usage) when the stored kernel can no longer be understood.
  explicit SnippetKernel(const store::KernelRecord& record);

  [[nodiscard]] const family::Family& family() const { return family_; }
  [[nodiscard]] const family::Kernel& kernel() const { return family_.kernel(name_); }
  /// The file that snippets include.
  [[nodiscard]] const std::string& source_name() const { return source_name_; }
  /// Places among arguments and scratch buffers that a function takes as pointers to other types
  /// than those that are built in.
  [[nodiscard]] const std::set<std::size_t>& other_types() const { return other_types_; }

 private:
  std::string name_, source_name_;
  family::Family family_;
  std::set<std::size_t> other_types_;
};

/// What to paste to use a configuration.
class Snippet {
 public:
  /// Throws Error(usage) when an expression of the kernel has no value at the size.
  Snippet(const SnippetKernel& stored, const space::DeviceInfo& device,
          std::string_view config_json, const std::vector<std::int64_t>& size);
  /// Throws Error(usage) as SnippetKernel, too.
  Snippet(const store::KernelRecord& record, const space::DeviceInfo& device,
          std::string_view config_json, const std::vector<std::int64_t>& size)
      : Snippet(SnippetKernel(record), device, config_json, size) {}

  /// Whether the kernel is CUDA's, not for processors alone.
  [[nodiscard]] bool is_cuda() const { return is_cuda_; }
  /// Of a kernel of CUDA's a file that nvcc compiles: it includes the kernel's source and defines a
  /// function that launches the configuration at this size.
  [[nodiscard]] std::string cpp() const;
  /// "-DTILE_M=64 -DTILE_N=128 … --use_fast_math": every parameter as a compiler definition, then
  /// the options.
  [[nodiscard]] std::string compiler_arguments() const;

 private:
  struct Step {
    std::string entry;
    family::Geometry geometry;
    std::vector<std::string> arguments;  // in the order of the function's parameters
  };
  /// A name of the space file as the function has it: another one where it would hide what the
  /// function itself names.
  [[nodiscard]] std::string local(const std::string& name) const;
  void add_arguments(const family::Family& family, const space::ExpressionValues& values);
  /// A pointer argument of a launch.
  [[nodiscard]] std::string passed(const std::string& pointer, family::ElementType type);
  void add_scratch(const family::Kernel& kernel, const space::ExpressionValues& values);
  void add_tensor_maps(const family::Kernel& kernel, const space::ExpressionValues& values);
  void add_steps(const family::Family& family, const family::Kernel& kernel,
                 const family::CompileJob& job, const space::ExpressionValues& values);
  [[nodiscard]] std::string heading() const;
  [[nodiscard]] std::string body() const;
  [[nodiscard]] std::string launch(std::size_t step) const;

  bool is_cuda_ = true;
  std::set<std::string> taken_names_;  // of kernels, symbols, and the function's own variables
  std::set<std::string> given_names_;  // of arguments, scratch buffers and tensor maps
  std::vector<std::string> symbols_;   // statements that fill variables of the source
  bool has_arrays_ = false;            // by value
  bool has_other_types_ = false;       // in memory
  std::set<std::size_t> other_types_;  // places among the arguments
  bool has_shared_headers_ = false;    // in the folder common beside the source's
  std::string kernel_;
  std::string source_name_;
  std::string subject_;                  // size and device, for people
  std::vector<std::string> parameters_;  // of the function: "const float* A", "const int (&B)[9]"
  /// What the size fixes: "M" and a statement that defines it.
  std::vector<std::pair<std::string, std::string>> constants_;
  std::vector<std::string> zeroed_;       // outputs that the caller zeroes before each call
  std::vector<std::string> scratch_;      // "partials (1024 float)"
  std::vector<std::string> tensor_maps_;  // statements that make them
  std::vector<std::string> arguments_;    // by their places
  std::vector<std::string> passed_;       // the same, as a launch passes them
  std::vector<Step> steps_;
  std::vector<std::string> options_;  // of the compilation, without definitions
  std::vector<std::pair<std::string, std::string>> macros_;  // that the source takes, with values
  std::string type_headers_;                                 // #include lines before the source
  std::vector<std::string> definitions_;                     // -DNAME=value, every parameter
};

}  // namespace tuner::report
