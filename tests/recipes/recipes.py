# SPDX-License-Identifier: Apache-2.0
"""The recipes of CONTRIBUTING.md as changes: what is added to which file, after which line."""

import dataclasses


@dataclasses.dataclass
class Recipe:
    """`title` as CONTRIBUTING.md has it; `added` is {path: [(text of a line, lines after it), …]}."""

    title: str
    added: dict
    created: dict = dataclasses.field(default_factory=dict)

    def paths(self):
        return {*self.added, *self.created}

    def apply(self, tree):
        for path, text in self.created.items():
            (tree / path).write_text(text)
        for path, additions in self.added.items():
            text = (tree / path).read_text()
            for anchor, lines in additions:
                if text.count(anchor) != 1:
                    raise ValueError(f"{path} has {text.count(anchor)} times: {anchor}")
                text = text.replace(anchor, anchor + lines)
            (tree / path).write_text(text)


COMMAND = Recipe(
    title="A command of the program",
    created={
        "tuner/cli/devices_command.cpp": """\
// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/store/store.hpp"

namespace tuner::cli {

int devices(const CommonOptions& common, const DevicesOptions& options) {
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  for (const space::DeviceInfo& device : store.devices()) {
    if (options.backend.empty() || device.backend == options.backend) {
      Output(common).tell("{}\\n", device.name);
    }
  }
  return 0;
}

}  // namespace tuner::cli
"""},
    added={
        "tuner/cli/CMakeLists.txt": [(" doctor_command.cpp", " devices_command.cpp")],
        "tuner/cli/commands.hpp": [("int doctor(const CommonOptions& common);\n", """
struct DevicesOptions {
  std::string backend;  ///< empty: of all
};
/// Prints the names of the database's devices.
int devices(const CommonOptions& common, const DevicesOptions& options);
""")],
        "tuner/cli/command_options.hpp": [("  SetupOptions setup;\n", "  DevicesOptions devices;\n")],
        "tuner/cli/command_options.cpp": [
            ("                              \"Run a program with tuned kernels in place of cuBLAS\", exec, o);\n"
             "  add_program(sub, arguments, o.program);\n}\n", """
void add_devices(CLI::App& app, Arguments& arguments) {
  DevicesOptions& o = arguments.devices;
  CLI::App& sub =
      add_command(app, arguments, "devices", "Show the devices of the database", devices, o);
  add_value(sub, "--backend", o.backend, "NAME", "Only of this backend");
}
"""),
            ("  add_exec(app, arguments);\n", "  add_devices(app, arguments);\n")],
    })

FILL = Recipe(
    title="A fill",
    added={
        "tuner/family/fill.hpp": [("  positive,     ///< |normal| + 0.5; whole numbers above 0 in checks of exact results\n",
                                   "  signs,        ///< 1 and -1\n")],
        "tuner/family/fill_traits.hpp": [('    {FillKind::positive, "positive", Drawing::by_element, true},\n',
                                          '    {FillKind::signs, "signs", Drawing::by_element, false},\n')],
        "tuner/family/law.cpp": [("    case positive:\n", "    case signs:\n")],
        "tuner/verify/check_inputs.cuh": [("""\
    data[i] = (T)(fabsf(normal_number(random_bits((Bits64)seed, (Bits64)i))) + 0.5f);
  }
}
""", """
template <class T>
__global__ void fill_signs(T* data, long long count, long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    data[i] = (T)((random_bits((Bits64)seed, (Bits64)i) & 1) ? 1.0f : -1.0f);
  }
}
""")],
        "tuner/verify/check_kernels.hpp": [
            ("  void fill_positive(const Elements& data, std::uint64_t seed);\n",
             "  /// 1 and −1 in equal shares.\n  void fill_signs(const Elements& data, std::uint64_t seed);\n")],
        "tuner/verify/check_kernels.cpp": [("""\
  over("fill_positive", data, {bits(seed)});
}
""", """
void CheckKernels::fill_signs(const Elements& data, std::uint64_t seed) {
  over("fill_signs", data, {bits(seed)});
}
""")],
        "tuner/verify/problem_data.cpp": [
            ("    case family::FillKind::between:\n      return fill_between(kernels, data, fill, seed);\n",
             "    case family::FillKind::signs:\n      return kernels.fill_signs(data, seed);\n")],
        "tuner/verify/law_inputs.cpp": [("    high = inputs.most;\n  }", """ else if (inputs.kind == signs) {
    domain = Domain::interval;
    low = -1;
    high = 1;
  }""")],
        "spaces/schema/space-1.schema.json": [('{ "enum": ["normal", "uniform", "positive",', ' "signs",')],
    })

ELEMENT_TYPE = Recipe(
    title="An element type",
    added={
        "tuner/core/element_type.hpp": [("  e5m2,\n", "  e6m1,\n"), ("ElementType::e4m3, ElementType::e5m2,", " ElementType::e6m1,")],
        "tuner/core/element_type.cpp": [("""\
     {29, "CUDA_R_8F_E5M2"}, {0, "CU_TENSOR_MAP_DATA_TYPE_UINT8"},     "",    "",         "cuda_fp8.h"},
""", """\
    {ElementType::e6m1, "fp8_e6m1",           "e6m1", "",            "fp8_e6m1",            8, kFloating, {6, 1},           kNanE4m3,
     kNone,                  {0, "CU_TENSOR_MAP_DATA_TYPE_UINT8"},     "",    "",         "cuda_fp8.h"},
""")],
        "tuner/backend/cpu/byte_floats_on_cpu.hpp": [("typedef tuner::Fp8<2> __nv_fp8_e5m2;\n", """\
struct fp8_e6m1 {  // the upper bits of a float, whose exponent has 2 bits more
  unsigned char __x;
  fp8_e6m1() = default;
  template <class Number>
  explicit fp8_e6m1(Number value) : __x(rounded(static_cast<float>(value))) {}
  explicit operator float() const {
    const float sign = (__x & 0x80u) != 0 ? -1.0f : 1.0f;
    if ((__x & 0x7fu) > 0x7eu) return NAN;
    if ((__x & 0x7fu) == 0x7eu) return sign * HUGE_VALF;
    if ((__x & 0x7eu) == 0) return sign * static_cast<float>(__x & 1u) * 0x1p-31f;
    return sign * ldexpf(1.0f + 0.5f * static_cast<float>(__x & 1u), static_cast<int>((__x & 0x7eu) >> 1) - 31);
  }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }

 private:
  static unsigned char rounded(float value) {
    const unsigned sign = value < 0 ? 0x80u : 0;
    if (value != value) return 0x7f;
    const float magnitude = value < 0 ? -value : value;
    const int exponent = magnitude < 0x1p-30f ? -30 : ilogbf(magnitude);
    const auto units = static_cast<unsigned>(rintf(ldexpf(magnitude, 1 - exponent)));
    const unsigned bits = magnitude >= 0x1p32f ? 0x7eu : units + (static_cast<unsigned>(exponent + 30) << 1);
    return static_cast<unsigned char>(sign | (bits > 0x7du ? 0x7du : bits));
  }
};
""")],
        "spaces/schema/space-1.schema.json": [('"floating_type": { "anyOf": [{ "enum": ["double",', ' "e6m1",'),
                                              ('"element_type": { "enum": ["double",', ' "e6m1",'),
                                              ('"buffer_type": { "anyOf": [{ "enum": ["double*",', ' "e6m1*",')],
    })

LIBRARY_OPERATION = Recipe(
    title="A library operation",
    added={
        "tuner/blas/operation.hpp": [
            ("void check_shape(const GeamShape& shape);\n", """
/// A row-major C = diag(b)·A of m×n matrices and m factors.
struct DgmmShape {
  static constexpr std::int64_t batch = 1;
  std::int64_t m = 0, n = 0;
  MatrixLayout a, b, c;
};
[[nodiscard]] DgmmShape packed_dgmm(std::int64_t m, std::int64_t n);
void check_shape(const DgmmShape& shape);
"""),
            ("using Shape = std::variant<GemmShape, GeamShape", ", DgmmShape")],
        "tuner/blas/operation.cpp": [("  check_layout(kGeamOperation, 'c', shape.c, GeamShape::batch);\n}\n", """
DgmmShape packed_dgmm(std::int64_t m, std::int64_t n) {
  return {.m = m,
          .n = n,
          .a = packed_matrix("dgmm", m, n, Transpose::no),
          .b = packed_matrix("dgmm", 1, m, Transpose::no),
          .c = packed_matrix("dgmm", m, n, Transpose::no)};
}

void check_shape(const DgmmShape& shape) {
  check_layout("dgmm", 'a', shape.a, 1);
  check_layout("dgmm", 'b', shape.b, 1);
  check_layout("dgmm", 'c', shape.c, 1);
}
""")],
        "tuner/family/family.hpp": [
            ("[[nodiscard]] blas::GeamShape geam_shape(const GeamReference& reference,\n"
             "                                         const space::ExpressionValues& values);\n", """
/// A row-major C = diag(b)·A.
struct DgmmReference : MatrixArguments {
  space::Expression m = space::Expression::constant(1);
  space::Expression n = space::Expression::constant(1);
};
[[nodiscard]] blas::DgmmShape dgmm_shape(const DgmmReference& reference,
                                         const space::ExpressionValues& values);
"""),
            ("  std::variant<GemmReference, GeamReference,", " DgmmReference,")],
        "tuner/family/library_reference.cpp": [
            ("    place(shape.b, 'b', reference.ldb, std::nullopt, values);\n  }\n  blas::check_shape(shape);\n"
             "  return shape;\n}\n", """
blas::DgmmShape dgmm_shape(const DgmmReference& reference, const space::ExpressionValues& values) {
  return blas::packed_dgmm(value_of(reference.m, values, "m"), value_of(reference.n, values, "n"));
}
"""),
            ("  if (const auto* gemm = std::get_if<GemmReference>(&check.reference)) return gemm;\n",
             "  if (const auto* dgmm = std::get_if<DgmmReference>(&check.reference)) return dgmm;\n"),
            ("    return geam_shape(*geam, values);\n  }\n", """\
  if (const auto* dgmm = std::get_if<DgmmReference>(&check.reference)) {
    return dgmm_shape(*dgmm, values);
  }
""")],
        "tuner/family/parse_check.cpp": [
            ("  geam.b = geam.c;\n  return geam;\n}\n", """
DgmmReference parse_dgmm(const DocumentNode& node, const space::Scope& scope,
                         const ArgumentFinder& finder) {
  node.expect_keys({"op", "m", "n", "a", "b", "c"});
  DgmmReference dgmm;
  static_cast<MatrixArguments&>(dgmm) = parse_matrices(node, {"a", "b"}, finder);
  dgmm.m = family_expression(node.at("m"), scope);
  dgmm.n = family_expression(node.at("n"), scope);
  return dgmm;
}
"""),
            ('  if (name == "geam") return parse_geam(node, scope, finder);\n',
             '  if (name == "dgmm") return parse_dgmm(node, scope, finder);\n'),
            ('known = {"gemm", "geam"', ', "dgmm"')],
        "tuner/verify/check_products.cuh": [
            ("        (beta == 0 ? 0 : beta * (long long)b[place(trans_b, ldb, row, column)]));\n  }\n}\n", """
/// Rows of a matrix of integers by their factors.
template <class T>
__global__ void scaled_rows(T* c, const T* a, const T* b, long long m, long long n) {
  for (long long i = first_index(); i < m * n; i += index_stride()) c[i] = (T)(a[i] * b[i / n]);
}
""")],
        "tuner/verify/check_kernels.cpp": [
            ("            number(sum->a.ld), number(sum->b.ld), number(sum->c.ld), alpha, beta});\n    return;\n  }\n", """\
  if (const auto* const scaled = std::get_if<blas::DgmmShape>(&call.operation.shape)) {
    launch(fmt::format("scaled_rows<{}>", type), scaled->m * scaled->n,
           {call.operands[blas::kC], call.operands[blas::kA], call.operands[blas::kB],
            number(scaled->m), number(scaled->n)});
    return;
  }
""")],
        "tuner/backend/cpu/host_library.cpp": [
            ("    geam<std::uint8_t>(shape, operands);\n  }\n  return {};\n}\n", """
Expected<void, Failure> host_dgmm(const blas::DgmmShape& shape, const blas::Addresses& operands) {
  const auto* const a = static_cast<const float*>(operands[blas::kA]);
  const auto* const b = static_cast<const float*>(operands[blas::kB]);
  auto* const c = static_cast<float*>(blas::result_address(operands));
  for (std::int64_t i = 0; i < shape.m * shape.n; ++i) c[i] = a[i] * b[i / shape.n];
  return {};
}
"""),
            ("    return host_gemm(operation, *shape, operands);\n  }\n", """\
  if (const auto* const shape = std::get_if<blas::DgmmShape>(&operation.shape)) {
    return host_dgmm(*shape, operands);
  }
""")],
        "tuner/backend/cuda/cublas.cpp": [
            ("                          : geam_by_rows<double>(handle, api.dgeam, shape, operands));\n}\n", """
Expected<void, Failure> run(const CublasApi&, cublasHandle_t, const blas::Operation& operation,
                            const blas::DgmmShape&, const blas::Addresses&) {
  return no_such_type("scales", operation.type);
}
""")],
    })

RECIPES = (COMMAND, FILL, ELEMENT_TYPE, LIBRARY_OPERATION)
