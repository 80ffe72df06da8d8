// SPDX-License-Identifier: Apache-2.0
// A family of matrix products with kernels of which one needs scratch memory and one
// a tensor map, and a database
// of what was tuned of it.
#pragma once

#include "tests/support/lone_final.hpp"
#include "tuner/core/file.hpp"
#include "tuner/select/stored_family.hpp"
#include "tuner/store/store.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tuner::dispatch {

inline constexpr const char* kProductSpace = R"json({
  "format": "space/1", "family": "product",
  "problem": {
    "dims": ["M", "N", "K", {"name": "ALIGN", "values": [1, 2, 4], "default": 4}],
    "flops": "2*M*N*K", "bytes": "4*(M*K + K*N + M*N)" },
  "arguments": [
    {"name": "M", "type": "int", "value": "M"},
    {"name": "N", "type": "int", "value": "N"},
    {"name": "K", "type": "int", "value": "K"},
    {"name": "alpha", "type": "float", "value": 1},
    {"name": "A", "type": "float*", "count": "M*K", "offset": "ALIGN % 4"},
    {"name": "B", "type": "float*", "count": "K*N", "offset": "ALIGN % 4"},
    {"name": "beta", "type": "float", "value": 0},
    {"name": "C", "type": "float*", "count": "M*N", "offset": "ALIGN % 4", "role": "output"} ],
  "check": {
    "reference": {"op": "gemm", "m": "M", "n": "N", "k": "K", "a": "A", "b": "B", "c": "C",
                  "alpha": "alpha", "beta": "beta"},
    "accumulates": "K", "sizes": [[1, 1, 1]] },
  "kernels": {
    "rows": {
      "source": "product.cu", "entry": "rows<${TILE},${VEC}>",
      "parameters": { "TILE": {"values": [1, 2, 4, 8], "default": 1} },
      "derived": { "VEC": "ALIGN" },
      "constraints": [ {"expr": "M % TILE == 0", "why": "whole tiles"} ],
      "launch": {"grid": ["M//TILE"], "block": [1]} },
    "split": {
      "source": "product.cu", "entry": "split<${PARTS}>",
      "parameters": { "PARTS": {"values": [1, 2, 4], "default": 2} },
      "launch": {"grid": [1], "block": [1]},
      "scratch": [ {"name": "partials", "type": "float*",
                    "count": "PARTS > 1 ? PARTS*M*N : 0"} ] },
    "boxes": {
      "source": "product.cu", "entry": "boxes<${BOX}>", "backends": ["cuda"],
      "parameters": { "BOX": {"values": [4, 8], "default": 4} },
      "launch": {"grid": [1], "block": [1]},
      "tensor_maps": [ {"name": "map_b", "buffer": "B", "extents": ["N", "K"], "strides": ["N"],
                        "box": ["BOX", "BOX"]} ] } } })json";

inline constexpr const char* kProductSource = R"cuda(
__device__ float dot(int n, int first, int last, int N, const float* row, const float* B) {
  float sum = 0;
  for (int k = first; k < last; ++k) sum += row[k] * B[k * N + n];
  return sum;
}
template <int kTile, int kVector>
__global__ void rows(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                     float* C) {
  for (int m = blockIdx.x * kTile; m < (blockIdx.x + 1) * kTile; ++m) {
    for (int n = 0; n < N; ++n) {
      C[m * N + n] = alpha * dot(n, 0, K, N, A + m * K, B) + beta * C[m * N + n];
    }
  }
}
template <int kParts>
__global__ void split(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                      float* C, float* partials) {
  for (int part = 0; part < kParts; ++part) {
    for (int i = 0; i < M * N; ++i) {
      partials[part * M * N + i] = dot(i % N, K * part / kParts, K * (part + 1) / kParts, N,
                                       A + i / N * K, B);
    }
  }
  for (int i = 0; i < M * N; ++i) {
    float sum = 0;
    for (int part = 0; part < kParts; ++part) sum += partials[part * M * N + i];
    C[i] = alpha * sum + beta * C[i];
  }
}
)cuda";

/// What was found best at one size.
struct Tuned {
  std::string size;
  std::string kernel = "rows";
  std::string config = R"({"TILE":2})";
  double median_ns = 1000;
  std::optional<double> ratio_to_library = {};  ///< above 1: faster than the library
  std::string family = "product";
  std::string space = kProductSpace;
  std::string source = kProductSource;
  std::string hash = {};              ///< empty: that of its code
  double ratio_to_library_tuned = 0;  ///< by the algorithm "fast"; 0: none is known
};

/// A database in a directory of its own, for one device.
class TunedDatabase {
 public:
  TunedDatabase(space::DeviceInfo device, space::EnvironmentInfo environment)
      : device_(std::move(device)), environment_(std::move(environment)) {}

  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "tune.db"; }

  void add(const Tuned& tuned) { add_all({tuned}); }
  /// Of one kernel, in one run.
  void add_all(const std::vector<Tuned>& all) {
    store::Store store(path(), store::Store::Mode::read_write);
    store::Subject subject{
        .device = device_, .environment = environment_, .kernel = record(all.front())};
    store::RunRecord run;
    run.uuid = std::to_string(++runs_);
    for (const Tuned& tuned : all) run.problems.push_back(tuned.size);
    run.id = store.begin_run(subject, run);
    for (const Tuned& tuned : all) store::record_lone_final(store, run.id, best_of(tuned));
    run.state = store::RunState::complete;
    store.end_run(run.id, run);
  }

  /// A portfolio of configurations that were added.
  void add_portfolio(const std::vector<Tuned>& members, std::optional<double> library_ns = {}) {
    store::PortfolioRecord portfolio{
        .family = "product", .members = {}, .sizes = {}, .environment = environment_};
    for (const Tuned& tuned : members) {
      portfolio.sizes.push_back(
          {.problem = tuned.size, .member_ns = tuned.median_ns, .library_ns = library_ns});
      portfolio.members.push_back(
          {.kernel = tuned.kernel, .kernel_hash = record(tuned).hash, .config_json = tuned.config});
    }
    store::Store(path(), store::Store::Mode::read_write).record_portfolio(device_, portfolio);
  }

  /// As lines of results bring it: the kernel's name and hash, and nothing to compile.
  void import_without_sources(const Tuned& tuned, const std::string& origin) {
    store::Subject subject{.device = device_, .environment = environment_, .kernel = {}};
    subject.kernel.family = tuned.family;
    subject.kernel.kernel = tuned.kernel;
    subject.kernel.hash = "hash of theirs";
    store::StoredBest stored{.subject = std::make_shared<const store::Subject>(subject),
                             .best = best_of(tuned)};
    stored.best.run_uuid = origin;
    stored.best.recorded_at = "2026-01-01T00:00:00Z";
    store::Store(path(), store::Store::Mode::read_write).import_bests(std::vector{stored}, origin);
  }

  space::DeviceInfo& device() { return device_; }
  space::EnvironmentInfo& environment() { return environment_; }

 private:
  static store::BestRecord best_of(const Tuned& tuned) {
    store::BestRecord best;
    best.problem = tuned.size;
    best.config_json = tuned.config;
    best.time = {.median_ns = tuned.median_ns,
                 .q1_ns = tuned.median_ns,
                 .q3_ns = tuned.median_ns,
                 .min_ns = tuned.median_ns,
                 .samples = 30};
    best.ratio_to_library = tuned.ratio_to_library;
    if (tuned.ratio_to_library_tuned > 0) {
      best.library_algorithm = "fast";
      best.ratio_to_library_tuned = tuned.ratio_to_library_tuned;
    }
    if (tuned.ratio_to_library) best.library_ns = tuned.median_ns * *tuned.ratio_to_library;
    best.flops = 1e6;
    best.bytes = 1e6;
    return best;
  }
  static store::KernelRecord record(const Tuned& tuned) {
    std::string space = tuned.space;
    if (const std::size_t named = space.find("\"product\""); named != std::string::npos) {
      space.replace(named, 9, "\"" + tuned.family + "\"");
    }
    store::KernelRecord record{.family = tuned.family,
                               .kernel = tuned.kernel,
                               .hash = tuned.hash,
                               .space_text = space,
                               .source_name = "product.cu",
                               .source_text = tuned.source,
                               .headers_json = "[]"};
    if (record.hash.empty()) {
      record.hash = select::stored_family(record).kernel(tuned.kernel).hash;
    }
    return record;
  }

  TemporaryDirectory folder_;
  space::DeviceInfo device_;
  space::EnvironmentInfo environment_;
  int runs_ = 0;
};

}  // namespace tuner::dispatch
