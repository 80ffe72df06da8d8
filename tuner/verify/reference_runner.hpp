// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/verify/problem_data.hpp"
#include "tuner/verify/reference_coverage.hpp"
#include "tuner/verify/stored_results.hpp"

#include <optional>
#include <vector>

namespace tuner::verify {

/// Computes the right results of a problem: by the platform's BLAS or by a kernel of the family,
/// which it compiles and loads once. Or reads them from files, or from results that another program
/// computed.
class ReferenceRunner {
 public:
  /// As the reference is written, or with its floats as doubles, which not every kernel can.
  enum class Arithmetic { as_written, in_double };

  /// The backend, the problem and the results, which only a ResultsReference needs, must outlive
  /// it. Throws Error(failure), with the kernel's name, when the reference does not compile or load
  /// as written.
  ReferenceRunner(backend::Backend& backend, CheckKernels& kernels, const ProblemData& problem,
                  StoredResults* results, Arithmetic arithmetic = Arithmetic::as_written);
  /// As written, with probes for `coverage`, which must outlive it.
  ReferenceRunner(backend::Backend& backend, CheckKernels& kernels, const ProblemData& problem,
                  ReferenceCoverage& coverage);

  /// Whether it can compute in this arithmetic, and with probes; as written it can.
  [[nodiscard]] bool can_run() const;

  /// Runs it on `buffers`, one region for every argument of the family. Throws Error(failure) when
  /// it cannot run, Error(usage) when a file does not fit, and as StoredResults::find.
  void run(const std::vector<backend::Region>& buffers, const InputValues& values);

  /// Spreads that are stored beside the results of the last run on inputs as they are: bytes by the
  /// output's name; null where there are none.
  [[nodiscard]] const std::vector<NamedArray>* stored_spreads() const;
  /// Stores the spreads of these results, unless the reference is none of stored results.
  void store_spreads(std::vector<NamedArray> spreads);

 private:
  /// A reference kernel, ready to be launched.
  struct Loaded {
    const family::Kernel* kernel;
    space::ExpressionValues values;
    backend::LoadedKernel loaded;
    std::vector<backend::Buffer> scratch;
  };
  void load(const family::Kernel& kernel);
  [[nodiscard]] Expected<backend::KernelId, Failure> load(const family::CompileJob& job);
  /// Tries with fewer probes where the compiler does not take all.
  [[nodiscard]] Expected<backend::KernelId, Failure> load_probed(const family::CompileJob& job);
  /// Whether it is no other form of the reference, which may be missing.
  [[nodiscard]] bool must_run() const {
    return arithmetic_ == Arithmetic::as_written && coverage_ == nullptr;
  }
  /// Runs it on data of the types that it computes with.
  void run_as_it_is(const std::vector<backend::Region>& buffers, const InputValues& values);
  void finish_product(const backend::LibraryCall& call, const std::vector<backend::Region>& buffers,
                      const InputValues& values);
  void run_kernel(const std::vector<backend::Region>& buffers, const InputValues& values);
  void run_probed(backend::Launch launch);
  void write_files(const family::NpyReference& reference,
                   const std::vector<backend::Region>& buffers);
  void write_results(const std::vector<backend::Region>& buffers, const InputValues& values);
  /// What a program computes results from, and what it computes.
  [[nodiscard]] Safetensors inputs(const std::vector<backend::Region>& buffers,
                                   const InputValues& values) const;
  [[nodiscard]] std::vector<NamedArray> outputs() const;
  [[noreturn]] void fail(const Failure& failure) const;

  /// The type in which an argument's data are passed to it.
  [[nodiscard]] family::ElementType passed_type(const CheckedData& data) const;

  backend::Backend& backend_;
  CheckKernels& kernels_;
  const ProblemData& problem_;
  Arithmetic arithmetic_;
  ReferenceCoverage* coverage_ = nullptr;  // of the form with probes
  std::optional<Loaded> kernel_;           // none: the reference is the library's, or in files
  StoredResults* results_ = nullptr;
  StoredResults::Entry entry_;  // of the last run on inputs as they are
};

}  // namespace tuner::verify
