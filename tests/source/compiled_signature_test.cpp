// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/compiled_signature.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tuner::source {
namespace {

// What compilers tell is tested with them: cpu_backend_test.cpp, cuda_nvrtc_compiler_test.cpp.

TEST(CompiledSignature, AnExpressionNamesThePlaceAndTheEntry) {
  EXPECT_EQ(signature_expression(2, "detail::scale<float, 4>"),
            "&tuner::Signature<2, decltype(&detail::scale<float, 4>)>");
}

TEST(CompiledSignature, SymbolsOfKernelsAreNone) {
  EXPECT_TRUE(is_signature("_ZN5tuner9SignatureILi0EPFvPKfiEEE"));
  EXPECT_FALSE(is_signature("_Z5scaleIfEvPT_i"));
  EXPECT_FALSE(is_signature("scale"));
}

TEST(CompiledSignature, WhatIsNoImageTellsNone) {
  EXPECT_TRUE(compiled_signatures({}).empty());
  const std::array<std::byte, 100> zeros{};
  EXPECT_TRUE(compiled_signatures(zeros).empty());
}

}  // namespace
}  // namespace tuner::source
