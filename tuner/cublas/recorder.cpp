// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/recorder.hpp"

#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/cublas/call_log.hpp"
#include "tuner/cublas/settings.hpp"
#include "tuner/family/recorded_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unistd.h>

namespace tuner::cublas {
namespace {

/// To time a call takes up to 5 us of a thread and of the device.
constexpr std::chrono::microseconds kBetweenTimed{250};
/// Of a product, whatever the time since the last one: the first call is none, because cuBLAS then
/// loads its kernels.
constexpr std::uint64_t kFirstTimed = 2;
constexpr std::uint64_t kLastTimedEarly = 4;
constexpr std::chrono::seconds kBetweenWrites{5};
constexpr std::size_t kMostRows = 10'000;

/// The alignment of an address in units of 4 bytes: 1, also for less, 2 or 4.
std::int64_t alignment(const Operand& operand) {
  const auto address = reinterpret_cast<std::uintptr_t>(operand.data) / 4 | 4;
  return std::int64_t{1} << std::countr_zero(address);
}

/// By cudaDataType_t.
std::string type_name(std::int64_t type) {
  for (const ElementType element : kElementTypes) {
    if (row(element).cuda.value == type) return std::string(row(element).short_name);
  }
  return fmt::format("type {}", type);
}

}  // namespace

Recorder::Recorder()
    : Recorder(backend::open_application(settings().backend), settings().recording) {
  if (folder_.empty()) {
    throw Error(ErrorCode::usage, "TUNER_CUBLAS=record needs a folder in TUNER_CUBLAS_RECORDING");
  }
}

std::size_t Recorder::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = 0;
  for (const std::int64_t number : key) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

Recorder::Key Recorder::key_of(const ProductCall& call, std::optional<PassReason> objection) {
  const auto types = std::array{call.a.type, call.b.type, call.c.type};
  return {reinterpret_cast<std::intptr_t>(call.function.data()),
          call.op_a,
          call.op_b,
          call.m,
          call.n,
          call.k,
          call.batch,
          call.a.ld,
          call.b.ld,
          call.c.ld,
          std::min({alignment(call.a), alignment(call.b), alignment(call.c)}),
          types[0],
          types[1],
          types[2],
          call.epilogue,
          objection ? static_cast<std::int64_t>(*objection) + 1 : 0};
}

std::optional<backend::StreamMark> Recorder::begin(const ProductCall& call,
                                                   backend::StreamHandle stream,
                                                   std::optional<PassReason> objection) {
  const Key key = key_of(call, objection);
  const bool is_captured = application_->is_capturing(stream);
  const auto now = Clock::now();
  std::uint64_t tag = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (device_.empty())
      device_ = application_->device_name(application_->current_device().value_or(0));
    const auto known = rows_.find(key);
    if (known == rows_.end() && rows_.size() >= kMostRows) return std::nullopt;
    Row& row = known == rows_.end() ? rows_[key] : known->second;
    row.function = call.function;
    ++row.count;
    if (is_captured) ++row.captured;
    const bool early = row.count >= kFirstTimed && row.count <= kLastTimedEarly;
    if (is_captured || (!early && now - last_timed_ < kBetweenTimed) || row.count < kFirstTimed) {
      return std::nullopt;
    }
    last_timed_ = now;
    tag = reinterpret_cast<std::uintptr_t>(&row);  // where it stays
  }
  return application_->begin(stream, tag);
}

void Recorder::end(const backend::StreamMark& mark, backend::StreamHandle stream) {
  application_->end(mark, stream);
  const auto now = Clock::now();
  {
    const std::scoped_lock lock(mutex_);
    take_times();
    if (now - last_written_ < kBetweenWrites) return;
    last_written_ = now;
  }
  write();
}

void Recorder::take_times() {
  for (const auto& [tag, ns] : application_->finished()) {
    Row& row = *reinterpret_cast<Row*>(static_cast<std::uintptr_t>(tag));
    ++row.timed;
    row.timed_ns += ns;
  }
}

void Recorder::write() noexcept {
  try {
    family::RecordedCalls calls;
    {
      const std::scoped_lock lock(mutex_);
      take_times();
      calls.device = device_;
      for (const auto& [key, row] : rows_) {
        const auto reason = static_cast<std::size_t>(key[15]);
        const Epilogue epilogue = epilogue_of(static_cast<cublasLtEpilogue_t>(key[14]),
                                              static_cast<cudaDataType>(key[11]))
                                      .value_or(Epilogue{});
        // By rows: what is A to cuBLAS is B here (by_rows says why).
        calls.products.push_back(
            {.function = std::string(row.function),
             .type = key[11] == key[12] && key[12] == key[13]
                         ? type_name(key[11])
                         : fmt::format("{},{},{}", type_name(key[12]), type_name(key[11]),
                                       type_name(key[13])),
             .m = key[4],
             .n = key[3],
             .k = key[5],
             .batch = key[6],
             .trans_a = key[2] != CUBLAS_OP_N,
             .trans_b = key[1] != CUBLAS_OP_N,
             .lda = key[8],
             .ldb = key[7],
             .ldc = key[9],
             .align = key[10],
             .epilogue = static_cast<std::int64_t>(key[14]),
             .bias = static_cast<std::int64_t>(epilogue.bias),
             .activation = static_cast<std::int64_t>(epilogue.activation),
             .objection = reason == 0 ? "" : std::string(name(static_cast<PassReason>(reason - 1))),
             .count = row.count,
             .captured = row.captured,
             .timed = row.timed,
             .timed_ns = row.timed_ns});
      }
    }
    if (calls.products.empty()) return;
    write_file(folder_ / fmt::format("{}.json", ::getpid()), family::recorded_calls_json(calls));
  } catch (const std::exception& error) {
    write_line_once(fmt::format("the recording cannot be written: {}", error.what()));
  } catch (...) {  // no memory: the next one may have some
  }
}

}  // namespace tuner::cublas
