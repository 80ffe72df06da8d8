// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/family_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace tuner {
namespace {

/// The widest access of a kernel: that a buffer begins at a multiple of more means nothing to it.
constexpr std::uint64_t kWidestAccessBytes = 16;
/// The most sizes that differ in how their buffers are aligned.
constexpr std::size_t kMostRealignments = 64;

DispatchArgument::Type argument_type(ElementType type) {
  switch (type) {
    // A narrower integer is passed as an int: the kernel takes the low bytes.
    case ElementType::i32:
    case ElementType::i16:
    case ElementType::i8:
      return DispatchArgument::Type::i32;
    case ElementType::u32:
    case ElementType::u16:
    case ElementType::u8:
      return DispatchArgument::Type::u32;
    case ElementType::i64:
    case ElementType::u64:
      return DispatchArgument::Type::i64;
    case ElementType::f32:
      return DispatchArgument::Type::f32;
    case ElementType::f64:
      break;
  }
  return DispatchArgument::Type::f64;
}

std::string_view name(DispatchArgument::Type type) {
  constexpr std::string_view kNames[] = {"pointer", "int",    "unsigned", "long long",
                                         "float",   "double", "array"};
  return kNames[static_cast<std::size_t>(type)];
}

/// None for a number that follows from the size.
std::optional<DispatchArgument::Type> given_type(const Argument& argument) {
  if (std::holds_alternative<BufferArgument>(argument.what)) return DispatchArgument::Type::pointer;
  if (std::holds_alternative<ArrayArgument>(argument.what)) return DispatchArgument::Type::array;
  const auto& scalar = std::get<ScalarArgument>(argument.what);
  if (!scalar.value.slots().empty()) return std::nullopt;
  return argument_type(scalar.type);
}

std::vector<GivenArgument> given_arguments(const std::vector<Argument>& arguments) {
  std::vector<GivenArgument> given;
  for (std::size_t place = 0; place < arguments.size(); ++place) {
    const auto type = given_type(arguments[place]);
    if (type) given.push_back({arguments[place].name, place, *type});
  }
  return given;
}

std::string signature(const ScalarArgument& scalar) {
  return fmt::format("{}={}", name(scalar.type), value_text(scalar));
}
std::string signature(const BufferArgument& buffer) {
  return fmt::format("{}*+{}", name(buffer.type), buffer.offset.text());
}
std::string signature(const ArrayArgument& array) {
  return fmt::format("{}[{}]", name(array.type), array.count.text());
}

/// What two kernels must agree on to be launched with the same arguments at the same sizes.
std::string signature(const Family& family) {
  std::string text = fmt::format("{}", fmt::join(family.problem.dims.names(), ","));
  for (const Argument& argument : family.arguments) {
    text += ";" + std::visit([](const auto& what) { return signature(what); }, argument.what);
  }
  return text;
}

/// The dimensions that are kinds and that some buffer's beginning depends on.
std::vector<std::size_t> alignment_dimensions(const Family& family) {
  const Dimensions& dims = family.problem.dims;
  std::set<std::size_t> found;
  for (const Argument& argument : family.arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    for (const std::size_t slot : buffer->offset.slots()) {
      const std::size_t first = attribute_fields().size();
      if (slot >= first && slot - first < dims.size() && dims[slot - first].is_kind()) {
        found.insert(slot - first);
      }
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace

FamilyTable::FamilyTable(CatalogueOutline outline, StalePolicy policy)
    : catalogue_(std::move(outline), policy),
      family_(stored_family(catalogue_.with_sources(), *catalogue_.with_sources().front()->record)),
      device_(catalogue_.device().attributes),
      given_(given_arguments(family_.arguments)),
      alignment_dims_(alignment_dimensions(family_)) {
  for (const GivenArgument& it : given_) given_types_.push_back(it.type);
  const std::string backend = catalogue_.device().backend;
  const std::vector<const CatalogueKernel*> kernels = catalogue_.with_sources();
  std::map<std::string, Family> families = {{kernels.front()->record->space_text, family_}};
  for (const CatalogueKernel* kernel : kernels) {
    const std::string& text = kernel->record->space_text;
    auto known = families.find(text);
    if (known == families.end()) {
      known = families.emplace(text, stored_family(kernels, *kernel->record)).first;
    }
    if (signature(known->second) != signature(family_)) continue;
    const Kernel& parsed = known->second.kernel(kernel->record->kernel);
    const auto& backends = parsed.backends;
    if (!backends.empty() && std::ranges::find(backends, backend) == backends.end()) continue;
    kernels_.emplace(parsed.name, parsed);
  }
}

const Kernel* FamilyTable::kernel(const std::string& name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : &found->second;
}

Slots FamilyTable::slots(const Size& size) const {
  Slots values;
  for (const AttributeField& field : attribute_fields()) values.push_back(device_.*field.member);
  values.insert(values.end(), size.begin(), size.end());
  return values;
}

void FamilyTable::fail_arguments(std::span<const DispatchArgument> arguments) const {
  std::vector<std::string> wanted;
  std::vector<std::string_view> found;
  for (const GivenArgument& it : given_) {
    wanted.push_back(fmt::format("{} {}", name(it.type), it.name));
  }
  for (const DispatchArgument& it : arguments) found.push_back(name(it.type()));
  throw DispatchError(fmt::format(
      "a launch of {} takes the arguments ({}) and is given ({}): those that follow from the size "
      "are left out, the others stand in the order of the space file with exactly its types",
      family_.name, fmt::join(wanted, ", "), fmt::join(found, ", ")));
}

Size FamilyTable::complete(std::span<const std::int64_t> numbers) const {
  const Dimensions& dims = family_.problem.dims;
  std::vector<std::optional<std::int64_t>> places(dims.size());
  if (numbers.size() < dims.required() || numbers.size() > dims.size()) {
    throw DispatchError(fmt::format("a size of {} has {} to {} numbers ({}), {} are given",
                                    family_.name, dims.required(), dims.size(),
                                    fmt::join(dims.names(), ", "), numbers.size()));
  }
  std::copy(numbers.begin(), numbers.end(), places.begin());
  auto size = dims.complete(places);
  if (size) return *std::move(size);
  throw DispatchError(fmt::format("{} cannot be a size of {}: {}", fmt::join(numbers, ","),
                                  family_.name, size.error()));
}

AlignmentClaim FamilyTable::claim(const Size& size) const {
  const Slots values = slots(size);
  AlignmentClaim claim;
  for (const GivenArgument& it : given_) {
    const auto* const buffer = std::get_if<BufferArgument>(&family_.arguments[it.place].what);
    if (buffer == nullptr) {
      claim.push_back(0);
      continue;
    }
    const auto offset = buffer->offset.evaluate(values);
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(offset ? *offset : 1) * size_bytes(buffer->type);
    const std::uint64_t multiple = bytes == 0 ? kWidestAccessBytes : bytes & (~bytes + 1);
    claim.push_back(std::min(multiple, kWidestAccessBytes) - 1);
  }
  return claim;
}

std::vector<Realignment> FamilyTable::realignments(const Size& size) const {
  const Dimensions& dims = family_.problem.dims;
  std::vector<Size> sizes = {size};
  for (const std::size_t dim : alignment_dims_) {
    std::vector<Size> more;
    for (Size each : sizes) {
      for (const std::int64_t value : dims[dim].values) {
        each[dim] = value;
        if (more.size() < kMostRealignments) more.push_back(each);
      }
    }
    sizes = std::move(more);
  }
  std::vector<Realignment> result;
  for (const Size& each : sizes) {
    const std::vector<std::optional<std::int64_t>> numbers(each.begin(), each.end());
    if (each != size && dims.complete(numbers)) result.push_back({each, claim(each)});
  }
  std::ranges::stable_sort(result, std::greater(), [](const Realignment& it) {
    return std::accumulate(it.claim.begin(), it.claim.end(), std::uint64_t{0});
  });
  return result;
}

SizeSlot& FamilyTable::slot(std::span<const std::int64_t> size) {
  if (SizeSlot* const known = find(size)) return *known;
  Size whole = complete(size);
  const std::scoped_lock lock(mutex_);
  SizeSlot* slot = find(whole);
  if (slot == nullptr) {
    slot = &all_slots_.emplace_back();
    slot->text = canonical_size(whole, family_.problem.dims);
    slot->claim = claim(whole);
    slot->realignments = realignments(whole);
    slot->size = std::move(whole);
    slots_.put(slot->size, slot);
  }
  if (size.size() < slot->size.size()) slots_.put(size, slot);
  return *slot;
}

}  // namespace tuner
