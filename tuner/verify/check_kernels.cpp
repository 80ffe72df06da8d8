// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/check_kernels.hpp"

#include "embedded/check_bounds.hpp"
#include "embedded/check_inputs.hpp"
#include "embedded/check_kernels_cu.hpp"
#include "embedded/check_laws.hpp"
#include "embedded/check_numbers.hpp"
#include "embedded/check_parts.hpp"
#include "embedded/check_products.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/source/plain_updates.hpp"
#include "tuner/source/source.hpp"
#include "tuner/verify/poison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <span>

namespace tuner::verify {
namespace {

constexpr std::uint32_t kThreads = 256;  // as kProductThreads of check_products.cuh
constexpr std::int64_t kElementsPerThread = 4;
constexpr std::int64_t kMostBlocks = 1024;
constexpr std::size_t kElementValues = 5;  // what the kernel `pick` writes
constexpr std::size_t kSums = 3;

[[noreturn]] void fail(std::string_view kernel, const Failure& failure) {
  throw Error(ErrorCode::failure,
              fmt::format("the device cannot run the checking kernel {}: {}: {}", kernel,
                          name(failure.outcome), failure.message));
}

std::string of_type(std::string_view kernel, family::ElementType type) {
  return fmt::format("{}<{}>", kernel, family::row(type).short_name);
}

/// What a run that needs this one needs, too: for each type of its data the same kernels. Most of
/// the time of a compilation is that of the headers.
std::vector<std::string> needed_with(const std::string& entry) {
  static constexpr std::array kUsual = {"fill_normal",     "perturb",         "widen",
                                        "add_exponents",   "count_fractions", "count_dependent",
                                        "allow_spread",    "replace_some",    "count_not_finite",
                                        "count_unwritten", "apply_law"};
  static const std::map<std::string, std::vector<std::string>> usual = [] {
    std::map<std::string, std::vector<std::string>> made;
    for (const family::ElementType type : family::kElementTypes) {
      if (!family::is_floating(type)) continue;
      std::vector<std::string> entries;
      for (const char* const kernel : kUsual) entries.push_back(of_type(kernel, type));
      for (const std::string& each : entries) made.emplace(each, entries);
    }
    return made;
  }();
  const auto found = usual.find(entry);
  return found == usual.end() ? std::vector{entry} : found->second;
}

/// The type in check_kernels.cu: what C++ has, else a ShortFloat.
std::string device_type(const family::ElementTypeRow& row) {
  const family::FloatFormat& format = row.format;
  if (row.cpp_name == row.name && row.header.empty()) return std::string(row.cpp_name);
  return fmt::format("ShortFloat<{}, {}, {}, {}, {}>",
                     row.bits == 32   ? "unsigned"
                     : row.bits == 16 ? "unsigned short"
                                      : "unsigned char",
                     format.exponent_bits, format.fraction_bits, format.unused_bits,
                     format.has_infinity);
}

/// The table of data types for check_kernels.cu.
std::string element_types_header() {
  std::string types, list, patterns;
  for (const family::ElementType type : family::kElementTypes) {
    const family::ElementTypeRow& row = family::row(type);
    types += fmt::format("typedef {} {};\n", device_type(row), row.short_name);
    list += fmt::format(" use({}, {})", static_cast<int>(type), row.short_name);
    patterns += "  {";
    for (const PoisonPattern& pattern : poison_patterns(type)) {
      patterns += fmt::format("{{{:#x}ull, {:#x}ull}}, ", pattern.fixed, pattern.free);
    }
    patterns += "},\n";
  }
  return fmt::format(
      "{}#define TUNER_ELEMENT_TYPES(use){}\n__device__ const Pattern kPatterns[][{}] = "
      "{{\n{}}};\n",
      types, list, kPoisonKinds, patterns);
}

std::int64_t largest_part(const CheckedMemory& memory) {
  long long words = 0;
  for (const CheckPart& part : memory.plan().parts) words = std::max(words, part.words);
  return words;
}

std::string inspect_entry(const CheckedMemory& memory) {
  std::set<int> output_types;
  for (const CheckPart& part : memory.plan().parts) {
    if (part.kind == CheckPart::output) output_types.insert(part.type);
  }
  return fmt::format("inspect<{}>", fmt::join(output_types, ", "));
}

/// Below this a result may be flushed to zero by a compiler's option, or be 0 for want of smaller
/// numbers.
double least_normal(family::ElementType type) {
  if (!family::is_floating(type)) return 0;
  return type == family::ElementType::f64 ? std::numeric_limits<double>::min()
                                          : std::max(0x1p-126, family::smallest_number(type));
}

family::Scalar bits(std::uint64_t value) {
  return std::bit_cast<std::int64_t>(value);
}

family::Scalar number_of(family::Law law) {
  return static_cast<std::int32_t>(law);
}

family::Scalar part_count(const CheckedMemory& memory) {
  return static_cast<std::int32_t>(memory.plan().parts.size());
}

}  // namespace

family::CompileJob check_kernels_job(std::vector<std::string> entries) {
  source::KernelSource source{
      .name = "check_kernels.cu", .text = std::string(embedded::check_kernels_cu()), .headers = {}};
  static const std::string types = element_types_header();
  std::vector<std::string_view> content = {source.text};
  for (const auto& [name, text] : {std::pair("check_bounds.cuh", embedded::check_bounds()),
                                   std::pair("check_inputs.cuh", embedded::check_inputs()),
                                   std::pair("check_laws.cuh", embedded::check_laws()),
                                   std::pair("check_numbers.cuh", embedded::check_numbers()),
                                   std::pair("check_parts.hpp", embedded::check_parts()),
                                   std::pair("check_products.cuh", embedded::check_products()),
                                   std::pair("element_types.hpp", std::string_view(types))}) {
    source.headers.push_back({.name = name, .text = std::string(text)});
    content.push_back(text);
  }
  const std::string names = fmt::format("{}", fmt::join(entries, " "));
  content.insert(content.end(), {names, source::kWithoutRaces});
  return {.source = source,
          .entries = std::move(entries),
          .options = {std::string(source::kWithoutRaces)},
          .key = content_hash(content)};
}

CheckKernels::CheckKernels(backend::Backend& backend)
    : backend_(backend), values_(backend, kElementValues * sizeof(double)) {}

backend::KernelId CheckKernels::kernel(const std::string& entry) {
  const auto known = kernels_.find(entry);
  if (known != kernels_.end()) return known->second.id();
  if (!compiled_.contains(entry)) compile(needed_with(entry));
  const auto loaded = backend_.load(compiled_.at(entry));
  if (!loaded) fail(entry, loaded.error());
  return kernels_.emplace(entry, backend::LoadedKernel(backend_, *loaded)).first->second.id();
}

void CheckKernels::compile(const std::vector<std::string>& entries) {
  const auto all = backend_.compiler().compile(check_kernels_job(entries));
  if (!all) fail(entries.front(), all.error());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    compiled_[entries[i]] = {.image = all->image, .symbols = {all->symbols[i]}};
  }
}

backend::Launch CheckKernels::launch_of(const std::string& entry, std::int64_t elements,
                                        std::vector<backend::LaunchArgument> arguments) {
  constexpr std::int64_t kElementsPerBlock = kThreads * kElementsPerThread;
  const std::int64_t blocks = std::clamp<std::int64_t>(
      (elements + kElementsPerBlock - 1) / kElementsPerBlock, 1, kMostBlocks);
  return {.kernel = kernel(entry),
          .steps = {{.geometry = {.grid = {static_cast<std::uint32_t>(blocks), 1, 1},
                                  .block = {kThreads, 1, 1},
                                  .dynamic_shared_bytes = 0},
                     .arguments = std::move(arguments)}}};
}

void CheckKernels::launch(const std::string& entry, std::int64_t elements,
                          std::vector<backend::LaunchArgument> arguments) {
  run(entry, launch_of(entry, elements, std::move(arguments)));
}

void CheckKernels::run(const std::string& entry, const backend::Launch& launch) {
  if (const auto done = backend_.run(launch); !done) fail(entry, done.error());
}

void CheckKernels::over(std::string_view kernel, const Elements& data,
                        std::vector<backend::LaunchArgument> more) {
  more.insert(more.begin(), {data.region, family::Scalar(data.count)});
  launch(of_type(kernel, data.type), data.count, std::move(more));
}

std::array<std::uint64_t, 3> CheckKernels::sums(const std::string& entry, std::int64_t elements,
                                                std::vector<backend::LaunchArgument> arguments) {
  std::array<std::uint64_t, kSums> sums{};
  backend_.fill(values_.id(), 0, sizeof sums);
  arguments.emplace_back(backend::Region(values_.id()));
  launch(entry, elements, std::move(arguments));
  backend_.read(values_.id(), std::as_writable_bytes(std::span(sums)));
  return sums;
}

std::array<std::uint64_t, 3> CheckKernels::sums_over(std::string_view kernel, const Elements& data,
                                                     std::vector<backend::LaunchArgument> more) {
  more.insert(more.begin(), {data.region, family::Scalar(data.count)});
  return sums(of_type(kernel, data.type), data.count, std::move(more));
}

void CheckKernels::fill_normal(const Elements& data, std::uint64_t seed) {
  over("fill_normal", data, {bits(seed)});
}

void CheckKernels::fill_positive(const Elements& data, std::uint64_t seed) {
  over("fill_positive", data, {bits(seed)});
}

void CheckKernels::fill_uniform(const Elements& data, std::uint64_t seed, double low, double high) {
  over("fill_uniform", data, {bits(seed), family::Scalar(low), family::Scalar(high)});
}

void CheckKernels::fill_integers(const Elements& data, std::uint64_t seed, std::int64_t low,
                                 std::int64_t high) {
  over("fill_integers", data, {bits(seed), family::Scalar(low), family::Scalar(high)});
}

void CheckKernels::fill_whole(const Elements& data, std::uint64_t seed, std::int64_t range) {
  over("fill_whole", data, {bits(seed), family::Scalar(range)});
}

void CheckKernels::fill_constant(const Elements& data, double value) {
  over("fill_constant", data, {family::Scalar(value)});
}

void CheckKernels::fill_sorted(const Elements& data, std::uint64_t seed, double low, double high) {
  over("fill_sorted", data, {bits(seed), family::Scalar(low), family::Scalar(high)});
}

void CheckKernels::fill_offsets(const Elements& data, std::uint64_t seed, std::int64_t entries) {
  over("fill_offsets", data, {bits(seed), family::Scalar(entries)});
}

void CheckKernels::fill_permutation(const Elements& data, std::uint64_t seed) {
  over("fill_permutation", data, {bits(seed)});
}

void CheckKernels::replace_some(const Elements& data, backend::Region others, std::uint64_t seed) {
  launch(of_type("replace_some", data.type), data.count,
         {data.region, others, family::Scalar(data.count), bits(seed)});
}

void CheckKernels::apply_law(const Elements& data, family::Law law, std::int32_t domain,
                             std::uint64_t seed, double strength, double low, double high) {
  over("apply_law", data,
       {number_of(law), family::Scalar(domain), bits(seed), family::Scalar(strength),
        family::Scalar(low), family::Scalar(high)});
}

void CheckKernels::apply_integer_law(const Elements& data, family::Law law, std::int32_t indices,
                                     std::uint64_t seed, std::int64_t low, std::int64_t high) {
  over("apply_integer_law", data,
       {number_of(law), family::Scalar(indices), bits(seed), family::Scalar(low),
        family::Scalar(high)});
}

void CheckKernels::apply_offsets_law(const Elements& data, family::Law law, std::uint64_t seed,
                                     std::int64_t entries) {
  over("apply_offsets_law", data, {number_of(law), bits(seed), family::Scalar(entries)});
}

void CheckKernels::apply_sorted_law(const Elements& data, family::Law law, double end, double most,
                                    double strength) {
  over("apply_sorted_law", data,
       {number_of(law), family::Scalar(end), family::Scalar(most), family::Scalar(strength)});
}

void CheckKernels::borrow(const Elements& data, const Elements& others, Flips flips,
                          std::uint64_t seed) {
  over("borrow", data,
       {others.region, family::Scalar(others.count),
        family::Scalar(std::int32_t{flips == Flips::some}), bits(seed)});
}

bool CheckKernels::are_alike(const Elements& data) {
  return sums_over("count_unlike_first", data)[0] == 0;
}

bool CheckKernels::are_written(const Elements& results) {
  return sums_over("count_unwritten", results)[0] == 0;
}

CheckKernels::NotFinite CheckKernels::not_finite(const Elements& results) {
  const auto [nans, infinities, unused] = sums_over("count_not_finite", results);
  return {.nans = nans, .infinities = infinities};
}

void CheckKernels::poison_padding(const Elements& data, std::uint64_t seed,
                                  const blas::MatrixElements& used) {
  over("poison_padding", data,
       {family::Scalar(static_cast<std::int32_t>(data.type)), bits(seed),
        family::Scalar(used.outer_count), family::Scalar(used.outer_step),
        family::Scalar(used.inner_count), family::Scalar(used.inner_step),
        family::Scalar(used.columns)});
}

void CheckKernels::compute(const backend::LibraryCall& call) {
  const auto number = [](std::int64_t value) { return family::Scalar(value); };
  const auto flag = [](Transpose transpose) {
    return family::Scalar(std::int32_t{transpose == Transpose::yes});
  };
  const std::string_view type = family::row(call.operation.type).short_name;
  const family::Scalar alpha = number(static_cast<std::int64_t>(call.operands.alpha));
  const family::Scalar beta = number(static_cast<std::int64_t>(call.operands.beta));
  if (const auto* const sum = std::get_if<blas::GeamShape>(&call.operation.shape)) {
    launch(fmt::format("sum<{}>", type), sum->m * sum->n,
           {call.operands[blas::kC], call.operands[blas::kA], call.operands[blas::kB],
            number(sum->m), number(sum->n), flag(sum->trans_a), flag(sum->trans_b),
            number(sum->a.ld), number(sum->b.ld), number(sum->c.ld), alpha, beta});
    return;
  }
  const auto& [m, n, k, trans_a, trans_b, batch, a, b, c] =
      std::get<blas::GemmShape>(call.operation.shape);
  launch(fmt::format("product<{}, {}>", family::row(call.operation.result_type()).short_name, type),
         batch * m * n,
         {call.operands[blas::kC], call.operands[blas::kA], call.operands[blas::kB], number(m),
          number(n), number(k), number(batch), flag(trans_a), flag(trans_b), number(a.ld),
          number(b.ld), number(c.ld), number(a.stride), number(b.stride), number(c.stride), alpha,
          beta});
}

void CheckKernels::finish_product(const backend::LibraryCall& product, const Epilogue& epilogue,
                                  const Elements& bias, const Elements& residual) {
  const auto& shape = std::get<blas::GemmShape>(product.operation.shape);
  const family::ElementType given = epilogue.residual ? residual.type : bias.type;
  launch(
      fmt::format("finish_product<{}, {}>", family::row(product.operation.result_type()).short_name,
                  family::row(given).short_name),
      shape.batch * shape.m * shape.n,
      {product.operands[blas::kC], bias.region, residual.region, family::Scalar(shape.m),
       family::Scalar(shape.n), family::Scalar(shape.batch), family::Scalar(shape.c.ld),
       family::Scalar(shape.c.stride), family::Scalar(static_cast<std::int32_t>(epilogue.bias)),
       family::Scalar(static_cast<std::int32_t>(epilogue.activation)),
       family::Scalar(static_cast<std::int32_t>(epilogue.residual))});
}

void CheckKernels::absolute(backend::Region result, const Elements& data) {
  launch(of_type("absolute", data.type), data.count,
         {result, data.region, family::Scalar(data.count)});
}

void CheckKernels::perturb(backend::Region result, const Elements& data, std::uint64_t seed) {
  launch(of_type("perturb", data.type), data.count,
         {result, data.region, family::Scalar(data.count), bits(seed)});
}

void CheckKernels::convert(const Elements& to, const Elements& from) {
  launch(fmt::format("convert<{}, {}>", family::row(to.type).short_name,
                     family::row(from.type).short_name),
         from.count, {to.region, from.region, family::Scalar(from.count)});
}

void CheckKernels::widen(backend::Region spread, backend::Region run, const Elements& reference,
                         Rounding rounding) {
  launch(of_type("widen", reference.type), reference.count,
         {spread, run, reference.region, family::Scalar(reference.count),
          family::Scalar(rounding == Rounding::of_results ? 1 : 0)});
}

void CheckKernels::as_errors(backend::Region errors, const Elements& data) {
  launch(of_type("as_errors", data.type), data.count,
         {errors, data.region, family::Scalar(data.count),
          family::Scalar(family::largest_number(data.type))});
}

double CheckKernels::typical(const Elements& spread) {
  const auto [exponents, terms, unused] = sums_over("add_exponents", spread);
  if (terms == 0) return 0;
  return std::exp2(static_cast<double>(std::bit_cast<std::int64_t>(exponents)) /
                   static_cast<double>(terms));
}

void CheckKernels::allow(backend::Region spread, const Elements& reference,
                         const SpreadBound& bound) {
  launch(of_type("allow_spread", reference.type), reference.count,
         {spread, reference.region, family::Scalar(reference.count), family::Scalar(bound.factor),
          family::Scalar(bound.floor), family::Scalar(bound.share), family::Scalar(bound.relative),
          family::Scalar(least_normal(reference.type))});
}

void CheckKernels::allow(backend::Region allowed, const Elements& reference,
                         const family::Tolerance& tolerance) {
  // A float below 2^63, so that every 64-bit type holds it.
  constexpr double kMost64 = 0x1.fffffep62;
  const double most = family::is_floating(reference.type) ? 0x1p126
                      : family::bits(reference.type) == 64
                          ? kMost64
                          : static_cast<double>(family::integer_range(reference.type).greatest);
  launch(of_type("allow_tolerance", reference.type), reference.count,
         {allowed, reference.region, family::Scalar(reference.count),
          family::Scalar(tolerance.relative), family::Scalar(tolerance.absolute),
          family::Scalar(tolerance.ulp), family::Scalar(most)});
}

bool CheckKernels::are_whole(const Elements& reference) {
  return sums_over("count_fractions", reference,
                   {family::Scalar(family::largest_exact_integer(reference.type))})[0] == 0;
}

CheckKernels::Dependence CheckKernels::compare_runs(const Elements& first, backend::Region second,
                                                    std::uint32_t other) {
  const auto [dependent, unwritten, nans] =
      sums(of_type("count_dependent", first.type), first.count,
           {first.region, second, family::Scalar(first.count), family::Scalar(other)});
  return {.dependent = dependent, .unwritten = unwritten, .nans = nans};
}

backend::Launch CheckKernels::preparation(const CheckedMemory& memory, const Poison& poison) {
  return launch_of("prepare<>", largest_part(memory),
                   {memory.candidate(), memory.reference(), memory.table(), part_count(memory),
                    family::Scalar(std::int32_t{poison.kind}), bits(poison.seed)});
}

void CheckKernels::prepare(const CheckedMemory& memory, const Poison& poison) {
  run("prepare<>", preparation(memory, poison));
}

std::vector<PartReport> CheckKernels::inspect(const CheckedMemory& memory, const Poison& poison,
                                              Repeats repeats, Records records) {
  launch(inspect_entry(memory), largest_part(memory),
         {memory.candidate(), memory.reference(), memory.table(), part_count(memory),
          family::Scalar(std::int32_t{poison.kind}), bits(poison.seed),
          family::Scalar(repeats == Repeats::compared ? 1 : 0),
          family::Scalar(records == Records::in_place ? 1 : 0), memory.gathered(), memory.reports(),
          memory.blocks_done()});
  std::vector<PartReport> reports(memory.plan().parts.size());
  backend_.read(memory.reports(), std::as_writable_bytes(std::span(reports)));
  return reports;
}

CheckKernels::Element CheckKernels::pick(const CheckedMemory& memory, std::size_t part,
                                         std::size_t other, std::int64_t index,
                                         const Poison& poison) {
  const auto type = static_cast<family::ElementType>(memory.plan().parts[part].type);
  launch(of_type("pick", type), 1,
         {memory.candidate(), memory.reference(), memory.table(),
          family::Scalar(static_cast<std::int32_t>(part)),
          family::Scalar(static_cast<std::int64_t>(other)), family::Scalar(index),
          family::Scalar(std::int32_t{poison.kind}), bits(poison.seed), values_.id()});
  std::array<double, kElementValues> values{};
  backend_.read(values_.id(), std::as_writable_bytes(std::span(values)));
  return {.result = values[0],
          .reference = values[1],
          .allowed = values[2],
          .untouched = values[3] != 0,
          .left_out = values[4] != 0};
}

}  // namespace tuner::verify
