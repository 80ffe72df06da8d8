// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/instruction_mix.hpp"

#include <gmock/gmock.h>

namespace tuner::counters {
namespace {

// In the form in which cuobjdump prints code of sm_90a.
constexpr std::string_view kListing = R"(
Fatbin elf code:
================
arch = sm_90a
		Function : _Z1kPf
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                   /* 0x00000a00ff017b82 */
                                                                            /* 0x000fe20000000800 */
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;         /* 0x0000000402020981 */
        /*0020*/                   STS.128 [R0], R4 ;                       /* 0x0000000400007388 */
        /*0030*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;            /* 0x0000000000007b1d */
.L_x_1:
        /*0040*/                   LDS.128 R8, [R0] ;                       /* 0x0000000000087984 */
        /*0050*/                   FFMA R12, R8, R9, R12 ;                  /* 0x00000009080c7223 */
        /*0060*/                   FFMA R13, R8, R10, R13 ;                 /* 0x0000000a080d7223 */
        /*0070*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24 ; /* 0x03e00000081879f0 */
        /*0080*/                   STL [R1], R12 ;                          /* 0x0000000c01007387 */
        /*0090*/               @P1 BRA 0x40 ;                               /* 0xfffffffc00d01947 */
        /*00a0*/                   BRA 0xa0;                                /* 0xfffffffc00fc7947 */
        /*00b0*/                   NOP;                                     /* 0x0000000000007918 */
		..........
)";

TEST(InstructionMix, CountsTheKindsOfAListing) {
  const auto mix = instruction_mix(kListing);
  ASSERT_TRUE(mix);
  EXPECT_EQ(*mix, (InstructionMix{.fma = 2,
                                  .tensor = 1,
                                  .global_memory = 1,
                                  .shared_memory = 2,
                                  .local_memory = 1,
                                  .synchronization = 1,
                                  .other = 3}));
  EXPECT_EQ(mix->total(), 11);
}

TEST(InstructionMix, IsNoneWhereNothingIsListed) {
  EXPECT_FALSE(instruction_mix(""));
  EXPECT_FALSE(instruction_mix("cuobjdump info    : File 'a.so' does not contain device code"));
  EXPECT_FALSE(instruction_mix("/*"));
  EXPECT_FALSE(instruction_mix("/*0000*/"));
}

TEST(InstructionMix, FieldsAreAllOfIt) {
  EXPECT_EQ(instruction_fields().size() * sizeof(std::int64_t), sizeof(InstructionMix));
}

TEST(InstructionsSentence, LeavesOutWhatThereIsNot) {
  EXPECT_EQ(instructions_sentence({.fma = 1021, .shared_memory = 192, .other = 267}),
            "1,480 instructions: FMA 69 %, shared memory 13 %, others 18 %");
}

}  // namespace
}  // namespace tuner::counters
