// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/dispatch.h"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/gemm.hpp"

#include <array>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct tuner_dispatcher {
  tuner::Dispatcher dispatcher;
};

namespace {

thread_local std::string last_error;

/// Runs a call of the C++ interface; what it throws becomes the thread's last error.
template <class Call>
tuner_status guarded(Call&& call) noexcept {
  try {
    std::forward<Call>(call)();
    return TUNER_OK;
  } catch (const std::exception& error) {
    try {
      last_error = error.what();
    } catch (...) {
      last_error.clear();  // no memory left for its text
    }
  }
  return TUNER_FAILED;
}

/// What a caller gave as a pointer that must not be null.
template <class T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr) throw tuner::DispatchError(std::string(name) + " is NULL");
  return *pointer;
}

template <class T>
std::span<T> numbers(T* first, std::size_t count, const char* name) {
  if (count > 0) static_cast<void>(required(first, name));
  return {first, count};
}

tuner::Table table_of(const tuner_table& table) {
  switch (table.kind) {
    case TUNER_TABLE_DATABASE:
      return tuner::Table::database(table.source == nullptr ? "" : table.source);
    case TUNER_TABLE_FILE:
      return tuner::Table::file(&required(table.source, "the table's path"));
    case TUNER_TABLE_TEXT:
      return tuner::Table::text(&required(table.source, "the table's text"));
    case TUNER_TABLE_NONE:
      return tuner::Table::none();
  }
  throw tuner::DispatchError("unknown kind of table: " +
                             std::to_string(static_cast<int>(table.kind)));
}

tuner::CompileIn compile_in_of(tuner_compile_in where) {
  switch (where) {
    case TUNER_COMPILE_AUTOMATIC:
      return tuner::CompileIn::automatic;
    case TUNER_COMPILE_IN_HELPER:
      return tuner::CompileIn::helper;
    case TUNER_COMPILE_IN_PROCESS:
      return tuner::CompileIn::process;
  }
  throw tuner::DispatchError("unknown compile_in: " + std::to_string(static_cast<int>(where)));
}

tuner::DispatchMode mode_of(tuner_mode mode) {
  switch (mode) {
    case TUNER_MODE_ANY:
      return tuner::DispatchMode::any;
    case TUNER_MODE_EXACT:
      return tuner::DispatchMode::exact;
    case TUNER_MODE_PINNED:
      return tuner::DispatchMode::pinned;
  }
  throw tuner::DispatchError("unknown mode: " + std::to_string(static_cast<int>(mode)));
}

tuner::DispatchOptions options_of(const tuner_options* options) {
  tuner::DispatchOptions chosen;
  if (options == nullptr) return chosen;
  if (options->backend != nullptr) chosen.backend = options->backend;
  chosen.device = options->device;
  if (options->refuse_stale != 0) chosen.stale = tuner::StalePolicy::refuse;
  if (options->cache != nullptr) chosen.cache = options->cache;
  chosen.compile_in = compile_in_of(options->compile_in);
  chosen.mode = mode_of(options->mode);
  if (options->pins != nullptr) chosen.pins = options->pins;
  if (options->compile_deadline_s < 0) throw tuner::DispatchError("compile_deadline_s is negative");
  if (options->compile_deadline_s > 0) {
    chosen.compile_deadline = std::chrono::seconds(options->compile_deadline_s);
  }
  if (options->compile_memory_bytes > 0) {
    chosen.compile_memory_bytes = options->compile_memory_bytes;
  }
  return chosen;
}

tuner_rung rung_of(tuner::Rung rung) {
  switch (rung) {
    case tuner::Rung::exact:
      return TUNER_RUNG_EXACT;
    case tuner::Rung::stale:
      return TUNER_RUNG_STALE;
    case tuner::Rung::nearest:
      return TUNER_RUNG_NEAREST;
    case tuner::Rung::library_tuned:
      return TUNER_RUNG_LIBRARY_TUNED;
    case tuner::Rung::library:
      return TUNER_RUNG_LIBRARY;
    case tuner::Rung::default_config:
      return TUNER_RUNG_DEFAULT;
  }
  return TUNER_RUNG_DEFAULT;
}

tuner_argument_type type_of(tuner::DispatchArgument::Type type) {
  using enum tuner::DispatchArgument::Type;
  switch (type) {
    case pointer:
      return TUNER_POINTER;
    case i32:
      return TUNER_INT;
    case u32:
      return TUNER_UNSIGNED;
    case i64:
      return TUNER_LONG_LONG;
    case f32:
      return TUNER_FLOAT;
    case f64:
      return TUNER_DOUBLE;
    case array:
      return TUNER_ARRAY;
  }
  return TUNER_POINTER;
}

tuner::DispatchArgument argument_of(const tuner_argument& argument) {
  switch (argument.type) {
    case TUNER_POINTER:
      return argument.value.pointer;
    case TUNER_INT:
      return argument.value.i32;
    case TUNER_UNSIGNED:
      return argument.value.u32;
    case TUNER_LONG_LONG:
      return argument.value.i64;
    case TUNER_FLOAT:
      return argument.value.f32;
    case TUNER_DOUBLE:
      return argument.value.f64;
    case TUNER_ARRAY:
      return tuner::DispatchArgument::array(argument.value.pointer);
  }
  throw tuner::DispatchError("unknown type of argument: " +
                             std::to_string(static_cast<int>(argument.type)));
}

/// Arguments as C++ takes them, without memory of their own unless they are very many.
class Arguments {
 public:
  explicit Arguments(std::span<const tuner_argument> arguments) : count_(arguments.size()) {
    if (count_ > few_.size()) many_.resize(count_, nullptr);
    tuner::DispatchArgument* to = many_.empty() ? few_.data() : many_.data();
    for (const tuner_argument& argument : arguments) *to++ = argument_of(argument);
  }

  [[nodiscard]] std::span<const tuner::DispatchArgument> all() const {
    return {many_.empty() ? few_.data() : many_.data(), count_};
  }

 private:
  template <std::size_t... kPlaces>
  static std::array<tuner::DispatchArgument, sizeof...(kPlaces)> nulls(
      std::index_sequence<kPlaces...>) {
    return {((void)kPlaces, tuner::DispatchArgument(nullptr))...};
  }

  std::array<tuner::DispatchArgument, 32> few_ = nulls(std::make_index_sequence<32>());
  std::vector<tuner::DispatchArgument> many_;
  std::size_t count_;
};

void prepare(tuner_dispatcher* dispatcher, uint32_t family, const int64_t* sizes,
             std::size_t dimensions, std::size_t count, tuner::ChooseBy choose_by) {
  const auto all = numbers(sizes, dimensions * count, "sizes");
  std::vector<tuner::Size> wanted;
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = all.subspan(i * dimensions, dimensions);
    wanted.emplace_back(size.begin(), size.end());
  }
  std::string problems;
  for (const tuner::Preparation& done :
       required(dispatcher, "dispatcher")
           .dispatcher.prepare(tuner::FamilyId{family}, wanted, choose_by)) {
    if (!done.answer) problems += (problems.empty() ? "" : "\n") + done.error;
  }
  if (!problems.empty()) throw tuner::DispatchError(problems);
}

tuner::Transpose transpose_of(tuner_transpose transpose) {
  switch (transpose) {
    case TUNER_NO_TRANSPOSE:
      return tuner::Transpose::no;
    case TUNER_TRANSPOSE:
      return tuner::Transpose::yes;
  }
  throw tuner::DispatchError("unknown transposition: " +
                             std::to_string(static_cast<int>(transpose)));
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  return text;
}

}  // namespace

extern "C" {

const char* tuner_last_error(void) {
  return last_error.c_str();
}

tuner_status tuner_open(tuner_table table, const tuner_options* options,
                        tuner_dispatcher** dispatcher) {
  return guarded([&] {
    tuner_dispatcher*& opened = required(dispatcher, "dispatcher");
    opened = new tuner_dispatcher{tuner::Dispatcher(table_of(table), options_of(options))};
  });
}

void tuner_close(tuner_dispatcher* dispatcher) {
  delete dispatcher;
}

tuner_status tuner_reload(tuner_dispatcher* dispatcher, tuner_table table) {
  return guarded([&] { required(dispatcher, "dispatcher").dispatcher.reload(table_of(table)); });
}

tuner_status tuner_find_family(const tuner_dispatcher* dispatcher, const char* name,
                               uint32_t* family) {
  return guarded([&] {
    const tuner::FamilyId id =
        required(dispatcher, "dispatcher").dispatcher.family(&required(name, "the family's name"));
    required(family, "family") = static_cast<uint32_t>(id);
  });
}

tuner_status tuner_prepare(tuner_dispatcher* dispatcher, uint32_t family, const int64_t* sizes,
                           size_t dimensions, size_t count) {
  return guarded(
      [&] { prepare(dispatcher, family, sizes, dimensions, count, tuner::ChooseBy::expectation); });
}

tuner_status tuner_prepare_measured(tuner_dispatcher* dispatcher, uint32_t family,
                                    const int64_t* sizes, size_t dimensions, size_t count) {
  return guarded(
      [&] { prepare(dispatcher, family, sizes, dimensions, count, tuner::ChooseBy::measurement); });
}

tuner_status tuner_served(const tuner_dispatcher* dispatcher, const tuner_served_info** served,
                          size_t* count) {
  return guarded([&] {
    static thread_local std::vector<tuner::Served> counts;
    static thread_local std::vector<tuner_served_info> infos;
    counts = required(dispatcher, "dispatcher").dispatcher.served();
    infos.clear();
    for (const tuner::Served& it : counts) {
      infos.push_back({.family = it.family.c_str(),
                       .rung = rung_of(it.rung),
                       .is_tuned = static_cast<int>(it.is_tuned),
                       .sizes = it.sizes,
                       .launches = it.launches});
    }
    required(served, "served") = infos.data();
    required(count, "count") = infos.size();
  });
}

tuner_status tuner_pin(const tuner_dispatcher* dispatcher, const char* file) {
  return guarded([&] {
    required(dispatcher, "dispatcher").dispatcher.pin(&required(file, "the file's path"));
  });
}

tuner_status tuner_answer(const tuner_dispatcher* dispatcher, uint32_t family, const int64_t* size,
                          size_t dimensions, tuner_answer_info* answer) {
  return guarded([&] {
    thread_local tuner::Answer last;
    thread_local std::string explanation;
    tuner_answer_info& info = required(answer, "answer");
    last = required(dispatcher, "dispatcher")
               .dispatcher.answer(tuner::FamilyId{family}, numbers(size, dimensions, "size"));
    explanation = lines(last.explanation);
    info = {rung_of(last.rung),
            last.kernel.c_str(),
            last.configuration.c_str(),
            explanation.c_str(),
            last.expected_ns.value_or(-1),
            last.distance,
            last.prepared ? 1 : 0,
            last.saved_ns};
  });
}

tuner_status tuner_parse_size(const tuner_dispatcher* dispatcher, uint32_t family, const char* text,
                              const int64_t** size, size_t* dimensions) {
  return guarded([&] {
    thread_local tuner::Size last;
    const int64_t*& first = required(size, "size");
    std::size_t& number = required(dimensions, "dimensions");
    last = required(dispatcher, "dispatcher")
               .dispatcher.parse_size(tuner::FamilyId{family}, &required(text, "the size's text"));
    first = last.data();
    number = last.size();
  });
}

tuner_status tuner_arguments(const tuner_dispatcher* dispatcher, uint32_t family,
                             const int64_t* size, size_t dimensions,
                             const tuner_argument_info** arguments, size_t* count) {
  return guarded([&] {
    thread_local std::vector<tuner::ArgumentInfo> last;
    thread_local std::vector<tuner_argument_info> infos;
    const tuner_argument_info*& first = required(arguments, "arguments");
    std::size_t& number = required(count, "count");
    last = required(dispatcher, "dispatcher")
               .dispatcher.arguments(tuner::FamilyId{family}, numbers(size, dimensions, "size"));
    infos.clear();
    for (const tuner::ArgumentInfo& it : last) {
      infos.push_back({it.name.c_str(), type_of(it.type), it.element.c_str(), it.elements,
                       it.is_written ? 1 : 0});
    }
    first = infos.data();
    number = infos.size();
  });
}

tuner_status tuner_launch(tuner_dispatcher* dispatcher, uint32_t family, const int64_t* size,
                          size_t dimensions, const tuner_argument* arguments, size_t count,
                          tuner_stream stream) {
  return guarded([&] {
    const Arguments converted(numbers(arguments, count, "arguments"));
    required(dispatcher, "dispatcher")
        .dispatcher.launch(tuner::FamilyId{family}, numbers(size, dimensions, "size"),
                           converted.all(), stream);
  });
}

tuner_status tuner_capture_launch(tuner_dispatcher* dispatcher, uint32_t family,
                                  const int64_t* size, size_t dimensions,
                                  const tuner_argument* arguments, size_t count,
                                  tuner_stream stream, const char* folder, uint64_t limit_bytes) {
  return guarded([&] {
    const Arguments converted(numbers(arguments, count, "arguments"));
    required(dispatcher, "dispatcher")
        .dispatcher.capture_launch(tuner::FamilyId{family}, numbers(size, dimensions, "size"),
                                   converted.all(), &required(folder, "the folder"), limit_bytes,
                                   stream);
  });
}

tuner_status tuner_sgemm(tuner_dispatcher* dispatcher, tuner_stream stream, tuner_transpose trans_a,
                         tuner_transpose trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                         const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
                         float* c, int64_t ldc) {
  return guarded([&] {
    tuner::sgemm(required(dispatcher, "dispatcher").dispatcher, stream, transpose_of(trans_a),
                 transpose_of(trans_b), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  });
}

tuner_status tuner_sgemm_strided_batched(tuner_dispatcher* dispatcher, tuner_stream stream,
                                         tuner_transpose trans_a, tuner_transpose trans_b,
                                         int64_t m, int64_t n, int64_t k, float alpha,
                                         const float* a, int64_t lda, int64_t stride_a,
                                         const float* b, int64_t ldb, int64_t stride_b, float beta,
                                         float* c, int64_t ldc, int64_t stride_c, int64_t batch) {
  return guarded([&] {
    tuner::sgemm_strided_batched(required(dispatcher, "dispatcher").dispatcher, stream,
                                 transpose_of(trans_a), transpose_of(trans_b), m, n, k, alpha, a,
                                 lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);
  });
}

}  // extern "C"

namespace {

tuner::Epilogue epilogue_of(const tuner_gemm_problem& problem) {
  return {.bias = static_cast<tuner::Bias>(problem.bias_kind),
          .activation = static_cast<tuner::Activation>(problem.activation),
          .residual = problem.residual != nullptr};
}

tuner::GemmProblem problem_of(const tuner_gemm_problem& it) {
  return tuner::GemmProblem{.type = static_cast<tuner::GemmType>(it.type),
                            .trans_a = transpose_of(it.trans_a),
                            .trans_b = transpose_of(it.trans_b),
                            .m = it.m,
                            .n = it.n,
                            .k = it.k,
                            .lda = it.lda,
                            .ldb = it.ldb,
                            .ldc = it.ldc,
                            .batch = it.batch,
                            .stride_a = it.stride_a,
                            .stride_b = it.stride_b,
                            .stride_c = it.stride_c,
                            .epilogue = epilogue_of(it),
                            .bias = it.bias,
                            .residual = it.residual};
}

}  // namespace

tuner_status tuner_gemm(tuner_dispatcher* dispatcher, tuner_stream stream,
                        const tuner_gemm_problem* problem, double alpha, const void* a,
                        const void* b, double beta, void* c) {
  return guarded([&] {
    tuner::gemm(required(dispatcher, "dispatcher").dispatcher, stream,
                problem_of(required(problem, "problem")), alpha, a, b, beta, c);
  });
}

tuner_status tuner_find_gemm(const tuner_dispatcher* dispatcher, const tuner_gemm_problem* problem,
                             uint32_t* family, const int64_t** size, size_t* dimensions) {
  return guarded([&] {
    thread_local tuner::Size last;
    uint32_t& its_family = required(family, "family");
    const int64_t*& first = required(size, "size");
    std::size_t& number = required(dimensions, "dimensions");
    const auto entry = tuner::find_gemm(required(dispatcher, "dispatcher").dispatcher,
                                        problem_of(required(problem, "problem")));
    last = entry ? entry->size : tuner::Size();
    if (entry) its_family = static_cast<uint32_t>(entry->family);
    first = last.data();
    number = last.size();
  });
}
