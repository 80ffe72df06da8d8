// SPDX-License-Identifier: Apache-2.0
// What a machine must offer so that kernels can be tuned on it. Everything that crosses this
// interface is a value or a number standing for something the backend owns, never an object of a
// vendor's API, so that a backend can live in another process.
#pragma once

#include "tuner/blas/operation.hpp"
#include "tuner/core/clock_limit.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/counters/counters.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/element_type.hpp"
#include "tuner/space/device.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tuner::backend {

/// What the compiler says a kernel uses. Zero where a backend does not know.
struct Resources {
  int registers = 0;                    ///< a thread
  std::size_t static_shared_bytes = 0;  ///< a block
  std::size_t local_bytes = 0;          ///< a thread: spills and local arrays
};

/// A compiled kernel: a cubin, or a shared object of the host.
struct Binary {
  std::vector<std::byte> image;
  std::vector<std::string> symbols;  ///< inside the image: the function of each CompileJob::entries
};

/// Compiles candidates. Safe to call from many threads at once; needs no device.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// The compiled kernel, or a compile_error with the compiler's log (at most 4 KiB of it).
  [[nodiscard]] virtual Expected<Binary, Failure> compile(const family::CompileJob& job) const = 0;
  /// What makes the same compiler in a process of the helper (helper_compiler.hpp); empty where
  /// each compilation is a process of its own anyway.
  [[nodiscard]] virtual std::vector<std::string> helper_arguments() const { return {}; }
};

/// A buffer in device memory, and a kernel loaded on the device.
enum class BufferId : std::uint64_t {};
enum class KernelId : std::uint64_t {};

/// Memory of the host that the device copies from and to without a detour, and that work on the
/// device may read and write where it is.
struct PinnedBuffer {
  BufferId id;
  std::span<std::byte> bytes;  ///< until it is released
};

/// A place in a buffer: data begins there.
struct Region {
  // NOLINTNEXTLINE(google-explicit-constructor): a buffer is the region from its start
  Region(BufferId buffer_id = {}, std::size_t offset = 0)
      : buffer(buffer_id), offset_bytes(offset) {}

  bool operator==(const Region&) const = default;

  BufferId buffer;
  std::size_t offset_bytes;
};

/// A tensor that begins in a region, which the kernel gets as a tensor map.
struct Tensor {
  bool operator==(const Tensor&) const = default;

  Region region;
  family::TensorLayout layout;
};

/// The bytes of an array that the kernel gets by value.
struct ArrayValue {
  bool operator==(const ArrayValue&) const = default;

  std::vector<std::byte> bytes;
};

/// An argument of a launch.
using LaunchArgument = std::variant<family::Scalar, Region, Tensor, ArrayValue>;

/// A word that is NaN as a float, as a half of a double, and as two numbers of 16 bits.
inline constexpr std::uint32_t kNanWord = 0x7FED7FDEU;
/// What a variable of the kernel's image holds when the launch begins. It is copied there before
/// the launch, outside of what is timed.
struct SymbolValue {
  std::string name;        ///< in C++, for messages
  std::string image_name;  ///< in the image
  ArrayValue value;
};

/// Data that a launch may read and must not write.
struct ReadOnlyData {
  std::string name;  ///< for messages
  Region region;
  std::size_t size_bytes = 0;
  std::size_t element_bytes = 1;
};

/// The launch of one of a kernel's functions.
struct StepLaunch {
  bool operator==(const StepLaunch&) const = default;

  family::Geometry geometry;
  std::vector<LaunchArgument> arguments;
};

/// A run of a kernel.
struct Launch {
  KernelId kernel{};
  std::vector<StepLaunch> steps;  ///< one for each of the kernel's functions, in their order
  std::vector<SymbolValue> symbols = {};
  /// What its results are compared with: bits of other launches, or numbers within a bound, so that
  /// a backend may run another compilation of the kernel, which shows more.
  enum class Bits { compared, any };
  Bits bits = Bits::compared;
  /// The words that shared memory holds before each step, as far as that can be arranged.
  std::uint32_t shared_content = kNanWord;
  /// A backend that notices every write into these, as the cpu backend does, fails with
  /// out_of_bounds when the launch has ended. Another one does not look.
  std::vector<ReadOnlyData> read_only = {};
  /// A backend that does not look gives the launch copies of these that it cannot write: it is
  /// crashed by a write, also by one of what was there.
  bool faults_on_write = false;
  /// What lies around the data of the launch. With `faults_on_write`, a backend that looks fails
  /// with out_of_bounds when something was written there, also what was there before.
  std::vector<ReadOnlyData> guards = {};
  /// A kernel whose image variables get, before the launch, the content with which they were loaded
  /// or that `symbols` gave them last.
  std::optional<KernelId> restores = {};
};

/// An operation of the platform's BLAS on buffers.
struct LibraryCall {
  blas::Operation operation;
  blas::Operands<Region> operands;
  std::string algorithm = {};  ///< of Backend::library_algorithms; empty: the library chooses
};

/// What a device can be asked to do and to time: a kernel of ours or the library's, by the same
/// path.
using Work = std::variant<Launch, LibraryCall>;

/// How to take samples of a piece of work.
struct SamplePlan {
  int warm_up = 0;        ///< runs before the first sample, at the least
  int samples = 1;        ///< timed runs, each from a cold L2 cache
  double warm_up_ns = 0;  ///< and for so long, at the least
  /// Work before every run, outside of its time and of what it finds in the cache: such as giving
  /// outputs the content that a run must find.
  std::optional<Work> before = {};
};

/// One timed run.
struct Sample {
  double time_ns = 0;
  std::optional<double> clock_mhz = {};  ///< of the multiprocessors meanwhile; absent when unknown
};

/// Nanoseconds of one of many runs back to back: of a burst after a pause, and of a long series
/// without any. They differ where power limits the clock.
struct RegimeTimes {
  double rested_ns = 0, sustained_ns = 0;
};

/// A series of runs that goes through pieces of work in turn, from the first one on.
struct SeriesTime {
  double time_ns = 0;     ///< of one run
  std::int64_t runs = 0;  ///< the last of them is that of works[(runs − 1) % works.size()]
};

/// What comes before a series of runs: nothing, or as much of the same work as keeps the clock
/// where power limits it.
enum class Lead { none, load };

/// The energy of work that runs many times back to back, of the whole device.
struct EnergySample {
  double joules = 0;  ///< of one run
  double watts = 0;   ///< meanwhile
};

/// What else acts on a device at this moment, as far as it can be known.
struct Conditions {
  bool power_capped = false;              ///< holds its clock down to its power limit
  bool throttled = false;                 ///< slows down for heat, or because the board tells it to
  std::vector<int> other_processes = {};  ///< that compute on it, none of this program's own
  /// Others may compute on it and not be among them, as in a container.
  bool hides_processes = false;
  /// Programs share its contexts by MPS: a kernel of one that faults ends the others.
  bool mps = false;
  ClockLimit clock_limit = {};
};

/// What a device cannot exceed, at its highest clock.
struct Peak {
  double flops_per_s = 0;
  double bytes_per_s = 0;  ///< between the device and its memory
};

/// One device. Used from one thread at a time.
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const space::DeviceInfo& device() const = 0;
  [[nodiscard]] virtual const space::EnvironmentInfo& environment() const = 0;
  [[nodiscard]] virtual const Compiler& compiler() const = 0;

  /// Device memory of at least one byte. Throws Error(failure), with sizes, when there is not
  /// enough.
  [[nodiscard]] virtual BufferId allocate(std::size_t size_bytes) = 0;
  /// Memory of the host, zeroed, that cannot be paged out. Throws as allocate().
  [[nodiscard]] virtual PinnedBuffer allocate_pinned(std::size_t size_bytes) = 0;
  virtual void release(BufferId buffer) = 0;
  virtual void write(Region to, std::span<const std::byte> data) = 0;
  virtual void read(Region from, std::span<std::byte> data) const = 0;
  /// Sets `size_bytes` (a multiple of 4) to copies of a 32-bit pattern.
  virtual void fill(Region region, std::uint32_t pattern, std::size_t size_bytes) = 0;
  virtual void copy(Region to, Region from, std::size_t size_bytes) = 0;

  /// Makes a compiled kernel ready to launch; launch_error when the device cannot take it.
  [[nodiscard]] virtual Expected<KernelId, Failure> load(const Binary& binary) = 0;
  virtual void unload(KernelId kernel) = 0;
  /// Of each of the kernel's functions.
  [[nodiscard]] virtual std::vector<Resources> resources(KernelId kernel) const = 0;
  /// Whether a variable of the kernel's image holds something else than when it was loaded, or than
  /// a launch's `symbols` gave it last.
  [[nodiscard]] virtual bool has_changed_variables(KernelId kernel) const = 0;

  /// Runs once and waits for the end.
  /// launch_error when the device refuses (too many resources, bad
  /// geometry) and is still usable; crashed when it faulted, after which this Backend is lost.
  [[nodiscard]] virtual Expected<void, Failure> run(const Work& work) = 0;
  /// `plan.samples` runs in the order taken, each from a cold cache. Fails as `run` does.
  [[nodiscard]] virtual Expected<std::vector<Sample>, Failure> time(const Work& work,
                                                                    const SamplePlan& plan) = 0;
  /// Nanoseconds of one of many runs back to back, with the data in the cache as far as it fits.
  /// Fails as `run` does.
  [[nodiscard]] virtual Expected<double, Failure> time_hot(const Work& work) = 0;

  /// A series back to back which goes through `works` in turn: one piece of work on copies of its
  /// data, at least one. Where these exceed the cache, runs take their data from memory. Each of
  /// `works` may run before the series, too. Fails as `run` does.
  [[nodiscard]] virtual Expected<SeriesTime, Failure> time_series(std::span<const Work> works,
                                                                  Lead lead) = 0;
  /// Both regimes of such a series, in about 0.5 s; none where it takes longer than that. Fails as
  /// `run` does.
  [[nodiscard]] virtual Expected<std::optional<RegimeTimes>, Failure> time_regimes(
      std::span<const Work> works) = 0;

  /// The energy of one of many runs back to back for about `window_s` seconds, and 0.3 s before it;
  /// none where the device does not tell it or not its own alone, as of a MIG slice, and where one
  /// run takes more than a quarter of the window. Fails as `run` does.
  [[nodiscard]] virtual Expected<std::optional<EnergySample>, Failure> measure_energy(
      const Work& work, double window_s) = 0;
  /// The power of the device at rest, over about 1 s after a pause; none as above.
  [[nodiscard]] virtual std::optional<double> idle_watts() = 0;

  /// Nanoseconds of one run as a program meets it, by the host's clock: from its call to its end.
  /// Nothing is done about the caches. Fails as `run` does.
  [[nodiscard]] virtual Expected<double, Failure> time_call(const Work& work) = 0;

  /// The hardware counters of a run from a cold cache; to collect them it runs several times, each
  /// time after `before`. That they cannot be read here is no failure of the work. Fails as `run`
  /// does.
  [[nodiscard]] virtual Expected<counters::CounterReading, Failure> count(
      const Work& work, const std::optional<Work>& before) = 0;

  /// The algorithms that the library offers for a call, at most 8, as texts that hold for this
  /// version of it; none where it has no choice. Whether they are right is not known: verify them.
  /// A call by a text that is not of this library is a launch_error.
  [[nodiscard]] virtual std::vector<std::string> library_algorithms(const LibraryCall& call) = 0;

  /// Never fails: what cannot be known is left at its default.
  [[nodiscard]] virtual Conditions conditions() = 0;
  /// For results that are right in this type, by whatever units compute them. Absent where unknown.
  [[nodiscard]] virtual std::optional<Peak> peak(family::ElementType type) const = 0;
};

}  // namespace tuner::backend
