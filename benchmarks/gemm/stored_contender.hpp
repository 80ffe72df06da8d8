// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "benchmarks/gemm/gpu.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/family.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::gemm_benchmark {

/// The bests of a family's kernels, as their sources are now, that a database has for one device.
class StoredContenders {
 public:
  /// Begins to compile what the shapes need. The GPU must outlive it. Throws Error as Store and
  /// load_family do.
  StoredContenders(const std::filesystem::path& database, const std::filesystem::path& space,
                   std::span<const SuiteShape> shapes, Gpu& gpu);

  /// Ours and, where it is another and valid at the size, the default configuration of the same
  /// kernel; and why one is missing. The operands must outlive the contenders.
  struct Found {
    std::vector<Contender> contenders;
    std::vector<std::string> notes;
  };
  [[nodiscard]] Found contenders(const Shape& shape, const Operands& operands) const;

 private:
  /// A configuration of a kernel at one size.
  struct Candidate {
    Role role = Role::ours;
    std::string text;  ///< the kernel and the configuration
    const family::Kernel* kernel = nullptr;
    std::vector<family::Geometry> geometries;               ///< of each step
    std::vector<std::vector<family::TakenArgument>> taken;  ///< likewise
    std::vector<std::size_t> scratch_bytes;
    std::vector<family::TensorLayout> tensors;
    std::shared_future<worker::Compiled> compiled;
  };
  struct Prepared {
    space::Size size;
    std::vector<Candidate> candidates;
    std::vector<std::string> notes;
  };

  [[nodiscard]] std::optional<store::StoredBest> fastest(const space::Size& size) const;
  [[nodiscard]] Prepared prepare(const Shape& shape);
  [[nodiscard]] Expected<Contender, Failure> load(const Candidate& candidate,
                                                  const space::Size& size,
                                                  const Operands& operands) const;

  Gpu& gpu_;
  family::Family family_;
  store::Store store_;
  worker::CompilePool pool_;
  std::map<std::string, Prepared> prepared_;  // by display(shape)
};

}  // namespace tuner::gemm_benchmark
