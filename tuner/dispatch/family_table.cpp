// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/family_table.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/stored_family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tuner::dispatch {
namespace {

/// The most sizes that differ in how their buffers are aligned.
constexpr std::size_t kMostRealignments = 64;

/// How an application passes a number: a narrower integer as an int, of which the kernel takes the
/// low bytes.
DispatchArgument::Type argument_type(family::ElementType type) {
  using enum DispatchArgument::Type;
  const bool is_wide = family::bits(type) == 64;
  if (family::is_floating(type)) return is_wide ? f64 : f32;
  if (is_wide) return i64;
  return family::integer_range(type).least < 0 ? i32 : u32;
}

std::string_view name(DispatchArgument::Type type) {
  constexpr std::string_view kNames[] = {"pointer", "int",    "unsigned", "long long",
                                         "float",   "double", "array"};
  const auto place = static_cast<std::size_t>(type);
  return place < std::size(kNames) ? kNames[place] : "an unknown type";
}

/// None for a number that follows from the size.
std::optional<DispatchArgument::Type> given_type(const family::Argument& argument,
                                                 const space::ExpressionValues& values) {
  if (std::holds_alternative<family::BufferArgument>(argument.what))
    return DispatchArgument::Type::pointer;
  if (std::holds_alternative<family::ArrayArgument>(argument.what))
    return DispatchArgument::Type::array;
  const auto& scalar = std::get<family::ScalarArgument>(argument.what);
  if (!scalar.value.slots().empty()) return std::nullopt;
  return argument_type(scalar.type.at(values));
}

/// Those of a family at a size, of which only the types depend on it.
std::vector<GivenArgument> given_arguments(const std::vector<family::Argument>& arguments,
                                           const space::ExpressionValues& values) {
  std::vector<GivenArgument> given;
  for (std::size_t place = 0; place < arguments.size(); ++place) {
    const auto type = given_type(arguments[place], values);
    if (type) given.push_back({arguments[place].name, place, *type});
  }
  return given;
}

std::string signature(const family::ScalarArgument& scalar) {
  return fmt::format("{}={}", scalar.type.text(), family::value_text(scalar));
}
std::string signature(const family::BufferArgument& buffer) {
  return fmt::format("{}*+{}", buffer.type.text(), buffer.offset.text());
}
std::string signature(const family::ArrayArgument& array) {
  return fmt::format("{}[{}]", array.type.text(), array.count.text());
}

/// What two kernels must agree on to be launched with the same arguments at the same sizes.
std::string signature(const family::Family& family) {
  std::string text = fmt::format("{}", fmt::join(family.problem.dims.names(), ","));
  for (const family::Argument& argument : family.arguments) {
    text += ";" + std::visit([](const auto& what) { return signature(what); }, argument.what);
  }
  return text;
}

/// The dimensions that are kinds and that some buffer's beginning depends on.
std::vector<std::size_t> alignment_dimensions(const family::Family& family) {
  const space::Dimensions& dims = family.problem.dims;
  std::set<std::size_t> found;
  const auto add = [&](const space::Expression& expression) {
    for (const std::size_t slot : expression.slots()) {
      const std::size_t first = space::attribute_fields().size();
      if (slot >= first && slot - first < dims.size() && dims[slot - first].is_kind() &&
          dims[slot - first].types.empty()) {
        found.insert(slot - first);
      }
    }
  };
  for (const family::Argument& argument : family.arguments) {
    const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    add(buffer->offset);
    if (buffer->align) add(*buffer->align);
  }
  return {found.begin(), found.end()};
}

std::vector<const store::KernelRecord*> records_of(const FamilyCatalogue& catalogue) {
  std::vector<const store::KernelRecord*> records;
  for (const select::CatalogueKernel* kernel : catalogue.with_sources()) {
    records.push_back(kernel->record.get());
  }
  return records;
}

/// A size of default kinds; what types of arguments are depends on nothing else.
space::Size default_kinds(const family::Family& family) {
  space::Size size;
  for (const space::Dimension& dimension : family.problem.dims) {
    const auto value = dimension.types.empty() ? Expected<std::int64_t, space::Fault>(1)
                                               : dimension.default_value->evaluate({});
    size.push_back(value ? *value : 1);
  }
  return size;
}

std::string alignments(const std::vector<family::Argument>& arguments) {
  std::string text;
  for (const family::Argument& argument : arguments) {
    const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer != nullptr && buffer->align) text += buffer->align->text();
    text += ";";
  }
  return text;
}

}  // namespace

void FamilyTable::add_shipped(select::CatalogueOutline outline, StalePolicy policy,
                              EpochReclaimer& reclaimer) {
  auto shipped = std::make_unique<const FamilyTable>(std::move(outline), policy, reclaimer);
  const bool same_sizes = shipped->family().problem.dims.names() == family().problem.dims.names();
  const bool same_arguments = std::ranges::equal(
      shipped->given(), given(), [](const GivenArgument& one, const GivenArgument& other) {
        return one.name == other.name && one.place == other.place && one.type == other.type;
      });
  if (same_sizes && same_arguments) shipped_ = std::move(shipped);
}

FamilyTable::FamilyTable(select::CatalogueOutline outline, StalePolicy policy,
                         EpochReclaimer& reclaimer)
    : catalogue_(std::move(outline), policy),
      family_(select::stored_family(records_of(catalogue_), *records_of(catalogue_).front())),
      device_(catalogue_.device().attributes),
      alignment_dims_(alignment_dimensions(family_)),
      slots_(reclaimer) {
  given_ = given_arguments(family_.arguments, expression_values(default_kinds(family_)));
  const std::string backend = catalogue_.device().backend;
  const std::vector<const store::KernelRecord*> records = records_of(catalogue_);
  std::map<std::string, family::Family> families = {{records.front()->space_text, family_}};
  for (const store::KernelRecord* record : records) {
    auto known = families.find(record->space_text);
    if (known == families.end()) {
      known = families.emplace(record->space_text, select::stored_family(records, *record)).first;
    }
    const family::Family& file = known->second;
    select::require_own_code(*record, file);
    if (signature(file) != signature(family_)) continue;
    const family::Kernel& parsed = file.kernel(record->kernel);
    if (!parsed.runs_on(backend)) continue;
    kernels_.emplace(parsed.name, parsed);
    if (std::ranges::none_of(verified_, [&](const auto& it) {
          return alignments(it) == alignments(file.arguments);
        })) {
      verified_.push_back(file.arguments);
    }
  }
}

const family::Kernel* FamilyTable::kernel(const std::string& name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : &found->second;
}

space::ExpressionValues FamilyTable::expression_values(const space::Size& size) const {
  space::ExpressionValues values;
  for (const space::AttributeField& field : space::attribute_fields())
    values.push_back(device_.*field.member);
  values.insert(values.end(), size.begin(), size.end());
  return values;
}

void FamilyTable::fail_arguments(const SizeSlot& slot,
                                 std::span<const DispatchArgument> arguments) const {
  std::vector<std::string> wanted;
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    wanted.push_back(fmt::format("{} {}", name(slot.given_types[i]), given_[i].name));
  }
  for (const DispatchArgument& it : arguments) found.push_back(name(it.type()));
  throw DispatchError(
      fmt::format("a launch of {} takes the arguments ({}) and is given ({}): order and types are "
                  "those of the space file, without the arguments that follow from the size",
                  family_.name, fmt::join(wanted, ", "), fmt::join(found, ", ")));
}

space::Size FamilyTable::complete(std::span<const std::int64_t> numbers) const {
  const space::Dimensions& dims = family_.problem.dims;
  std::vector<std::optional<std::int64_t>> places(dims.size());
  if (numbers.size() < dims.required() || numbers.size() > dims.size()) {
    throw DispatchError(fmt::format("a size of {} has {} numbers ({}), {} are given", family_.name,
                                    dims.required() == dims.size()
                                        ? fmt::to_string(dims.size())
                                        : fmt::format("{} to {}", dims.required(), dims.size()),
                                    fmt::join(dims.names(), ", "), numbers.size()));
  }
  std::copy(numbers.begin(), numbers.end(), places.begin());
  auto size = dims.complete(places);
  if (size) return *std::move(size);
  throw NotServed(fmt::format("{} cannot be a size of {}: {}", fmt::join(numbers, ","),
                              family_.name, size.error()));
}

std::vector<ArgumentInfo> FamilyTable::arguments(std::span<const std::int64_t> size) const {
  const space::ExpressionValues values = expression_values(complete(size));
  std::vector<ArgumentInfo> result;
  for (const GivenArgument& it : given_arguments(family_.arguments, values)) {
    ArgumentInfo& info = result.emplace_back();
    info.name = it.name;
    info.type = it.type;
    const auto add_elements = [&](const auto& elements) {
      info.element = family::name(elements.type.at(values));
      const auto count = elements.count.evaluate(values);
      info.elements = count ? *count : 0;
    };
    const auto& what = family_.arguments[it.place].what;
    if (const auto* const buffer = std::get_if<family::BufferArgument>(&what)) {
      add_elements(*buffer);
      info.is_written = buffer->is_written();
    } else if (const auto* const array = std::get_if<family::ArrayArgument>(&what)) {
      add_elements(*array);
    }
  }
  return result;
}

std::vector<DispatchArgument::Type> FamilyTable::given_types(const space::Size& size) const {
  std::vector<DispatchArgument::Type> types;
  for (const GivenArgument& it : given_arguments(family_.arguments, expression_values(size))) {
    types.push_back(it.type);
  }
  return types;
}

AddressClaim FamilyTable::claim(const space::Size& size) const {
  const space::ExpressionValues values = expression_values(size);
  AddressClaim claim;
  for (const GivenArgument& it : given_) {
    BufferClaim& of_argument = claim.emplace_back();
    const auto& what = family_.arguments[it.place].what;
    if (std::holds_alternative<family::ArrayArgument>(what)) {
      of_argument.unset_bits_less_one = BufferClaim::kNotNull;
    }
    const auto* const buffer = std::get_if<family::BufferArgument>(&what);
    if (buffer == nullptr) continue;
    const auto count = buffer->count.evaluate(values);
    if (!count || *count > 0) of_argument.unset_bits_less_one = BufferClaim::kNotNull;
    for (const std::vector<family::Argument>& arguments : verified_) {
      const auto& verified = std::get<family::BufferArgument>(arguments[it.place].what);
      of_argument.unset_bits |= family::alignment_bytes(verified, it.name, values) - 1;
    }
  }
  return claim;
}

void FamilyTable::check_not_null(const SizeSlot& slot,
                                 std::span<const DispatchArgument> arguments) const {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (slot.claim[i].unset_bits_less_one == 0 || arguments[i].bits() != 0) continue;
    throw DispatchError(
        fmt::format("{} at {}: {} is a null pointer", family_.name, slot.text, given_[i].name));
  }
}

std::string FamilyTable::misalignment(const SizeSlot& slot,
                                      std::span<const DispatchArgument> arguments) const {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const std::uint64_t bits = slot.claim[i].unset_bits;
    if ((arguments[i].bits() & bits) == 0) continue;
    return fmt::format(
        "{} begins at {:#x}, but the kernels were verified at multiples of {} bytes (\"align\" of "
        "the space file, else \"offset\")",
        given_[i].name, arguments[i].bits(), bits + 1);
  }
  return "";
}

std::vector<Realignment> FamilyTable::realignments(const space::Size& size) const {
  const space::Dimensions& dims = family_.problem.dims;
  std::vector<space::Size> sizes = {size};
  for (const std::size_t dim : alignment_dims_) {
    std::vector<space::Size> more;
    for (space::Size each : sizes) {
      for (const std::int64_t value : dims[dim].values) {
        each[dim] = value;
        if (more.size() < kMostRealignments) more.push_back(each);
      }
    }
    sizes = std::move(more);
  }
  std::vector<Realignment> result;
  for (const space::Size& each : sizes) {
    const std::vector<std::optional<std::int64_t>> numbers(each.begin(), each.end());
    if (each != size && dims.complete(numbers)) result.push_back({each, claim(each)});
  }
  std::ranges::stable_sort(result, std::greater(), [](const Realignment& it) {
    return std::transform_reduce(it.claim.begin(), it.claim.end(), std::uint64_t{0}, std::plus(),
                                 [](const BufferClaim& claim) { return claim.unset_bits; });
  });
  return result;
}

bool FamilyTable::is_size(std::span<const std::int64_t> numbers) const {
  std::vector<std::optional<std::int64_t>> places(family_.problem.dims.size());
  if (numbers.size() > places.size()) return false;
  std::ranges::copy(numbers, places.begin());
  return family_.problem.dims.complete(places).has_value();
}

std::shared_ptr<SizeSlot> FamilyTable::slot(std::span<const std::int64_t> size, SlotLife life) {
  if (life == SlotLife::droppable) {
    if (auto known = slots_.get(size)) return known;
  }
  auto slot = std::make_shared<SizeSlot>();
  slot->size = complete(size);
  slot->text = space::canonical_size(slot->size, family_.problem.dims);
  slot->given_types = given_types(slot->size);
  slot->claim = claim(slot->size);
  slot->realignments = realignments(slot->size);
  return slots_.add(std::move(slot), size.size(), life);
}

}  // namespace tuner::dispatch
