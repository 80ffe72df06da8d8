// SPDX-License-Identifier: Apache-2.0
// Launches, for every problem size an application meets, the fastest kernel that is known for it.
// Inline above the C interface of dispatch.h: no class and no exception crosses the boundary of
// libtuner_dispatch.so, so any compiler and standard library of C++20 can be used.
#pragma once

#include "tuner/dispatch/dispatch.h"
#include "tuner/select/rung.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner {

/// A cudaStream_t or CUstream; null is the default stream. The cpu backend has no streams: there
/// every call returns when the work is done.
using StreamHandle = CUstream_st*;

/// A problem size: one number for every dimension of the family, in its order, or for the first
/// ones of them: the others have their defaults.
using Size = std::vector<std::int64_t>;

/// Why a call of the dispatcher could not be served. `what()` is for people: what, where, why and
/// how to fix it.
class TUNER_API DispatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace dispatch {

/// Where a Table comes from.
struct TableSource {
  enum class Kind { database, file, text, empty };

  Kind kind = Kind::empty;
  std::filesystem::path path = {};  ///< empty for a database: the default one
  std::string text = {};
};

}  // namespace dispatch

/// What was tuned, and where it is kept. Naming a table reads nothing yet: opening a Dispatcher
/// does, and reload() reads it again.
class Table {
 public:
  /// A database of the `tune` program.
  /// @param path Its file; empty: $TUNER_DB, else $XDG_DATA_HOME/tune/tune.db
  ///        (~/.local/share/tune/tune.db); nothing is taken from the working directory.
  /// @return Its name; the database is read when a Dispatcher is opened.
  [[nodiscard]] static Table database(std::filesystem::path path = {}) {
    return Table({.kind = Kind::database, .path = std::move(path)});
  }
  /// A file that `tune export --format json` wrote.
  /// @param path The file. Only the user and root may own it or write to it.
  /// @return Its name; the file is read when a Dispatcher is opened.
  [[nodiscard]] static Table file(std::filesystem::path path) {
    return Table({.kind = Kind::file, .path = std::move(path)});
  }
  /// The text of such a file, e.g. compiled in.
  /// @param document The text; it is copied.
  /// @return The table; the text is read when a Dispatcher is opened.
  [[nodiscard]] static Table text(std::string_view document) {
    return Table({.kind = Kind::text, .text = std::string(document)});
  }
  /// Nothing was tuned.
  /// @return A table for which the library answers.
  [[nodiscard]] static Table none() { return Table(dispatch::TableSource{}); }

  /// For the functions of this library. Throws DispatchError when the table was moved from.
  /// @return What the table is read from.
  [[nodiscard]] const dispatch::TableSource& source() const {
    if (source_ == nullptr) throw DispatchError("the table was moved from: it names nothing");
    return *source_;
  }

 private:
  using Kind = dispatch::TableSource::Kind;

  explicit Table(dispatch::TableSource source)
      : source_(std::make_shared<const dispatch::TableSource>(std::move(source))) {}

  std::shared_ptr<const dispatch::TableSource> source_;
};

/// Whether results measured with another driver or compiler are used.
enum class StalePolicy { use, refuse };

/// Where kernels are compiled for a GPU. On the CPU each compilation is a process of the compiler
/// in any case, with a limit of 60 s and 4 GiB.
enum class CompileIn {
  /// In a helper process from the first table that is read from a file or a database. In this
  /// process before that, for tables given as text, if the helper is not installed, and in set-uid
  /// programs.
  automatic = TUNER_COMPILE_AUTOMATIC,
  helper = TUNER_COMPILE_IN_HELPER,  ///< in a helper process, or the dispatcher is not opened
  /// In this process: a source can take any time and memory, and crash it.
  process = TUNER_COMPILE_IN_PROCESS,
};

/// What may serve a size.
enum class DispatchMode {
  any = TUNER_MODE_ANY,  ///< every rung
  /// What was tuned for the very size; else the library, or where there is none an error. Never a
  /// measurement.
  exact = TUNER_MODE_EXACT,
  /// The choices of DispatchOptions::pins, which Dispatcher::pin() wrote: a choice that cannot be
  /// used is an error. For other sizes the library, or where there is none an error.
  pinned = TUNER_MODE_PINNED,
};

/// How a dispatcher is opened.
struct DispatchOptions {
  std::string backend = "cuda";          ///< or "cpu"
  int device = 0;                        ///< index among the backend's devices, from 0
  StalePolicy stale = StalePolicy::use;  ///< whether results of another driver or compiler are used
  DispatchMode mode =
      DispatchMode::any;            ///< what may serve a size; the environment stands before it
  std::filesystem::path pins = {};  ///< with DispatchMode::pinned: where the choices are
  /// Where compiled kernels are kept, and what databases said when they were read last. Empty:
  /// where `tune` keeps kernels ($XDG_CACHE_HOME/tune/binaries). A folder that cannot be used costs
  /// time, no more.
  std::filesystem::path cache = {};
  CompileIn compile_in = CompileIn::automatic;  ///< where kernels are compiled for a GPU
  /// How long a helper process may take; one that takes longer is killed, and the next answer runs.
  /// 0: 60 s.
  std::chrono::seconds compile_deadline{60};
  /// Address space of a helper process in bytes; 0: 4 GiB. NVRTC needs about 0.5 GiB for a usual
  /// kernel.
  std::uint64_t compile_memory_bytes = std::uint64_t{4} << 30;
};

/// What would run for a size, and why.
struct Answer {
  Rung rung = Rung::default_config;   ///< how well it fits the size
  std::string kernel;                 ///< empty where the library answers
  std::string configuration;          ///< a JSON object; empty where the library answers
  std::optional<double> expected_ns;  ///< expected time of a launch in ns, where it is known
  /// How much shorter that is than what the library takes by its own choice; 0 where either is not
  /// known.
  double saved_ns = 0;
  double distance = 0;  ///< from the size that was tuned: the largest |ln(asked / tuned)|
  std::vector<std::string> explanation;  ///< why, a reason for each line
  bool prepared = false;                 ///< a launch does not compile or load
};

/// How prepare() chooses for a size that was never tuned.
enum class ChooseBy {
  /// What the cost model expects to be the fastest.
  expectation = TUNER_CHOOSE_BY_EXPECTATION,
  /// Times the members of a portfolio, or without one the eight kernels with the best expected
  /// times, the library, and algorithms that the library proposes, side by side, on buffers of the
  /// dispatcher's own. The fastest is chosen if it is certainly faster than the library by its own
  /// choice, by 1 % at least. Compiles these kernels; then it takes some 50 ms for launches below
  /// 1 ms. Concurrent work on the device makes the choice less reliable.
  measurement = TUNER_CHOOSE_BY_MEASUREMENT,
};

/// How a size was prepared: an answer that is prepared, or why nothing can run at this size.
struct Preparation {
  Size size;                     ///< as it was asked for
  std::optional<Answer> answer;  ///< what a launch runs
  std::string error;             ///< empty where there is an answer
};

/// What launches ran, since the dispatcher was opened.
struct Served {
  std::string family;          ///< of products without a family in the table: "gemm"
  Rung rung = Rung::exact;     ///< what served them
  bool is_tuned = false;       ///< whether something was tuned, or pinned, at the very size
  std::uint64_t sizes = 0;     ///< that were prepared for it; a size anew after it was dropped
  std::uint64_t launches = 0;  ///< so far; in a graph, of the capture
};

/// A family of the table in use.
enum class FamilyId : std::uint32_t {};

/// An argument of a launch: a pointer to device memory, a number of the type that the space file
/// declares, or an array. Integers of 8 and 16 bits are passed as int or unsigned, unsigned long
/// long as long long.
class DispatchArgument {
 public:
  /// What the argument is: the type that the space file declares.
  enum class Type {
    pointer = TUNER_POINTER,  ///< device memory
    i32 = TUNER_INT,          ///< `int`
    u32 = TUNER_UNSIGNED,     ///< `unsigned`
    i64 = TUNER_LONG_LONG,    ///< `long long`
    f32 = TUNER_FLOAT,        ///< `float`
    f64 = TUNER_DOUBLE,       ///< `double`
    array = TUNER_ARRAY       ///< an array by value
  };

  /// An array that the kernel takes by value. Throws DispatchError when `elements` is null.
  /// @param elements As many as the space file says at the size, in the host's memory. They are
  ///        read before the launch returns, so a graph keeps them.
  /// @return The argument.
  [[nodiscard]] static DispatchArgument array(const void* elements) {
    if (elements == nullptr) throw DispatchError("an array by value is given as a null pointer");
    DispatchArgument argument = elements;
    argument.value_.type = TUNER_ARRAY;
    return argument;
  }

  // NOLINTBEGIN(google-explicit-constructor): arguments are written as they are
  /// A pointer to device memory. @param value Not null when it is launched.
  DispatchArgument(const void* value) : value_{TUNER_POINTER, {.pointer = value}} {}
  /// A number. @param value Of the type `int` in the space file.
  DispatchArgument(std::int32_t value) : value_{TUNER_INT, {}} { value_.value.i32 = value; }
  /// A number. @param value Of the type `unsigned` in the space file.
  DispatchArgument(std::uint32_t value) : value_{TUNER_UNSIGNED, {}} { value_.value.u32 = value; }
  /// A number. @param value Of the type `long long` in the space file.
  DispatchArgument(long value) : value_{TUNER_LONG_LONG, {.i64 = value}} {}
  /// A number. @param value Of the type `long long` in the space file.
  DispatchArgument(long long value) : value_{TUNER_LONG_LONG, {.i64 = value}} {}
  /// A number. @param value Of the type `float` in the space file.
  DispatchArgument(float value) : value_{TUNER_FLOAT, {}} { value_.value.f32 = value; }
  /// A number. @param value Of the type `double` in the space file.
  DispatchArgument(double value) : value_{TUNER_DOUBLE, {.f64 = value}} {}
  // NOLINTEND(google-explicit-constructor)

  /// What the argument is.
  /// @return Its type.
  [[nodiscard]] Type type() const { return static_cast<Type>(value_.type); }
  /// The value of the argument.
  /// @return Its bytes as a kernel receives them, then zeros; of an array its address.
  [[nodiscard]] std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(value_.value); }

 private:
  tuner_argument value_;
};
static_assert(sizeof(DispatchArgument) == sizeof(tuner_argument));

/// An argument that a launch gives, as the space file declares it.
struct ArgumentInfo {
  std::string name;                                               ///< in the space file
  DispatchArgument::Type type = DispatchArgument::Type::pointer;  ///< what is passed
  std::string element;        ///< of a pointer or an array: the type of an element, as in C++
  std::int64_t elements = 0;  ///< of a pointer or an array: how many the size needs
  bool is_written = false;    ///< of a pointer: a kernel changes what it points to
};

namespace dispatch {

static_assert(static_cast<int>(Rung::exact) == TUNER_RUNG_EXACT &&
              static_cast<int>(Rung::stale) == TUNER_RUNG_STALE &&
              static_cast<int>(Rung::nearest) == TUNER_RUNG_NEAREST &&
              static_cast<int>(Rung::library_tuned) == TUNER_RUNG_LIBRARY_TUNED &&
              static_cast<int>(Rung::library) == TUNER_RUNG_LIBRARY &&
              static_cast<int>(Rung::default_config) == TUNER_RUNG_DEFAULT);

/// Throws DispatchError where a call of the C interface failed in this thread.
inline void require(tuner_status status) {
  if (status != TUNER_OK) throw DispatchError(tuner_last_error());
}

struct CloseDispatcher {
  void operator()(tuner_dispatcher* dispatcher) const noexcept { tuner_close(dispatcher); }
};

/// A table as the C interface takes it, for as long as `source` lives.
[[nodiscard]] inline tuner_table c_table(const TableSource& source) {
  switch (source.kind) {
    case TableSource::Kind::database:
      return {TUNER_TABLE_DATABASE, source.path.empty() ? nullptr : source.path.c_str()};
    case TableSource::Kind::file:
      return {TUNER_TABLE_FILE, source.path.c_str()};
    case TableSource::Kind::text:
      return {TUNER_TABLE_TEXT, source.text.c_str()};
    case TableSource::Kind::empty:
      break;
  }
  return {TUNER_TABLE_NONE, nullptr};
}

/// Options as the C interface takes them, for as long as `options` lives.
[[nodiscard]] inline tuner_options c_options(const DispatchOptions& options) {
  constexpr std::chrono::seconds::rep kMost = std::numeric_limits<int>::max();
  tuner_options result{};
  result.struct_size = sizeof(result);
  result.backend = options.backend.c_str();
  result.device = options.device;
  result.refuse_stale = options.stale == StalePolicy::refuse ? 1 : 0;
  result.cache = options.cache.empty() ? nullptr : options.cache.c_str();
  result.compile_in = static_cast<tuner_compile_in>(options.compile_in);
  result.compile_deadline_s =
      static_cast<int>(std::clamp(options.compile_deadline.count(), -kMost, kMost));
  result.compile_memory_bytes = options.compile_memory_bytes;
  result.mode = static_cast<tuner_mode>(options.mode);
  result.pins = options.pins.empty() ? nullptr : options.pins.c_str();
  return result;
}

/// An answer of the C interface.
[[nodiscard]] inline Answer answer_of(const tuner_answer_info& info) {
  Answer answer{.rung = static_cast<Rung>(info.rung),
                .kernel = info.kernel,
                .configuration = info.configuration,
                .expected_ns = {},
                .saved_ns = info.saved_ns,
                .distance = info.distance,
                .explanation = {},
                .prepared = info.prepared != 0};
  if (info.expected_ns >= 0) answer.expected_ns = info.expected_ns;
  std::string_view lines = info.explanation;
  while (!lines.empty()) {
    const std::size_t length = std::min(lines.find('\n'), lines.size());
    answer.explanation.emplace_back(lines.substr(0, length));
    lines.remove_prefix(std::min(length + 1, lines.size()));
  }
  return answer;
}

}  // namespace dispatch

/// One device and one table, for many threads and streams at once.
///
/// For a size that was prepared, or launched lately, a launch allocates nothing, takes no lock and
/// touches no file. A size that is new is compiled (or read from the cache) and loaded first, by
/// the thread that asks for it, while others go on. While a stream is being captured nothing is
/// compiled or loaded: a new size goes to the library, or to whatever is loaded for it and needs no
/// scratch memory. A graph has scratch memory of its own, until it is destroyed.
///
/// On cuda the context that is current in the calling thread must be the stream's; a thread without
/// one gets the device's primary context, as in the CUDA runtime. Kernels and scratch memory are
/// freed with the dispatcher; graphs captured from its launches are valid until then. Do not
/// destroy it while such work runs.
///
/// Every call throws DispatchError where the dispatcher was moved from, and in a process that was
/// forked since it was opened; there its destructor does nothing.
class Dispatcher {
 public:
  /// Throws DispatchError when the device or the table cannot be opened, or with CompileIn::helper
  /// the helper is missing. A table that knows
  /// nothing of this device is no error: then the library and default configurations answer.
  /// @param table What was tuned; it is read here and by reload() only.
  /// @param options The device, and how it is used.
  explicit Dispatcher(const Table& table, const DispatchOptions& options = {}) {
    const tuner_options of_c = dispatch::c_options(options);
    tuner_dispatcher* opened = nullptr;
    dispatch::require(tuner_open(dispatch::c_table(table.source()), &of_c, &opened));
    handle_.reset(opened);
  }
  /// Takes over a device.
  /// @param from Left without a device: each of its calls is a DispatchError.
  Dispatcher(Dispatcher&& from) noexcept = default;
  /// Closes this device and takes over another.
  /// @param from Left without a device: each of its calls is a DispatchError.
  /// @return This dispatcher.
  Dispatcher& operator=(Dispatcher&& from) noexcept = default;

  /// Stays the same number for the dispatcher's life. Throws DispatchError, with a suggestion, when
  /// the table has no such family.
  /// @param name The family's name in its space file.
  /// @return The family's number.
  [[nodiscard]] FamilyId family(std::string_view name) const {
    std::uint32_t number = 0;
    dispatch::require(tuner_find_family(handle(), std::string(name).c_str(), &number));
    return FamilyId{number};
  }
  /// As family(); nothing when the table has no such family.
  /// @param name The family's name in its space file.
  /// @return The family's number, or nothing.
  [[nodiscard]] std::optional<FamilyId> find_family(std::string_view name) const {
    std::uint32_t number = 0;
    const tuner_status status = tuner_find_family(handle(), std::string(name).c_str(), &number);
    if (status == TUNER_NO_FAMILY) return std::nullopt;
    dispatch::require(status);
    return FamilyId{number};
  }

  /// Compiles and loads ahead, on as many threads as the machine has cores. A size at which nothing
  /// can run does not stop the others. A choice by measurement holds until the next reload(), and
  /// takes the place of one by expectation. What another process measured with the same device,
  /// versions and table is kept in the cache and not measured again; while one measures, others
  /// wait. Where there is no memory for the buffers, expectation decides.
  /// @param family From family().
  /// @param sizes The sizes.
  /// @param choose_by How to choose for sizes that were never tuned.
  /// @return A result for each size, in order.
  std::vector<Preparation> prepare(FamilyId family, std::span<const Size> sizes,
                                   ChooseBy choose_by = ChooseBy::expectation) {
    std::vector<tuner_size> wanted;
    for (const Size& size : sizes) wanted.push_back({size.data(), size.size()});
    const char* const* errors = nullptr;
    const tuner_status status =
        tuner_prepare(handle(), number(family), wanted.data(), wanted.size(),
                      static_cast<tuner_choose_by>(choose_by), &errors);
    if (errors == nullptr) dispatch::require(status);
    std::vector<Preparation> results(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      results[i].size = sizes[i];
      results[i].error = errors[i];
      if (!results[i].error.empty()) continue;
      try {
        results[i].answer = answer(family, sizes[i]);
      } catch (const DispatchError& error) {  // the table was reloaded meanwhile
        results[i].error = error.what();
      }
    }
    return results;
  }

  /// A size from its text, as `tune --size` takes it: "4096,1024,TYPE=bf16". Here the values of a
  /// dimension of types have their names; in numbers they count from 0, in the order of the space
  /// file. Throws DispatchError when it is no size of the family's.
  /// @param family From family().
  /// @param text The required dimensions in order, then others by name.
  /// @return A number for each dimension.
  [[nodiscard]] Size parse_size(FamilyId family, std::string_view text) const {
    const std::int64_t* first = nullptr;
    std::size_t count = 0;
    dispatch::require(
        tuner_parse_size(handle(), number(family), std::string(text).c_str(), &first, &count));
    return {first, first + count};
  }

  /// What launch() takes at a size. Throws DispatchError when the size is none of the family's.
  /// @param family From family().
  /// @param size One number for each dimension; trailing ones with a default may be omitted.
  /// @return The arguments in the order of launch().
  [[nodiscard]] std::vector<ArgumentInfo> arguments(FamilyId family,
                                                    std::span<const std::int64_t> size) const {
    const tuner_argument_info* infos = nullptr;
    std::size_t count = 0;
    dispatch::require(tuner_arguments(handle(), number(family), size.data(), size.size(),
                                      sizeof(tuner_argument_info), &infos, &count));
    std::vector<ArgumentInfo> result;
    for (const tuner_argument_info& it : std::span(infos, count)) {
      result.push_back({.name = it.name,
                        .type = static_cast<DispatchArgument::Type>(it.type),
                        .element = it.element,
                        .elements = it.elements,
                        .is_written = it.is_written != 0});
    }
    return result;
  }

  /// What launch() would run. Throws DispatchError when the size is none of the family's, or
  /// nothing can be launched at it.
  /// @param family From family().
  /// @param size One number for each dimension; trailing ones with a default may be omitted.
  /// @return The kernel or the library, and why.
  [[nodiscard]] Answer answer(FamilyId family, std::span<const std::int64_t> size) const {
    tuner_answer_info info{};
    info.struct_size = sizeof(info);
    dispatch::require(tuner_answer(handle(), number(family), size.data(), size.size(), &info));
    return dispatch::answer_of(info);
  }

  /// What served the launches so far. Where all are of tuned sizes, the table was complete for this
  /// program.
  /// @return A count by family, rung and whether the size was tuned.
  [[nodiscard]] std::vector<Served> served() const {
    const tuner_served_info* counts = nullptr;
    std::size_t count = 0;
    dispatch::require(tuner_served(handle(), sizeof(tuner_served_info), &counts, &count));
    std::vector<Served> result;
    for (const tuner_served_info& it : std::span(counts, count)) {
      result.push_back({.family = it.family,
                        .rung = static_cast<Rung>(it.rung),
                        .is_tuned = it.is_tuned != 0,
                        .sizes = it.sizes,
                        .launches = it.launches});
    }
    return result;
  }

  /// Writes the choices in force: what sizes that were prepared or launched lately are served by.
  /// With DispatchMode::pinned another process serves them in the same way, with the same results.
  /// Throws DispatchError when the file cannot be written.
  /// @param file Where they go.
  void pin(const std::filesystem::path& file) const {
    dispatch::require(tuner_pin(handle(), file.c_str()));
  }

  /// Enqueues the best kernel, or the library, on a stream.
  ///
  /// If a buffer has less than the declared alignment, an entry for its actual alignment runs (of
  /// families with a dimension for it, as ALIGN of gemm), else the library, else DispatchError is
  /// thrown. Without a declared alignment, a buffer may begin at any element. A configuration that
  /// cannot be compiled, loaded or launched is not tried again in this process, and the next best
  /// takes its place. Throws DispatchError when nothing can run, when the arguments are not the
  /// family's, when a buffer is null, or when the device has failed.
  /// @param family From family().
  /// @param size One number for each dimension; trailing ones with a default may be omitted.
  /// @param arguments The family's in its order without those that the size decides: every buffer
  ///        and array, and every number whose value in the space file is a constant. For gemm:
  ///        alpha, A, B, beta, C.
  /// @param stream Where the work is enqueued; null is the default stream.
  void launch(FamilyId family, std::span<const std::int64_t> size,
              std::span<const DispatchArgument> arguments, StreamHandle stream = nullptr) {
    dispatch::require(tuner_launch(handle(), number(family), size.data(), size.size(),
                                   of_c(arguments), arguments.size(), stream));
  }

  /// Launches as launch() and writes the launch with its data into a new folder: a space file whose
  /// inputs and right results are those of the launch, for `tune --space`. It waits for the stream.
  /// Throws DispatchError as launch(), where the stream is captured into a graph, and where the
  /// folder exists or cannot be written; in the last two cases the launch is done.
  /// @param family From family().
  /// @param size As of launch().
  /// @param arguments As of launch().
  /// @param folder The new folder. The user alone can read it: it holds the buffers' contents.
  /// @param limit_bytes Most bytes of all buffers; 0: 4 GiB.
  /// @param stream As of launch().
  /// @return The space file.
  std::filesystem::path capture_launch(FamilyId family, std::span<const std::int64_t> size,
                                       std::span<const DispatchArgument> arguments,
                                       const std::filesystem::path& folder,
                                       std::uint64_t limit_bytes = 0,
                                       StreamHandle stream = nullptr) {
    const char* space_file = nullptr;
    dispatch::require(tuner_capture_launch(handle(), number(family), size.data(), size.size(),
                                           of_c(arguments), arguments.size(), stream,
                                           folder.c_str(), limit_bytes, &space_file));
    return space_file;
  }

  /// Takes another state of the table into use while others launch; returns when no launch uses the
  /// old one any more. Throws DispatchError and keeps the old one when it cannot be read. What had
  /// been launched or prepared is prepared again at its first use, mostly from what is loaded.
  /// @param table What was tuned.
  void reload(const Table& table) {
    dispatch::require(tuner_reload(handle(), dispatch::c_table(table.source())));
  }

  /// The dispatcher for calls of the C interface. Throws DispatchError when this was moved from.
  /// @return What tuner_open() made; it is closed with this.
  [[nodiscard]] tuner_dispatcher* handle() const {
    if (handle_ != nullptr) return handle_.get();
    throw DispatchError("this dispatcher was moved from: use the one that it was moved to");
  }

 private:
  [[nodiscard]] static std::uint32_t number(FamilyId family) {
    return static_cast<std::uint32_t>(family);
  }
  /// An argument is a tuner_argument, its only member.
  [[nodiscard]] static const tuner_argument* of_c(std::span<const DispatchArgument> arguments) {
    return reinterpret_cast<const tuner_argument*>(arguments.data());
  }

  std::unique_ptr<tuner_dispatcher, dispatch::CloseDispatcher> handle_;
};

}  // namespace tuner
