// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/executor.hpp"
#include "tuner/capture/capture_folder.hpp"
#include "tuner/dispatch/c_interface.hpp"
#include "tuner/dispatch/dispatch.h"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/known_struct.hpp"
#include "tuner/dispatch/settings.hpp"

#include <fmt/format.h>

#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using tuner::Answer;
using tuner::ArgumentInfo;
using tuner::ChooseBy;
using tuner::CompileIn;
using tuner::DispatchArgument;
using tuner::DispatchError;
using tuner::DispatchMode;
using tuner::DispatchOptions;
using tuner::FamilyId;
using tuner::Preparation;
using tuner::Served;
using tuner::Size;
using tuner::StalePolicy;
using tuner::Table;
using tuner::dispatch::Engine;
using tuner::dispatch::engine_of;
using tuner::dispatch::ShownArray;

thread_local std::string last_error;

/// Runs a call; what it throws becomes the thread's last error.
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
  if (pointer == nullptr) throw DispatchError(fmt::format("{} is NULL", name));
  return *pointer;
}

template <class T>
std::span<T> numbers(T* first, std::size_t count, const char* name) {
  if (count > 0) static_cast<void>(required(first, name));
  return {first, count};
}

/// As the enumeration of C++, whose enumerators have the values of C's. Throws DispatchError for a
/// number behind the last one.
template <class Enumeration>
Enumeration enumerator(auto value, auto last, const char* name) {
  const auto number = static_cast<unsigned>(value);
  if (number <= static_cast<unsigned>(last)) return static_cast<Enumeration>(number);
  throw DispatchError(
      fmt::format("{} is {}, none of 0 to {}", name, number, static_cast<unsigned>(last)));
}

Table table_of(const tuner_table& table) {
  switch (table.kind) {
    case TUNER_TABLE_DATABASE:
      return Table::database(table.source == nullptr ? "" : table.source);
    case TUNER_TABLE_FILE:
      return Table::file(&required(table.source, "the table's path"));
    case TUNER_TABLE_TEXT:
      return Table::text(&required(table.source, "the table's text"));
    case TUNER_TABLE_NONE:
      return Table::none();
  }
  throw DispatchError(fmt::format("unknown kind of table: {}", static_cast<unsigned>(table.kind)));
}

DispatchOptions options_of(const tuner_options* given) {
  DispatchOptions chosen;
  if (given == nullptr) return chosen;
  tuner_options copy;
  const tuner_options& options =
      tuner::dispatch::known_struct(*given, copy, "tuner_options.struct_size");
  if (options.backend != nullptr) chosen.backend = options.backend;
  chosen.device = options.device;
  if (options.refuse_stale != 0) chosen.stale = StalePolicy::refuse;
  if (options.cache != nullptr) chosen.cache = options.cache;
  chosen.compile_in =
      enumerator<CompileIn>(options.compile_in, TUNER_COMPILE_IN_PROCESS, "compile_in");
  chosen.mode = enumerator<DispatchMode>(options.mode, TUNER_MODE_PINNED, "mode");
  if (options.pins != nullptr) chosen.pins = options.pins;
  if (options.compile_deadline_s < 0) throw DispatchError("compile_deadline_s is negative");
  if (options.compile_deadline_s > 0) {
    chosen.compile_deadline = std::chrono::seconds(options.compile_deadline_s);
  }
  if (options.compile_memory_bytes > 0) {
    chosen.compile_memory_bytes = options.compile_memory_bytes;
  }
  return chosen;
}

/// An argument of C++ is a tuner_argument, its only member. Types are checked by the family.
std::span<const DispatchArgument> arguments_of(const tuner_argument* first, std::size_t count) {
  static_cast<void>(numbers(first, count, "arguments"));
  return {reinterpret_cast<const DispatchArgument*>(first), count};
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  return text;
}

/// A product of floats, whose leading dimensions are as they are given.
tuner_gemm_problem floats(tuner_transpose trans_a, tuner_transpose trans_b, int64_t m, int64_t n,
                          int64_t k, int64_t lda, int64_t ldb, int64_t ldc) {
  tuner_gemm_problem problem{};
  problem.trans_a = trans_a;
  problem.trans_b = trans_b;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.lda = lda;
  problem.ldb = ldb;
  problem.ldc = ldc;
  problem.batch = 1;
  return problem;
}

const tuner_gemm_problem& known_problem(const tuner_gemm_problem* given, tuner_gemm_problem& copy) {
  return tuner::dispatch::known_struct(required(given, "problem"), copy,
                                       "tuner_gemm_problem.struct_size");
}

template <class Dispatcher>
auto& usable_engine(Dispatcher* dispatcher) {
  auto& engine = required(dispatcher, "dispatcher").engine;
  if (engine.is_of_this_process()) return engine;
  throw DispatchError(
      "this dispatcher was opened before the process was forked and belongs to the parent: open "
      "another one after the fork");
}

}  // namespace

Engine& tuner::dispatch::engine_of(tuner_dispatcher* dispatcher) {
  return usable_engine(dispatcher);
}

const Engine& tuner::dispatch::engine_of(const tuner_dispatcher* dispatcher) {
  return usable_engine(dispatcher);
}

extern "C" {

const char* tuner_last_error(void) {
  return last_error.c_str();
}

tuner_status tuner_open(tuner_table table, const tuner_options* options,
                        tuner_dispatcher** dispatcher) {
  return guarded([&] {
    tuner_dispatcher*& opened = required(dispatcher, "dispatcher");
    const DispatchOptions chosen = options_of(options);
    opened =
        new tuner_dispatcher{Engine(tuner::backend::open_executor(chosen.backend, chosen.device),
                                    table_of(table), chosen, tuner::dispatch::dispatch_settings())};
  });
}

// In a process that was forked since, nothing is closed: what that would wait for, and whose memory
// it would free, are the other process's.
void tuner_close(tuner_dispatcher* dispatcher) {
  if (dispatcher != nullptr && dispatcher->engine.is_of_this_process()) delete dispatcher;
}

tuner_status tuner_reload(tuner_dispatcher* dispatcher, tuner_table table) {
  return guarded([&] { engine_of(dispatcher).reload(table_of(table)); });
}

tuner_status tuner_find_family(const tuner_dispatcher* dispatcher, const char* name,
                               uint32_t* family) {
  bool is_unknown = false;
  const tuner_status status = guarded([&] {
    const Engine& engine = engine_of(dispatcher);
    uint32_t& number = required(family, "family");
    const auto known = engine.find_family(&required(name, "the family's name"));
    is_unknown = !known;
    number = static_cast<uint32_t>(known ? *known : engine.family(name));
  });
  return is_unknown ? TUNER_NO_FAMILY : status;
}

tuner_status tuner_prepare(tuner_dispatcher* dispatcher, uint32_t family, const tuner_size* sizes,
                           size_t count, tuner_choose_by choose_by, const char* const** errors) {
  return guarded([&] {
    static thread_local std::vector<Preparation> done;
    static thread_local std::vector<const char*> texts;
    if (errors != nullptr) *errors = nullptr;
    std::vector<Size> wanted;
    for (const tuner_size& size : numbers(sizes, count, "sizes")) {
      const auto all = numbers(size.numbers, size.dimensions, "a size");
      wanted.emplace_back(all.begin(), all.end());
    }
    done = engine_of(dispatcher)
               .prepare(FamilyId{family}, wanted,
                        enumerator<ChooseBy>(choose_by, TUNER_CHOOSE_BY_MEASUREMENT, "choose_by"));
    texts.clear();
    std::string problems;
    for (const Preparation& it : done) {
      texts.push_back(it.error.c_str());
      if (!it.answer) problems += (problems.empty() ? "" : "\n") + it.error;
    }
    if (errors != nullptr) *errors = texts.data();
    if (!problems.empty()) throw DispatchError(problems);
  });
}

tuner_status tuner_served(const tuner_dispatcher* dispatcher, size_t element_size,
                          const tuner_served_info** served, size_t* count) {
  return guarded([&] {
    static thread_local std::vector<Served> last;
    static thread_local ShownArray<tuner_served_info> shown;
    const tuner_served_info*& first = required(served, "served");
    size_t& number = required(count, "count");
    last = engine_of(dispatcher).served();
    std::vector<tuner_served_info> infos;
    for (const Served& it : last) {
      infos.push_back({.family = it.family.c_str(),
                       .rung = static_cast<tuner_rung>(it.rung),
                       .is_tuned = static_cast<int>(it.is_tuned),
                       .sizes = it.sizes,
                       .launches = it.launches});
    }
    first = shown.show(std::move(infos), element_size);
    number = last.size();
  });
}

tuner_status tuner_pin(const tuner_dispatcher* dispatcher, const char* file) {
  return guarded([&] { engine_of(dispatcher).pin(&required(file, "the file's path")); });
}

tuner_status tuner_answer(const tuner_dispatcher* dispatcher, uint32_t family, const int64_t* size,
                          size_t dimensions, tuner_answer_info* answer) {
  return guarded([&] {
    static thread_local Answer last;
    static thread_local std::string explanation;
    tuner_answer_info& to = required(answer, "answer");
    last = engine_of(dispatcher).answer(FamilyId{family}, numbers(size, dimensions, "size"));
    explanation = lines(last.explanation);
    const tuner_answer_info info{.struct_size = sizeof(tuner_answer_info),
                                 .rung = static_cast<tuner_rung>(last.rung),
                                 .kernel = last.kernel.c_str(),
                                 .configuration = last.configuration.c_str(),
                                 .explanation = explanation.c_str(),
                                 .expected_ns = last.expected_ns.value_or(-1),
                                 .distance = last.distance,
                                 .prepared = static_cast<int>(last.prepared),
                                 .saved_ns = last.saved_ns};
    tuner::dispatch::give_struct(info, to, "tuner_answer_info.struct_size");
  });
}

tuner_status tuner_parse_size(const tuner_dispatcher* dispatcher, uint32_t family, const char* text,
                              const int64_t** size, size_t* dimensions) {
  return guarded([&] {
    static thread_local Size last;
    const int64_t*& first = required(size, "size");
    size_t& number = required(dimensions, "dimensions");
    last = engine_of(dispatcher).parse_size(FamilyId{family}, &required(text, "the size's text"));
    first = last.data();
    number = last.size();
  });
}

tuner_status tuner_arguments(const tuner_dispatcher* dispatcher, uint32_t family,
                             const int64_t* size, size_t dimensions, size_t element_size,
                             const tuner_argument_info** arguments, size_t* count) {
  return guarded([&] {
    static thread_local std::vector<ArgumentInfo> last;
    static thread_local ShownArray<tuner_argument_info> shown;
    const tuner_argument_info*& first = required(arguments, "arguments");
    size_t& number = required(count, "count");
    last = engine_of(dispatcher).arguments(FamilyId{family}, numbers(size, dimensions, "size"));
    std::vector<tuner_argument_info> infos;
    for (const ArgumentInfo& it : last) {
      infos.push_back({.name = it.name.c_str(),
                       .type = static_cast<tuner_argument_type>(it.type),
                       .element = it.element.c_str(),
                       .elements = it.elements,
                       .is_written = static_cast<int>(it.is_written)});
    }
    first = shown.show(std::move(infos), element_size);
    number = last.size();
  });
}

tuner_status tuner_launch(tuner_dispatcher* dispatcher, uint32_t family, const int64_t* size,
                          size_t dimensions, const tuner_argument* arguments, size_t count,
                          tuner_stream stream) {
  return guarded([&] {
    engine_of(dispatcher)
        .launch(FamilyId{family}, numbers(size, dimensions, "size"), arguments_of(arguments, count),
                stream);
  });
}

tuner_status tuner_capture_launch(tuner_dispatcher* dispatcher, uint32_t family,
                                  const int64_t* size, size_t dimensions,
                                  const tuner_argument* arguments, size_t count,
                                  tuner_stream stream, const char* folder, uint64_t limit_bytes,
                                  const char** space_file) {
  return guarded([&] {
    static thread_local std::string last;
    last =
        engine_of(dispatcher)
            .capture_launch(FamilyId{family}, numbers(size, dimensions, "size"),
                            arguments_of(arguments, count), stream, &required(folder, "the folder"),
                            limit_bytes == 0 ? tuner::capture::kDefaultLimitBytes : limit_bytes)
            .string();
    if (space_file != nullptr) *space_file = last.c_str();
  });
}

tuner_status tuner_sgemm(tuner_dispatcher* dispatcher, tuner_stream stream, tuner_transpose trans_a,
                         tuner_transpose trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                         const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
                         float* c, int64_t ldc) {
  return guarded([&] {
    multiply_floats(engine_of(dispatcher), stream, floats(trans_a, trans_b, m, n, k, lda, ldb, ldc),
                    alpha, a, b, beta, c);
  });
}

tuner_status tuner_sgemm_strided_batched(tuner_dispatcher* dispatcher, tuner_stream stream,
                                         tuner_transpose trans_a, tuner_transpose trans_b,
                                         int64_t m, int64_t n, int64_t k, float alpha,
                                         const float* a, int64_t lda, int64_t stride_a,
                                         const float* b, int64_t ldb, int64_t stride_b, float beta,
                                         float* c, int64_t ldc, int64_t stride_c, int64_t batch) {
  return guarded([&] {
    tuner_gemm_problem problem = floats(trans_a, trans_b, m, n, k, lda, ldb, ldc);
    problem.batch = batch;
    problem.stride_a = stride_a;
    problem.stride_b = stride_b;
    problem.stride_c = stride_c;
    multiply_floats(engine_of(dispatcher), stream, problem, alpha, a, b, beta, c);
  });
}

tuner_status tuner_gemm(tuner_dispatcher* dispatcher, tuner_stream stream,
                        const tuner_gemm_problem* problem, double alpha, const void* a,
                        const void* b, double beta, void* c) {
  return guarded([&] {
    tuner_gemm_problem copy;
    multiply(engine_of(dispatcher), stream, known_problem(problem, copy), alpha, a, b, beta, c);
  });
}

tuner_status tuner_find_gemm(const tuner_dispatcher* dispatcher, const tuner_gemm_problem* problem,
                             uint32_t* family, const int64_t** size, size_t* dimensions) {
  return guarded([&] {
    static thread_local Size last;
    uint32_t& its_family = required(family, "family");
    const int64_t*& first = required(size, "size");
    std::size_t& number = required(dimensions, "dimensions");
    tuner_gemm_problem copy;
    const auto entry = find_product(engine_of(dispatcher), known_problem(problem, copy));
    last = entry ? entry->size : Size();
    if (entry) its_family = static_cast<uint32_t>(entry->family);
    first = last.data();
    number = last.size();
  });
}

}  // extern "C"
