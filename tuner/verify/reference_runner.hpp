// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/verify/posed_problem.hpp"

#include <optional>
#include <vector>

namespace tuner {

/// Computes the right results of a problem: by the platform's BLAS or by a kernel of the family,
/// which it compiles and loads once. Or reads them from files.
class ReferenceRunner {
 public:
  /// The backend and the problem must outlive it. Throws Error(failure), with the kernel's name,
  /// when the reference does not compile or load.
  ReferenceRunner(Backend& backend, const PosedProblem& problem);

  /// Runs it on `buffers`, one region for every argument of the family. Throws Error(failure) when
  /// it cannot run, and Error(usage) when a file does not fit.
  void run(const std::vector<Region>& buffers, const InputValues& values);

 private:
  /// A reference kernel, ready to be launched.
  struct Loaded {
    const Kernel* kernel;
    Slots slots;
    LoadedKernel loaded;
    std::vector<Buffer> scratch;
  };
  void load(const Kernel& kernel);
  void run_kernel(const std::vector<Region>& buffers, const InputValues& values);
  void write_files(const NpyReference& reference, const std::vector<Region>& buffers);
  [[noreturn]] void fail(const Failure& failure) const;

  Backend& backend_;
  const PosedProblem& problem_;
  std::optional<Loaded> kernel_;  // none: the reference is the library's, or in files
};

}  // namespace tuner
