// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/trial_launches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <utility>

namespace tuner::dispatch {
namespace {

using Content = TrialMemory::Content;

constexpr std::size_t kMostSets = 32;
/// Of several sets together; one set may take more.
constexpr std::size_t kMostTrialBytes = std::size_t{2} << 30;

constexpr std::array<std::byte, family::kMostArrayBytes> kZeros{};

std::size_t whole_blocks(std::size_t size_bytes) {
  constexpr std::size_t kAlignment = 256;
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Numbers around zero, of which a device draws as much power as of those of applications.
std::vector<std::byte> random_numbers(ElementType type) {
  constexpr std::size_t kNumbers = 1 << 15;
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> uniform(-2, 2);
  const std::size_t size_bytes = family::element_bytes(type);
  std::vector<std::byte> bytes(kNumbers * size_bytes);
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const double number = uniform(random) + uniform(random);
    const std::uint64_t bits = family::is_floating(type)
                                   ? family::bits_of(type, number)
                                   : static_cast<std::uint64_t>(std::llround(number));
    std::memcpy(bytes.data() + i * size_bytes, &bits, size_bytes);
  }
  return bytes;
}

DispatchArgument number(DispatchArgument::Type type, std::int64_t value) {
  switch (type) {
    case DispatchArgument::Type::i32:
      return static_cast<std::int32_t>(value);
    case DispatchArgument::Type::u32:
      return static_cast<std::uint32_t>(value);
    case DispatchArgument::Type::f32:
      return static_cast<float>(value);
    case DispatchArgument::Type::f64:
      return static_cast<double>(value);
    default:
      return value;
  }
}

/// A buffer of a launch: a part of a block of memory.
struct TrialBuffer {
  Content content = Content::outputs;
  ElementType type{};
  std::size_t skipped_bytes = 0;  ///< before its first element
  std::size_t size_bytes = 0;
  std::size_t offset = 0;  ///< in the part of a set
  bool is_updated = false;
};

/// What a launch is given, but for where its buffers lie.
struct TrialShape {
  std::vector<DispatchArgument> values;             ///< null where there is a buffer
  std::vector<std::optional<TrialBuffer>> buffers;  ///< by argument
  /// Bytes of a set, by block.
  std::map<std::pair<Content, ElementType>, std::size_t> set_bytes;

  [[nodiscard]] std::size_t all_bytes() const {
    std::size_t sum = 0;
    for (const auto& [block, bytes] : set_bytes) sum += bytes;
    return sum;
  }
};

/// Numbers where any may stand in a buffer, as they may not in one of places of others.
Content content_of(const family::BufferArgument& buffer) {
  if (buffer.role != family::BufferRole::input) return Content::outputs;
  return buffer.fill.kind == family::FillKind::normal ? Content::numbers : Content::zeros;
}

std::optional<TrialBuffer> trial_buffer(const family::BufferArgument& buffer,
                                        const space::ExpressionValues& values) {
  const auto count = buffer.count.evaluate(values);
  const auto offset = buffer.offset.evaluate(values);
  if (!count || !offset || *count < 0 || *offset < 0) return std::nullopt;
  const ElementType type = buffer.type.at(values);
  const Content content = content_of(buffer);
  return TrialBuffer{.content = content,
                     .type = content == Content::numbers ? type : ElementType{},
                     .skipped_bytes = family::bytes_of(type, *offset),
                     .size_bytes = family::bytes_of(type, *count),
                     .is_updated = buffer.role == family::BufferRole::inout};
}

Unexpected<Failure> no_value(const std::string& argument) {
  return Unexpected(
      Failure{Outcome::launch_error, "an expression of " + argument + " has no value"});
}

Expected<TrialShape, Failure> trial_shape(const FamilyTable& family, const space::Size& size) {
  TrialShape shape;
  const space::ExpressionValues values = family.expression_values(size);
  const std::vector<DispatchArgument::Type> types = family.given_types(size);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const GivenArgument& given = family.given()[i];
    const auto& what = family.family().arguments[given.place].what;
    shape.buffers.emplace_back();
    if (const auto* const scalar = std::get_if<family::ScalarArgument>(&what)) {
      const auto value = scalar->value.evaluate(values);
      if (!value) return no_value(given.name);
      shape.values.push_back(number(types[i], *value));
    } else if (std::holds_alternative<family::ArrayArgument>(what)) {
      shape.values.push_back(DispatchArgument::array(kZeros.data()));
    } else {
      auto buffer = trial_buffer(std::get<family::BufferArgument>(what), values);
      if (!buffer) return no_value(given.name);
      std::size_t& set_bytes = shape.set_bytes[{buffer->content, buffer->type}];
      buffer->offset = set_bytes;
      set_bytes +=
          whole_blocks(std::max<std::size_t>(buffer->skipped_bytes + buffer->size_bytes, 1));
      shape.values.emplace_back(nullptr);
      shape.buffers.back() = buffer;
    }
  }
  return shape;
}

/// How many sets are read and written before a cache has lost all of the first.
std::size_t sets_of(const TrialShape& shape, std::int64_t cache_bytes) {
  constexpr std::size_t kCaches = 3;
  const std::size_t bytes = std::max<std::size_t>(shape.all_bytes(), 1);
  const std::size_t cold = kCaches * static_cast<std::size_t>(cache_bytes) / bytes + 2;
  return std::clamp<std::size_t>(std::min(cold, kMostTrialBytes / bytes), 1, kMostSets);
}

/// Where the blocks for so many sets begin.
Expected<std::map<std::pair<Content, ElementType>, std::byte*>, Failure> blocks_for(
    TrialMemory& memory, const TrialShape& shape, std::size_t sets) {
  std::map<std::pair<Content, ElementType>, std::byte*> blocks;
  for (const auto& [block, bytes] : shape.set_bytes) {
    const auto begin = memory.get(block.first, block.second, sets * bytes);
    if (!begin) return Unexpected(begin.error());
    blocks[block] = *begin;
  }
  return blocks;
}

}  // namespace

Expected<std::byte*, Failure> TrialMemory::get(Content content, ElementType type,
                                               std::size_t size_bytes) {
  Block& block = blocks_[{content, type}];
  if (block.size_bytes < size_bytes) {
    block = {};  // before there are two
    auto memory = executor_.memory(size_bytes);
    if (!memory) return Unexpected(memory.error());
    if (content == Content::numbers) {
      auto done = executor_.repeat(random_numbers(type), memory->get(), size_bytes);
      if (!done) return Unexpected(done.error());
    }
    block = {.memory = *std::move(memory), .size_bytes = size_bytes};
  }
  return static_cast<std::byte*>(block.memory.get());
}

Expected<TrialLaunches, Failure> TrialLaunches::make(backend::Executor& executor,
                                                     TrialMemory& memory, const FamilyTable& family,
                                                     const space::Size& size) {
  const auto shape = trial_shape(family, size);
  if (!shape) return Unexpected(shape.error());
  std::size_t sets = sets_of(*shape, executor.device().attributes.l2_bytes);
  auto blocks = blocks_for(memory, *shape, sets);
  if (!blocks && sets > 1) blocks = blocks_for(memory, *shape, sets = 1);
  if (!blocks) return Unexpected(blocks.error());
  TrialLaunches launches;
  for (std::size_t set = 0; set < sets; ++set) {
    std::vector<DispatchArgument>& arguments = launches.sets_.emplace_back(shape->values);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::optional<TrialBuffer>& buffer = shape->buffers[i];
      if (!buffer) continue;
      const std::pair block(buffer->content, buffer->type);
      std::byte* const begin = blocks->at(block) + set * shape->set_bytes.at(block) +
                               buffer->offset + buffer->skipped_bytes;
      arguments[i] = static_cast<const void*>(begin);
      if (buffer->is_updated) launches.updated_.push_back({begin, buffer->size_bytes});
    }
  }
  return launches;
}

}  // namespace tuner::dispatch
