# SPDX-License-Identifier: Apache-2.0
"""A problem with a dimension of element types, from the file to the answer."""

import json
import unittest

from forgery import forge
from program import ROOT, SHORT_RUN, ProgramTest

TYPES = {"name": "TYPE", "default": "f32",
         "types": {"f32": {"A": "f32", "compute": "f32"}, "bf16": {"A": "bf16", "compute": "f32"},
                   "f16": {"A": "half", "compute": "f32"}}}

SOURCES = {
    "scale.cu": "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
                "template <int BLOCK, class T> __global__ void scale(int N, const T* x, T* y) {\n"
                "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
                "  if (i < N) y[i] = T(1.7f * float(x[i]));\n"
                "}\n",
    "plain.cu": "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
                "template <class T> __global__ void plain(int N, const T* x, T* y) {\n"
                "  const int i = blockIdx.x * 32 + threadIdx.x;\n"
                "  if (i < N) y[i] = T(1.7f * float(x[i]));\n"
                "}\n",
}


def typed(document):
    document["problem"]["dims"].append(TYPES)
    document["problem"]["bytes"] = "2*N*bytes(A)"
    for argument in document["arguments"][1:]:
        argument["type"] = "${A}*"
    document["kernels"]["scale"]["entry"] = "scale<${BLOCK}, ${A}>"
    document["kernels"]["plain"]["entry"] = "plain<${A}>"


class TypesTest(ProgramTest):
    def run_scale(self, file, *arguments, **options):
        return self.tune("--space", file, "--kernel", "scale", "--backend", "cpu", "--strategy", "exhaustive", *arguments,
                         **options)

    def test_each_type_is_tuned_and_answered_by_itself(self):
        file = self.space_file(typed, SOURCES)
        self.tune("space", "check", file)
        self.run_scale(file, "--size", "1000")
        self.run_scale(file, "--size", "1000,TYPE=bf16", "--size", "1000,TYPE=f16")
        ask = lambda size, *more: self.tune("query", "--kernel", "scale", "--size", size, *more)
        self.assertRegex(ask("1000,TYPE=bf16").stdout, r"answer +exact")
        self.assertIn("const auto kernel = scale<", ask("1000,TYPE=bf16", "--format", "cpp").stdout)
        self.assertIn("__nv_bfloat16>", ask("1000,TYPE=bf16", "--format", "cpp").stdout)
        self.assertIn("__half* y", ask("1000,TYPE=f16", "--format", "cpp").stdout)
        self.assertIn("float>", ask("1000", "--format", "cpp").stdout)
        # Of a type that was not tuned nothing of another type is taken.
        self.refuse("query", "--kernel", "scale", "--size", "1000,TYPE=bf61", code=2, says="did you mean 'bf16'?")
        lines = self.tune("export").stdout.splitlines()
        sizes = {json.loads(line)["size"] if isinstance(json.loads(line).get("size"), str) else None for line in lines}
        self.assertTrue({"1000", "1000,TYPE=bf16", "1000,TYPE=f16"} <= sizes or len(lines) >= 3, sizes)

    def test_no_type_is_answered_from_another(self):
        file = self.space_file(typed, SOURCES)
        self.run_scale(file, "--size", "1000")
        done = self.tune("query", "--kernel", "scale", "--size", "1000,TYPE=bf16")
        self.assertRegex(done.stdout, "answer +default")

    def test_a_database_from_before_the_types_answers(self):
        file = self.space_file()
        self.run_scale(file, "--size", "1000")
        before = self.tune("query", "--kernel", "scale", "--size", "1000").stdout

        def with_types(document):
            document["problem"]["dims"].append(TYPES)
            for argument in document["arguments"][1:]:
                argument["type"] = "${A}*"

        file = self.space_file(with_types)
        self.assertEqual(self.tune("query", "--kernel", "scale", "--size", "1000").stdout, before)
        self.run_scale(file, "--size", "1000")
        self.assertEqual(self.rows("SELECT count(DISTINCT hash) FROM kernel WHERE name = 'scale'"), [(2,)],
                         "what its names of types mean identifies a kernel")

    def test_a_wrong_rounding_in_one_type_is_found_there(self):
        wrong = SOURCES["scale.cu"].replace("T(1.7f * float(x[i]))", "T(1.7f * float(__float2bfloat16(float(x[i]))))")
        file = self.space_file(typed, {**SOURCES, "scale.cu": wrong})
        self.run_scale(file, "--size", "1000,TYPE=bf16")
        self.run_scale(file, "--size", "1000", code=4)
        self.run_scale(file, "--size", "1000,TYPE=f16", code=4)

    def test_the_published_product_has_types(self):
        space = ROOT / "spaces/gemm.json"
        run = lambda kernel, *sizes, **options: self.tune(
            "--space", space, "--kernel", kernel, "--backend", "cpu", "--max-evals", "1",
            *[word for size in sizes for word in ("--size", size)], **options)
        run("gemm_naive", "2,2,2,TYPE=bf16", "16,16,16,TYPE=s8")
        code = lambda size: self.tune("query", "--kernel", "gemm_naive", "--size", size, "--format", "cpp").stdout
        self.assertIn('#include <cuda_bf16.h>\n#include "gemm_naive.cu"', code("2,2,2,TYPE=bf16"))
        self.assertIn("(int alpha, const signed char* A, const signed char* B, int beta, int* C,", code("16,16,16,TYPE=s8"))
        self.assertEqual(self.rows("SELECT DISTINCT metric FROM final"), [("cold",)])
        table = json.loads(self.tune("export", "--format", "json", "--family", "gemm").stdout)
        self.assertEqual(set(table["kernels"][0]["sizes"]), {"2,2,2,TYPE=bf16", "16,16,16,TYPE=s8"})
        self.refuse("--space", space, "--kernel", "gemm_cpu_rows", "--backend", "cpu", "--size", "2,2,2,TYPE=bf16", code=4,
                    says="this kernel computes in single precision; gemm_tiled has every type): TYPE=bf16")
        self.refuse("--space", space, "--kernel", "gemm_naive", "--backend", "cpu", "--size", "16,16,16,ALIGN=1,TYPE=f64",
                    code=2, says="matrices begin at whole elements")

    def test_the_fastest_algorithm_of_the_library_is_timed_shown_and_exported(self):
        self.tune(*SHORT_RUN)
        self.assertIn(("library_tuned",), self.rows("SELECT role FROM finalist"))
        # Which of the two is faster depends on the load of this machine: assume that the loops are.
        forge(self.database, "UPDATE best SET library_algorithm = 'host/1/loops', ratio_to_library_tuned = 0.875")
        query = ("query", "--kernel", "gemm_naive", "--size", "16,16,16")
        self.assertRegex(self.tune(*query).stdout, "library, tuned +×0.88 of the fastest algorithm of OpenBLAS")
        self.assertEqual(self.tune_json(*query)["tuned"]["library_algorithm"], "host/1/loops")
        table = json.loads(self.tune("export", "--format", "json", "--family", "gemm").stdout)
        self.assertEqual(table["kernels"][0]["entries"][0]["library_algorithm"], "host/1/loops")

    def test_bad_input_is_refused_with_the_place(self):
        def change(what):
            def changed(document):
                typed(document)
                what(document)
            return changed

        def unknown(document):
            document["arguments"][1]["type"] = "${B}*"

        self.refuse("space", "check", self.space_file(change(unknown), SOURCES), code=2,
                    says='arguments[1].type: no type of the problem is named "B"')
        file = self.space_file(typed, SOURCES)
        self.refuse("--space", file, "--kernel", "scale", "--backend", "cpu", "--size", "10,TYPE=fp4", code=2,
                    says="TYPE = fp4 is none of f32, bf16, f16")
        export = ("space", "export", file, "--kernel", "scale", "--device", "h200", "-o", "t1.json", "--size")
        self.refuse(*export, "10,TYPE=bf16", code=2, says="T1 has no type for elements of '__nv_bfloat16'")
        self.tune("-q", *export, "10,TYPE=f16")
        types = [it["Type"] for it in json.loads((self.directory / "t1.json").read_text())
                 ["KernelSpecification"]["Arguments"]]
        self.assertIn("half", types)


if __name__ == "__main__":
    unittest.main()
