// SPDX-License-Identifier: Apache-2.0
// What launching in an application's own streams needs of a device. Unlike a Backend, which tunes
// on a stream of its own, it takes the application's pointers and waits for nothing.
#pragma once

#include "tuner/backend/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct CUstream_st;

namespace tuner::backend {

/// A stream as CUDA's driver and runtime have it; null: the default one. The cpu has none.
using StreamHandle = CUstream_st*;

/// A function of a kernel that is loaded, for as long as its executor lives.
enum class FunctionId : std::uint64_t {};

/// What tells one stream from every other, whatever its handle, and whether it is being captured.
struct StreamState {
  std::uint64_t id = 0;
  std::optional<std::uint64_t> capture = {};  ///< the capture's own number
};

/// A tensor map as a kernel receives it.
struct alignas(64) TensorMapValue {
  std::array<std::byte, 128> bytes;
};

/// Enqueues something on the stream that it is given.
using StreamWork = std::function<Expected<void, Failure>(StreamHandle)>;

/// A library operation by one of the library's algorithms.
struct LibraryWork {
  std::string name = {};            ///< of the algorithm, for people
  std::size_t workspace_bytes = 0;  ///< memory of its own that a launch needs
  /// Enqueues it; fails as Executor::launch.
  std::function<Expected<void, Failure>(const blas::Addresses&, void* workspace, StreamHandle)>
      enqueue;
};

/// One device. Safe to use from many threads at once.
class Executor {
 public:
  virtual ~Executor() = default;

  [[nodiscard]] virtual const space::DeviceInfo& device() const = 0;
  [[nodiscard]] virtual const space::EnvironmentInfo& environment() const = 0;
  [[nodiscard]] virtual const Compiler& compiler() const = 0;

  /// Makes a compiled kernel ready to launch: the function of each of its symbols. launch_error
  /// when the device cannot take it. Not to be called while the calling thread captures a stream.
  [[nodiscard]] virtual Expected<std::vector<FunctionId>, Failure> load(const Binary& binary) = 0;
  /// Checks what can be known of a launch without running it, and grants its shared memory:
  /// launch_error when the function takes other arguments or the device refuses the block.
  [[nodiscard]] virtual Expected<void, Failure> admit(
      FunctionId function, const family::Geometry& geometry,
      std::span<const std::size_t> argument_bytes) = 0;
  /// Enqueues an admitted launch; `arguments` are the addresses of the values, read before it
  /// returns. launch_error when the device refuses and is as usable as before, else crashed.
  [[nodiscard]] virtual Expected<void, Failure> launch(FunctionId function,
                                                       const family::Geometry& geometry,
                                                       void** arguments, StreamHandle stream) = 0;

  /// The tensor map of a tensor in the buffer at an address; launch_error when the device makes no
  /// such one.
  [[nodiscard]] virtual Expected<TensorMapValue, Failure> tensor_map(
      const family::TensorLayout& layout, void* buffer) const = 0;

  [[nodiscard]] virtual Expected<StreamState, Failure> state(StreamHandle stream) const = 0;
  /// Zeroed device memory, at a multiple of 256 bytes, until the last owner goes; the executor must
  /// outlive them. Not during a capture.
  [[nodiscard]] virtual Expected<std::shared_ptr<void>, Failure> memory(std::size_t size_bytes) = 0;
  /// Enqueues zeros to such memory. Fails as launch does.
  [[nodiscard]] virtual Expected<void, Failure> clear(void* memory, std::size_t size_bytes,
                                                      StreamHandle stream) = 0;
  /// Copies bytes to such memory, over and over up to its size, before it returns. Fails as launch
  /// does. Not during a capture.
  [[nodiscard]] virtual Expected<void, Failure> repeat(std::span<const std::byte> bytes,
                                                       void* memory, std::size_t size_bytes) = 0;
  /// Zeroed memory, at a multiple of 256 bytes, for what is being captured on a stream: no other's
  /// until the graph and all that was instantiated of it are destroyed. It is the executor's, which
  /// must outlive the graph's runs. launch_error when nothing is captured there or there is no
  /// memory.
  [[nodiscard]] virtual Expected<void*, Failure> graph_memory(std::size_t size_bytes,
                                                              StreamHandle stream) = 0;

  /// Copies memory of the device to the host once the work before it on the stream is done. Fails
  /// as launch does, and where the device's memory cannot be read. Not during a capture.
  [[nodiscard]] virtual Expected<void, Failure> read(const void* /*memory*/,
                                                     std::span<std::byte> /*to*/,
                                                     StreamHandle /*stream*/) {
    return Unexpected(Failure{Outcome::launch_error, "the device's memory cannot be read"});
  }

  /// Nanoseconds that each piece of work takes on a stream of the executor's own, where they run in
  /// this order without a pause: no launch latency is part of a time. The first runs once more
  /// before. Fails as launch does, and then says nothing of the others. Not during a capture.
  [[nodiscard]] virtual Expected<std::vector<double>, Failure> time(
      std::span<const StreamWork> works) = 0;
  /// The work as a graph, which enqueues what `work` enqueues now; the executor must outlive it.
  /// Fails as launch does, and where the device has no graphs. Not during a capture.
  [[nodiscard]] virtual Expected<StreamWork, Failure> record(const StreamWork& /*work*/) {
    return Unexpected(Failure{Outcome::launch_error, "the device has no graphs"});
  }

  /// Makes ready what the library needs to be captured in the current context: what takes long.
  [[nodiscard]] virtual Expected<void, Failure> prepare_library() = 0;
  /// Whether run_library does what follows a product.
  [[nodiscard]] virtual bool library_has(const Epilogue& epilogue) const {
    return epilogue.is_none();
  }
  /// Enqueues an operation by the library; fails as launch does.
  [[nodiscard]] virtual Expected<void, Failure> run_library(const blas::Operation& operation,
                                                            const blas::Addresses& operands,
                                                            StreamHandle stream) = 0;
  /// As Backend::library_algorithms, for operands that begin where these do. Not during a capture.
  [[nodiscard]] virtual std::vector<std::string> library_algorithms(
      const blas::Operation& operation, const blas::Addresses& operands) = 0;
  /// An operation by an algorithm that library_algorithms named, of an executor or a backend;
  /// operands that it is not aligned for are multiplied as run_library does. launch_error where the
  /// library in use has another version or does not take it. Not during a capture.
  [[nodiscard]] virtual Expected<LibraryWork, Failure> library_work(
      const blas::Operation& operation, const std::string& algorithm) = 0;
};

/// Opens a device as open_backend does: "cuda", "cpu" or "auto".
[[nodiscard]] std::unique_ptr<Executor> open_executor(std::string_view kind, int ordinal);

}  // namespace tuner::backend
