// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/blas_family.hpp"

#include <ranges>
#include <string>
#include <variant>
#include <vector>

namespace tuner::dispatch {
namespace {

constexpr std::size_t kBlasDimensions = blas::kGemmDimensions.size();
constexpr std::array<std::string_view, 3> kEpilogueNames = {"BIAS", "ACTIVATION", "RESIDUAL"};

/// Where the dimensions of an epilogue begin among those after BLAS's; none where they are missing.
std::optional<std::size_t> epilogue_place(std::span<const std::string> rest) {
  const auto bias = std::ranges::find(rest, kEpilogueNames.front());
  const auto names = std::ranges::subrange(bias, rest.end()) | std::views::take(3);
  if (!std::ranges::equal(names, kEpilogueNames)) return std::nullopt;
  return static_cast<std::size_t>(bias - rest.begin());
}

/// The family without the numbers of its further dimensions; none where its name, its dimensions or
/// its arguments are others than gemm() passes.
std::optional<GemmFamily> recognise(std::string_view name, FamilyId id, const FamilyTable& table) {
  const family::Family& family = table.family();
  const std::vector<std::string> names = family.problem.dims.names();
  if (family.name != name || names.size() < kBlasDimensions) return std::nullopt;
  const std::span<const std::string> all = names;
  if (!std::ranges::equal(all.first(kBlasDimensions), blas::kGemmDimensions)) return std::nullopt;
  const auto epilogue = epilogue_place(all.subspan(kBlasDimensions));
  if (name == "gemm_tensor" && !epilogue) return std::nullopt;  // of an earlier version
  std::vector<std::string> arguments = {"alpha", "A", "B", "beta", "C"};
  if (epilogue) arguments.insert(arguments.end(), {"bias", "residual"});
  if (!std::ranges::equal(table.given(), arguments, {}, &GivenArgument::name)) return std::nullopt;
  return GemmFamily{.id = id, .epilogue = epilogue};
}

/// The types of the arguments where the last number of the candidate, if it has one, is that of its
/// dimension, and each dimension of types behind it has its default.
std::vector<family::ElementType> argument_types(const GemmFamily& candidate,
                                                const FamilyTable& table) {
  const space::Dimensions& dims = table.family().problem.dims;
  space::Size size(dims.size(), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].types.empty()) size[i] = *dims[i].default_value->evaluate({});
  }
  if (candidate.rest_count > 0) {
    const std::size_t last = candidate.rest_count - 1;
    size[kBlasDimensions + last] = candidate.rest[last];
  }
  const space::ExpressionValues values = table.expression_values(size);
  std::vector<family::ElementType> types;
  for (const GivenArgument& argument : table.given()) {
    const auto& what = table.family().arguments[argument.place].what;
    if (const auto* const matrix = std::get_if<family::BufferArgument>(&what)) {
      types.push_back(matrix->type.at(values));
    } else if (const auto* const number = std::get_if<family::ScalarArgument>(&what)) {
      types.push_back(number->type.at(values));
    }
  }
  return types;
}

/// Adds the candidate for the GemmType of its arguments, where that has no family yet.
void add(GemmFamilies& found, const GemmFamily& candidate, const FamilyTable& table) {
  const std::vector<family::ElementType> types = argument_types(candidate, table);
  for (const blas::GemmTypeRow& row : blas::kGemmTypeRows) {
    std::vector wanted = {row.factors, row.matrices, row.matrices, row.factors, row.result};
    if (candidate.epilogue) wanted.insert(wanted.end(), {row.result, row.result});
    auto& place = found[static_cast<std::size_t>(row.type)];
    if (types == wanted && !place) place = candidate;
  }
}

}  // namespace

void add_gemm_family(GemmFamilies& found, std::string_view name, FamilyId id,
                     const FamilyTable& table) {
  std::optional<GemmFamily> candidate = recognise(name, id, table);
  if (!candidate) return;
  // Sizes with an epilogue name the dimensions behind those of BLAS.
  if (!candidate->epilogue) add(found, *candidate, table);
  for (const space::Dimension& dimension :
       table.family().problem.dims | std::views::drop(kBlasDimensions)) {
    // Sizes with a type name this dimension too, by a number that holds for every call.
    if (!dimension.default_value->slots().empty()) return;
    const auto value = dimension.default_value->evaluate({});
    if (!value || candidate->rest_count == candidate->rest.size()) return;
    std::int64_t& last = candidate->rest[candidate->rest_count++];
    last = *value;
    if (dimension.types.empty()) continue;
    for (const std::int64_t each : dimension.values) {
      last = each;
      add(found, *candidate, table);
    }
    return;
  }
  if (candidate->epilogue) add(found, *candidate, table);
}

}  // namespace tuner::dispatch
