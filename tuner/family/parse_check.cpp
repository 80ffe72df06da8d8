// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/file_errors.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/check_promises.hpp"
#include "tuner/family/fill_traits.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <utility>

namespace tuner::family {
namespace {

constexpr std::size_t kMaximumCases = 64;

/// Looks up arguments by name.
class ArgumentFinder {
 public:
  explicit ArgumentFinder(const std::vector<Argument>& arguments) : arguments_(arguments) {}

  [[nodiscard]] const Argument& find(const DocumentNode& node, std::string_view name) const {
    const auto found = std::find_if(arguments_.begin(), arguments_.end(),
                                    [&](const Argument& each) { return each.name == name; });
    if (found != arguments_.end()) return *found;
    std::vector<std::string> known;
    for (const Argument& each : arguments_) known.push_back(each.name);
    node.fail(fmt::format("no argument is named {}{}", in_quotes(name), did_you_mean(name, known)));
  }

  [[nodiscard]] const BufferArgument& buffer(const DocumentNode& node, BufferRole role) const {
    const Argument& argument = find(node, node.text());
    const auto* buffer = std::get_if<BufferArgument>(&argument.what);
    const bool written = role == BufferRole::output;
    if (buffer == nullptr || buffer->is_written() != written) {
      const auto* array = std::get_if<ArrayArgument>(&argument.what);
      node.fail(fmt::format(
          "must name an {} buffer; '{}' is {}", written ? "output" : "input", argument.name,
          array == nullptr
              ? "none"
              : fmt::format("an array by value: give it the type \"{}*\"", array->type.text())));
    }
    return *buffer;
  }

  [[nodiscard]] const ScalarArgument& scalar(const DocumentNode& node,
                                             std::string_view name) const {
    const Argument& argument = find(node, name);
    const auto* scalar = std::get_if<ScalarArgument>(&argument.what);
    if (scalar == nullptr) {
      const bool is_buffer = std::holds_alternative<BufferArgument>(argument.what);
      node.fail(fmt::format("must name a number that is passed by value; '{}' is {}", argument.name,
                            is_buffer ? "a buffer" : "an array"));
    }
    return *scalar;
  }

 private:
  const std::vector<Argument>& arguments_;
};

std::string parse_factor(const DocumentNode& reference, std::string_view key,
                         const ArgumentFinder& finder) {
  const auto node = reference.find(key);
  if (!node) return "";
  std::string name = node->text();
  static_cast<void>(finder.scalar(*node, name));
  return name;
}

std::optional<space::Expression> find_expression(const DocumentNode& node, std::string_view key,
                                                 const space::Scope& scope) {
  const auto value = node.find(key);
  return value ? std::optional(family_expression(*value, scope)) : std::nullopt;
}

/// Fails unless the matrices that are named have one type, which BLAS computes with.
MatrixArguments parse_matrices(const DocumentNode& node,
                               std::initializer_list<std::string_view> keys,
                               const ArgumentFinder& finder) {
  const TypeOf& result = finder.buffer(node.at("c"), BufferRole::output).type;
  const TypeOf& type = finder.buffer(node.at(*keys.begin()), BufferRole::input).type;
  const bool is_product = node.at("op").text() == "gemm";
  bool fits = true;
  for (std::size_t i = 0; i < std::max(type.all().size(), result.all().size()); ++i) {
    const ElementType from = type.all()[std::min(i, type.all().size() - 1)];
    const ElementType to = result.all()[std::min(i, result.all().size() - 1)];
    fits = fits && (is_product ? blas::library_multiplies(from, to)
                               : blas::library_adds(from) && from == to);
  }
  for (const std::string_view key : keys) {
    fits = finder.buffer(node.at(key), BufferRole::input).type == type && fits;
  }
  if (!fits) {
    node.fail(fmt::format("the buffers {} and c of \"{}\" must be all float* or all double*{}",
                          fmt::join(keys, ", "), node.at("op").text(),
                          !is_product ? ", all u16* or all u8*"
                                      : ", or all __nv_bfloat16* or all __half*, of which c may "
                                        "also be float*, or signed char* and c int*, or tf32* and "
                                        "c float*, or e4m3* and c bf16*, f16* or float*"));
  }
  const auto text = [&](std::string_view key) {
    const auto named = node.find(key);
    return named ? named->text() : "";
  };
  return {.a = text("a"),
          .b = text("b"),
          .c = text("c"),
          .alpha = parse_factor(node, "alpha", finder),
          .beta = parse_factor(node, "beta", finder)};
}

/// What products and sums of matrices have in common.
template <class Reference>
Reference parse_operation(const DocumentNode& node, const space::Scope& scope,
                          MatrixArguments matrices) {
  const auto find = [&](std::string_view key) { return find_expression(node, key, scope); };
  Reference reference;
  static_cast<MatrixArguments&>(reference) = std::move(matrices);
  reference.m = family_expression(node.at("m"), scope);
  reference.n = family_expression(node.at("n"), scope);
  reference.trans_a = find("trans_a").value_or(reference.trans_a);
  reference.trans_b = find("trans_b").value_or(reference.trans_b);
  reference.lda = find("lda");
  reference.ldb = find("ldb");
  reference.ldc = find("ldc");
  return reference;
}

/// Bias and residual are inputs of C's type.
EpilogueReference parse_epilogue(const DocumentNode& node, const space::Scope& scope,
                                 const DocumentNode& gemm, const ArgumentFinder& finder) {
  node.expect_keys({"bias", "bias_kind", "activation", "residual", "has_residual"});
  const TypeOf& result = finder.buffer(gemm.at("c"), BufferRole::output).type;
  const auto find = [&](std::string_view key, const space::Expression& otherwise) {
    return find_expression(node, key, scope).value_or(otherwise);
  };
  EpilogueReference reference;
  const auto argument = [&](std::string_view key, std::string_view kind) -> std::string {
    const auto named = node.find(key);
    if (!named) {
      if (const auto given = node.find(kind)) {
        given->fail(fmt::format("needs the argument: add \"{}\"", key));
      }
      return "";
    }
    if (finder.buffer(*named, BufferRole::input).type == result) return named->text();
    named->fail(fmt::format("must be of the type of c, {}*", result.text()));
  };
  reference.bias = argument("bias", "bias_kind");
  reference.residual = argument("residual", "has_residual");
  reference.bias_kind = find("bias_kind", reference.bias_kind);
  reference.activation = find("activation", reference.activation);
  reference.has_residual = find("has_residual", reference.has_residual);
  return reference;
}

GemmReference parse_gemm(const DocumentNode& node, const space::Scope& scope,
                         const ArgumentFinder& finder) {
  node.expect_keys({"op", "m", "n", "k", "a", "b", "c", "alpha", "beta", "trans_a", "trans_b",
                    "lda", "ldb", "ldc", "batch", "stride_a", "stride_b", "stride_c", "epilogue"});
  auto gemm = parse_operation<GemmReference>(node, scope, parse_matrices(node, {"a", "b"}, finder));
  gemm.k = family_expression(node.at("k"), scope);
  gemm.batch = find_expression(node, "batch", scope).value_or(gemm.batch);
  gemm.stride_a = find_expression(node, "stride_a", scope);
  gemm.stride_b = find_expression(node, "stride_b", scope);
  gemm.stride_c = find_expression(node, "stride_c", scope);
  if (const auto epilogue = node.find("epilogue")) {
    gemm.epilogue = parse_epilogue(*epilogue, scope, node, finder);
  }
  return gemm;
}

GeamReference parse_geam(const DocumentNode& node, const space::Scope& scope,
                         const ArgumentFinder& finder) {
  node.expect_keys(
      {"op", "m", "n", "a", "b", "c", "alpha", "beta", "trans_a", "trans_b", "lda", "ldb", "ldc"});
  if (node.find("b")) {
    return parse_operation<GeamReference>(node, scope, parse_matrices(node, {"a", "b"}, finder));
  }
  for (const std::string_view key : {"beta", "trans_b", "ldb"}) {
    if (const auto given = node.find(key)) {
      given->fail("needs a matrix b, which the operation does not have");
    }
  }
  auto geam = parse_operation<GeamReference>(node, scope, parse_matrices(node, {"a"}, finder));
  geam.b = geam.c;
  return geam;
}

/// Fails unless the inputs are the numbers that the results in files were computed from.
void check_known_inputs(const DocumentNode& node, const std::vector<Argument>& arguments) {
  for (const Argument& argument : arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    const auto* const array = std::get_if<ArrayArgument>(&argument.what);
    if (buffer == nullptr && array == nullptr) continue;
    const bool is_read =
        buffer == nullptr || !buffer->is_written() || buffer->initial == InitialContent::input;
    const FillKind kind = buffer != nullptr ? buffer->fill.kind : array->fill.kind;
    if (!is_read || traits(kind).drawing == Drawing::none) continue;
    node.fail(fmt::format(
        "has results for fixed inputs, but the values of '{0}' are random: give it those inputs, "
        "\"fill\": {{\"npy\": \"{0}.npy\"}}, {{\"constant\": NUMBER}} or {{\"values\": [NUMBER, "
        "…]}}",
        argument.name));
  }
}

NpyReference parse_files(const DocumentNode& node, const Problem& problem,
                         const std::vector<Argument>& arguments) {
  node.expect_keys({"npy", "size"});
  const DocumentNode size = node.at("size"), files = node.at("npy");
  NpyReference reference{.files = {},
                         .size = space::size_from_json(size.json(), problem.dims, size.where())};
  for (const auto& [name, file] : files.named_members()) {
    const Argument& output = ArgumentFinder(arguments).find(files, name);
    const auto* const buffer = std::get_if<BufferArgument>(&output.what);
    if (buffer == nullptr || !buffer->is_written()) {
      file.fail(fmt::format("'{}' is no output", name));
    }
    reference.files.emplace(name, file.text());
  }
  for (const Argument& argument : arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr || !buffer->is_written() || reference.files.contains(argument.name)) {
      continue;
    }
    files.fail(fmt::format("has no file for the output '{}'", argument.name));
  }
  check_known_inputs(files, arguments);
  return reference;
}

/// Fails where a check asks for more than results from files can tell.
void check_of_files(const DocumentNode& node, const Check& check,
                    const std::vector<Argument>& arguments) {
  if (!std::holds_alternative<NpyReference>(check.reference)) return;
  for (const std::string_view key : {"sizes", "cases", "accumulates"}) {
    if (const auto given = node.find(key)) {
      given->fail("applies only to results other than those in the reference's files");
    }
  }
  const bool has_own = std::ranges::any_of(arguments, [](const Argument& argument) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    return buffer != nullptr && buffer->tolerance;
  });
  if (!has_floating_results(arguments) || check.exact || check.tolerance || has_own) return;
  node.fail(
      "results from files need a tolerance: add a \"tolerance\", such "
      "as {\"relative\": 1e-5, \"absolute\": 1e-6}, or \"exact\": true");
}

ResultsReference parse_results(const DocumentNode& node) {
  node.expect_keys({"results"});
  const DocumentNode folder = node.at("results");
  const std::filesystem::path path = std::filesystem::path(folder.text()).lexically_normal();
  if (path.empty() || path.is_absolute() || *path.begin() == "..") {
    folder.fail("must be a folder below the space file's, such as \"expected\"");
  }
  return {.folder = path.string()};
}

decltype(Check::reference) parse_reference(const DocumentNode& node, const Problem& problem,
                                           const std::vector<Argument>& arguments) {
  const space::Scope scope = space::family_scope(problem.dims);
  const ArgumentFinder finder(arguments);
  if (!node.json().is_object()) {
    node.fail(R"(must be {"kernel": NAME} of a correct kernel of this file, {"op": …}, )"
              R"({"results": FOLDER} or {"npy": …})");
  }
  if (const auto kernel = node.find("kernel")) {
    node.expect_keys({"kernel", "type"});
    KernelReference reference{kernel->name()};
    if (const auto type = node.find("type")) {
      reference.type = parse_floating_type(*type, problem.dims);
    }
    return reference;
  }
  if (node.find("npy")) return parse_files(node, problem, arguments);
  if (node.find("results")) return parse_results(node);
  if (!node.find("op")) {
    node.fail(R"(needs one of {"kernel": NAME}, a correct kernel of this file, {"op": …}, )"
              R"({"results": FOLDER} and {"npy": …})");
  }
  const DocumentNode op = node.at("op");
  const std::string name = op.text();
  if (name == "gemm") return parse_gemm(node, scope, finder);
  if (name == "geam") return parse_geam(node, scope, finder);
  const std::vector<std::string> known = {"gemm", "geam"};
  op.fail(
      fmt::format("unknown operation {}{}; for another computation name a correct kernel of this "
                  "family: {{\"kernel\": NAME}}",
                  in_quotes(name), did_you_mean(name, known)));
}

/// Fails where elements of an output need not be compared in place.
void require_places(const DocumentNode& reference, const std::vector<Argument>& arguments) {
  for (const auto& [name, what] : arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&what);
    if (buffer == nullptr || (!buffer->order && !buffer->valid)) continue;
    reference.fail(fmt::format(
        "'{}' has an \"order\" or a \"valid\": these need a reference kernel or files", name));
  }
}

/// A number that an argument can be set to.
ScalarArgument parse_setting(const DocumentNode& node, const TypeOf& type) {
  ScalarArgument setting{.type = type};
  for (const ElementType each : type.all()) {
    if (is_floating(each)) {
      setting.real = node.number();
      continue;
    }
    const auto [least, greatest] = integer_range(each);
    setting.value = space::Expression::constant(node.integer(least, greatest));
  }
  if (!std::ranges::all_of(type.all(), is_floating)) setting.real.reset();
  return setting;
}

CheckCase parse_case(const DocumentNode& node, const ArgumentFinder& finder) {
  node.expect_keys({"set", "reads", "why"});
  CheckCase result;
  for (const auto& [name, value] : node.at("set").named_members()) {
    result.set.emplace(name, parse_setting(value, finder.scalar(value, name).type));
  }
  if (const auto reads = node.find("reads")) {
    for (const DocumentNode& output : reads->elements(0, kMaximumCases)) {
      static_cast<void>(finder.buffer(output, BufferRole::output));
      result.reads.push_back(output.text());
    }
  }
  if (const auto why = node.find("why")) result.why = why->text();
  return result;
}

/// A number above 0, or 0 where it is not given.
double parse_margin(const DocumentNode& tolerance, std::string_view key) {
  const auto margin = tolerance.find(key);
  if (!margin) return 0;
  const double value = margin->number();
  if (value <= 0) margin->fail(fmt::format("must be above 0, is {}", value));
  return value;
}

/// A check of which reference, sizes and cases are read, with how outputs are compared.
Check with_comparison(const DocumentNode& node, const Problem& problem,
                      const std::vector<Argument>& arguments, const space::Scope& scope,
                      Check check) {
  if (const auto accumulates = node.find("accumulates")) {
    check.accumulates = family_expression(*accumulates, scope);
  }
  if (const auto compute = node.find("compute")) {
    check.compute = parse_floating_type(*compute, problem.dims);
  } else {
    check.compute = type_named(problem.dims, "compute");
  }
  if (const auto sums = node.find("partial_sums")) {
    sums->expect_keys({"bits", "terms"});
    check.partial_sums = {.bits = family_expression(sums->at("bits"), scope),
                          .terms = family_expression(sums->at("terms"), scope)};
  }
  if (const auto exact = node.find("exact")) check.exact = exact->boolean();
  if (const auto continuous = node.find("continuous")) {
    check.continuous = continuous->boolean();
    if (check.continuous && !has_measured_bound(check)) {
      continuous->fail("applies to reference kernels and results only: remove it");
    }
  }
  if (const auto deterministic = node.find("deterministic")) {
    check.deterministic = deterministic->boolean();
  }
  if (const auto tolerance = node.find("tolerance")) {
    check.tolerance = parse_tolerance(*tolerance);
    if (check.exact) tolerance->fail("contradicts \"exact\": true; remove one of them");
  }
  for (const Argument& argument : arguments) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    if (check.exact && buffer != nullptr && buffer->tolerance) {
      node.at("exact").fail(fmt::format("contradicts the \"tolerance\" of '{}'", argument.name));
    }
  }
  return check;
}

}  // namespace

Tolerance parse_tolerance(const DocumentNode& node) {
  node.expect_keys({"relative", "absolute", "ulp"});
  const Tolerance tolerance{.relative = parse_margin(node, "relative"),
                            .absolute = parse_margin(node, "absolute"),
                            .ulp = parse_margin(node, "ulp")};
  if (tolerance.relative + tolerance.absolute + tolerance.ulp == 0) {
    node.fail(R"(is empty: give "relative", "absolute", "ulp" or several of them)");
  }
  if (tolerance.relative >= 1) {
    node.at("relative")
        .fail(fmt::format("is {}: with 1 or more, 0 would always be correct", tolerance.relative));
  }
  return tolerance;
}

Check parse_check(const DocumentNode& node, const Problem& problem,
                  const std::vector<Argument>& arguments) {
  const space::Scope scope = space::family_scope(problem.dims);
  const ArgumentFinder finder(arguments);
  Check check;
  ErrorCollector errors;
  errors.attempt([&] {
    node.expect_keys({"reference", "accumulates", "compute", "partial_sums", "exact", "continuous",
                      "deterministic", "tolerance", "sizes", "cases"});
  });
  const bool has_reference = errors.attempt([&] {
    check.reference = parse_reference(node.at("reference"), problem, arguments);
    if (library_arguments(check) != nullptr) require_places(node.at("reference"), arguments);
  });
  errors.attempt([&] {
    if (const auto sizes = node.find("sizes")) {
      check.sizes = parse_check_sizes(*sizes, problem.dims, scope);
    }
  });
  errors.attempt([&] {
    const auto cases = node.find("cases");
    if (!cases) return;
    for (const DocumentNode& each : cases->elements(0, kMaximumCases)) {
      errors.attempt([&] { check.cases.push_back(parse_case(each, finder)); });
    }
  });
  if (has_reference) {  // it decides what may be said of the comparison
    errors.attempt([&] { check = with_comparison(node, problem, arguments, scope, check); });
  }
  errors.throw_any();
  check_of_files(node, check, arguments);
  return check;
}

}  // namespace tuner::family
