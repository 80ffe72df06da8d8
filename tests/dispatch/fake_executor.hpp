// SPDX-License-Identifier: Apache-2.0
// An H200 that launches nothing and keeps what it was told.
#pragma once

#include "tuner/backend/executor.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tuner::dispatch {

/// Stands for a stream; is never looked into.
inline backend::StreamHandle stream_number(std::uintptr_t number) {
  return reinterpret_cast<backend::StreamHandle>(number);
}

class FakeExecutor final : public backend::Executor {
 public:
  struct Launched {
    std::string_view entry;  ///< "library" for a product
    family::Geometry geometry{};
    std::size_t arguments = 0;
    std::array<std::uint64_t, 16> values{};
    blas::GemmShape shape{};
    blas::Addresses operands{};
    backend::StreamHandle stream = nullptr;
  };

  [[nodiscard]] const space::DeviceInfo& device() const override { return device_; }
  [[nodiscard]] const space::EnvironmentInfo& environment() const override { return environment_; }
  [[nodiscard]] const backend::Compiler& compiler() const override {
    return own_compiler == nullptr ? compiler_ : *own_compiler;
  }

  [[nodiscard]] Expected<std::vector<backend::FunctionId>, Failure> load(
      const backend::Binary& binary) override {
    const std::scoped_lock lock(mutex_);
    note_capture();
    if (!has_memory_to_load) return out_of_memory();
    if (refused_images.contains(text_of(binary.image))) return launch_error("a newer toolkit's");
    if (!binary.image.empty()) images.push_back(text_of(binary.image));
    std::vector<backend::FunctionId> functions;
    for (const std::string& symbol : binary.symbols) {
      if (fails_to_load.contains(symbol)) return launch_error("no image of this device");
      entries_.push_back(symbol);
      functions.push_back(backend::FunctionId{entries_.size() - 1});
    }
    return functions;
  }
  [[nodiscard]] Expected<void, Failure> admit(backend::FunctionId function, const family::Geometry&,
                                              std::span<const std::size_t> bytes) override {
    const std::scoped_lock lock(mutex_);
    argument_bytes_[function].assign(bytes.begin(), bytes.end());
    return {};
  }
  [[nodiscard]] Expected<void, Failure> launch(backend::FunctionId function,
                                               const family::Geometry& geometry, void** arguments,
                                               backend::StreamHandle stream) override {
    const std::scoped_lock lock(mutex_);
    ++launches;
    last = {.entry = entries_[static_cast<std::size_t>(function)],
            .geometry = geometry,
            .stream = stream};
    note_timed(last.entry, stream);
    for (const std::size_t bytes : argument_bytes_[function]) {
      std::memcpy(&last.values.at(last.arguments), arguments[last.arguments],
                  std::min(bytes, sizeof last.values[0]));
      ++last.arguments;
    }
    if (device_is_lost) return Unexpected(Failure{Outcome::crashed, "illegal address"});
    if (fails_to_launch.contains(last.entry)) return launch_error("too many resources");
    return {};
  }

  [[nodiscard]] Expected<backend::TensorMapValue, Failure> tensor_map(
      const family::TensorLayout& layout, void* begin) const override {
    ++maps_made;
    backend::TensorMapValue map{};
    std::memcpy(&map, &begin, sizeof begin);
    std::memcpy(&map.bytes[sizeof begin], layout.extents.data(), sizeof(std::uint64_t));
    return map;
  }
  [[nodiscard]] Expected<backend::StreamState, Failure> state(
      backend::StreamHandle stream) const override {
    const std::scoped_lock lock(mutex_);
    backend::StreamState state{.id = reinterpret_cast<std::uintptr_t>(stream)};
    if (const auto it = capturing.find(stream); it != capturing.end()) state.capture = it->second;
    if (stream == unusable) return launch_error("invalid handle");
    return state;
  }
  [[nodiscard]] Expected<std::shared_ptr<void>, Failure> memory(std::size_t size_bytes) override {
    const std::scoped_lock lock(mutex_);
    note_capture();
    if (!has_memory) return out_of_memory();
    bytes_held += size_bytes;
    return std::shared_ptr<void>(new std::byte[size_bytes]{}, [this, size_bytes](void* memory) {
      delete[] static_cast<std::byte*>(memory);
      bytes_held -= size_bytes;
    });
  }
  [[nodiscard]] Expected<void, Failure> repeat(std::span<const std::byte> bytes, void* memory,
                                               std::size_t size_bytes) override {
    filled_bytes += size_bytes;
    for (std::size_t i = 0; i < size_bytes; ++i) {
      static_cast<std::byte*>(memory)[i] = bytes[i % bytes.size()];
    }
    return {};
  }
  [[nodiscard]] Expected<void, Failure> clear(void* memory, std::size_t size_bytes,
                                              backend::StreamHandle stream) override {
    const std::scoped_lock lock(mutex_);
    std::memset(memory, 0, size_bytes);
    cleared.push_back(stream);
    return {};
  }
  [[nodiscard]] Expected<void*, Failure> graph_memory(std::size_t size_bytes,
                                                      backend::StreamHandle stream) override {
    const std::scoped_lock lock(mutex_);
    if (!capturing.contains(stream) || !has_memory) return out_of_memory();
    graph_memory_.push_back(std::make_unique<std::byte[]>(size_bytes));
    return graph_memory_.back().get();
  }
  [[nodiscard]] Expected<std::vector<double>, Failure> time(
      std::span<const backend::StreamWork> works) override {
    std::vector<double> times_ns;
    for (const backend::StreamWork& work : works) {
      timed_ = {};
      if (auto done = work(kTiming); !done) return Unexpected(done.error());
      const std::scoped_lock lock(mutex_);
      const auto known = time_ns.find(timed_.entry);
      times_ns.push_back(timed_.runs * (known == time_ns.end() ? 1000 : known->second));
    }
    return times_ns;
  }
  /// With `has_graphs`; what a graph takes stands in time_ns behind "graph ".
  [[nodiscard]] Expected<backend::StreamWork, Failure> record(
      const backend::StreamWork& work) override {
    if (!has_graphs) return Executor::record(work);
    timed_ = {};
    if (auto done = work(kTiming); !done) return Unexpected(done.error());
    const std::string entry = "graph " + std::string(timed_.entry);
    return backend::StreamWork(
        [this, entry, runs = timed_.runs](backend::StreamHandle) -> Expected<void, Failure> {
          timed_ = {.entry = entry, .runs = runs};
          return {};
        });
  }
  [[nodiscard]] Expected<void, Failure> prepare_library() override {
    const std::scoped_lock lock(mutex_);
    note_capture();
    return {};
  }
  [[nodiscard]] Expected<void, Failure> run_library(const blas::Operation& operation,
                                                    const blas::Addresses& operands,
                                                    backend::StreamHandle stream) override {
    const std::scoped_lock lock(mutex_);
    note_timed("library", stream);
    last = {.entry = "library", .operands = operands, .stream = stream};
    if (const auto* shape = std::get_if<blas::GemmShape>(&operation.shape)) last.shape = *shape;
    return {};
  }

  [[nodiscard]] std::vector<std::string> library_algorithms(const blas::Operation&,
                                                            const blas::Addresses&) override {
    return {algorithms.begin(), algorithms.end()};
  }
  [[nodiscard]] Expected<backend::LibraryWork, Failure> library_work(
      const blas::Operation& operation, const std::string& algorithm) override {
    if (!algorithms.contains(algorithm)) return launch_error("the algorithm is of another library");
    return backend::LibraryWork{
        .name = "algorithm " + algorithm,
        .workspace_bytes = workspace_bytes,
        .enqueue = [=, this](const blas::Addresses& operands, void* workspace,
                             backend::StreamHandle stream) {
          auto done = run_library(operation, operands, stream);
          last.entry = timed_.entry = *algorithms.find(algorithm);
          last_workspace = workspace;
          return done;
        }};
  }

  /// As where it is not installed.
  void lose_compiler() { environment_.compiler.clear(); }

  const backend::Compiler* own_compiler = nullptr;  ///< in place of one that compiles nothing

  // What it is told to do, and what it saw. Not while other threads launch.
  std::set<std::string, std::less<>> fails_to_compile, fails_to_load, fails_to_launch;
  std::set<std::string> refused_images;           ///< that the device does not take
  std::vector<std::string> images;                ///< that it took, of those with content
  std::set<std::string, std::less<>> algorithms;  ///< of the library
  std::size_t workspace_bytes = 0;                ///< that they need
  void* last_workspace = nullptr;
  bool has_memory = true;
  bool has_memory_to_load = true;
  bool has_graphs = false;
  bool device_is_lost = false;
  std::map<backend::StreamHandle, std::uint64_t> capturing;  ///< the capture's number, by stream
  std::vector<backend::StreamHandle> cleared;
  std::map<std::string, double, std::less<>> time_ns;  ///< by entry; 1000 of others
  std::size_t filled_bytes = 0;                        // by repeat
  std::atomic<std::size_t> bytes_held = 0;
  const backend::StreamHandle kTiming = stream_number(1000);
  backend::StreamHandle unusable = stream_number(99);
  Launched last;
  std::atomic<int> launches = 0;
  mutable std::atomic<int> maps_made = 0;
  std::atomic<int> compilations = 0;
  int forbidden_calls = 0;  ///< that loaded or allocated while a stream was being captured, for
                            ///< others than the graph

 private:
  struct FakeCompiler : backend::Compiler {
    explicit FakeCompiler(FakeExecutor& owner) : executor(owner) {}
    [[nodiscard]] Expected<backend::Binary, Failure> compile(
        const family::CompileJob& job) const override {
      ++executor.compilations;
      if (executor.environment().compiler.empty()) {
        return Unexpected(Failure{Outcome::compile_error, "NVRTC was not found"});
      }
      if (executor.fails_to_compile.contains(job.entries.front())) {
        return Unexpected(Failure{Outcome::compile_error, "line 1: a mistake"});
      }
      return backend::Binary{.image = {}, .symbols = job.entries};
    }
    FakeExecutor& executor;
  };
  static std::string text_of(const std::vector<std::byte>& image) {
    return {reinterpret_cast<const char*>(image.data()), image.size()};
  }
  static Unexpected<Failure> launch_error(const char* message) {
    return Unexpected(Failure{Outcome::launch_error, message});
  }
  static Unexpected<Failure> out_of_memory() {
    return Unexpected(Failure{
        .outcome = Outcome::launch_error, .message = "out of memory", .is_transient = true});
  }
  void note_timed(std::string_view entry, backend::StreamHandle stream) {
    if (stream == kTiming) timed_ = {entry, timed_.runs + 1};
  }
  void note_capture() {
    if (!capturing.empty()) ++forbidden_calls;
  }

  space::DeviceInfo device_ = space::device_profile("h200").value();
  space::EnvironmentInfo environment_{
      .driver = "580", .compiler = "NVRTC 13.0", .library = "cuBLAS 13", .tool = "1"};
  FakeCompiler compiler_{*this};
  mutable std::mutex mutex_;
  /// What ran since on the stream that is timed.
  struct Timed {
    std::string_view entry;
    int runs = 0;
  };
  Timed timed_;
  std::deque<std::string> entries_;
  std::vector<std::unique_ptr<std::byte[]>> graph_memory_;
  std::map<backend::FunctionId, std::vector<std::size_t>> argument_bytes_;
};

}  // namespace tuner::dispatch
