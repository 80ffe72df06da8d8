// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/store_instruction.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tuner::backend {
namespace {

constexpr unsigned kRax = 0, kRbx = 3, kRdi = 7, kR8 = 8, kR13 = 13;

class BaseOfStoreTest : public testing::Test {
 protected:
  /// rax holds 0x10000, rcx 0x20000 and so on.
  BaseOfStoreTest() {
    for (std::size_t i = 0; i < registers_.size(); ++i) registers_[i] = at(i);
  }
  static std::uint64_t at(std::size_t number) { return 0x10000 * (number + 1); }
  [[nodiscard]] std::optional<unsigned> base(const std::vector<std::uint8_t>& code,
                                             std::uint64_t address) const {
    return base_of_store(code.data(), registers_, address);
  }

  Registers registers_{};
};

using testing::Eq;
using testing::Optional;

TEST_F(BaseOfStoreTest, IsFoundInTheStoresOfCompilers) {
  EXPECT_THAT(base({0x89, 0x07}, at(kRdi)), Optional(kRdi));                    // mov [rdi], eax
  EXPECT_THAT(base({0x48, 0x89, 0x47, 0xF8}, at(kRdi) - 8), Optional(kRdi));    // mov [rdi-8], rax
  EXPECT_THAT(base({0x41, 0xC7, 0x80, 0, 1, 0, 0, 9, 0, 0, 0}, at(kR8) + 256),  // mov [r8+256], 9
              Optional(kR8));
  EXPECT_THAT(base({0x66, 0x89, 0x04, 0x5F}, at(kRdi) + 2 * at(kRbx)),  // mov [rdi+2*rbx], ax
              Optional(kRdi));
  EXPECT_THAT(base({0xF3, 0x0F, 0x11, 0x07}, at(kRdi)), Optional(kRdi));  // movss [rdi], xmm0
  EXPECT_THAT(base({0xF0, 0x01, 0x07}, at(kRdi)), Optional(kRdi));        // lock add [rdi], eax
  EXPECT_THAT(base({0xC5, 0xFC, 0x11, 0x07}, at(kRdi)), Optional(kRdi));  // vmovups [rdi], ymm0
  EXPECT_THAT(base({0xC4, 0xC1, 0x7A, 0x11, 0x45, 0x04}, at(kR13) + 4),   // vmovss [r13+4], xmm0
              Optional(kR13));
  // vmovups [rdi+64], zmm0, whose displacement is one vector
  EXPECT_THAT(base({0x62, 0xF1, 0x7C, 0x48, 0x11, 0x47, 0x01}, at(kRdi) + 64), Optional(kRdi));
}

TEST_F(BaseOfStoreTest, IsNoneWhereTheRegisterIsAlsoAValue) {
  EXPECT_THAT(base({0x48, 0x89, 0x00}, at(kRax)), Eq(std::nullopt));      // mov [rax], rax
  EXPECT_THAT(base({0x88, 0x20}, at(kRax)), Eq(std::nullopt));            // mov [rax], ah
  EXPECT_THAT(base({0x88, 0x23}, at(kRbx)), Optional(kRbx));              // mov [rbx], ah
  EXPECT_THAT(base({0x40, 0x88, 0x20}, at(kRax)), Optional(kRax));        // mov [rax], spl
  EXPECT_THAT(base({0x0F, 0xB1, 0x18}, at(kRax)), Eq(std::nullopt));      // cmpxchg [rax], ebx
  EXPECT_THAT(base({0x0F, 0xC1, 0x1B}, at(kRbx)), Eq(std::nullopt));      // xadd [rbx], ebx
  EXPECT_THAT(base({0x89, 0x1C, 0x00}, 2 * at(kRax)), Eq(std::nullopt));  // mov [rax+rax], ebx
}

TEST_F(BaseOfStoreTest, IsNoneWhereTheAddressIsAnother) {
  EXPECT_THAT(base({0x89, 0x07}, at(kRdi) + 4), Eq(std::nullopt));
  EXPECT_THAT(base({0x65, 0x89, 0x07}, at(kRdi)), Eq(std::nullopt));        // mov gs:[rdi], eax
  EXPECT_THAT(base({0x67, 0x89, 0x07}, at(kRdi)), Eq(std::nullopt));        // mov [edi], eax
  EXPECT_THAT(base({0x89, 0x05, 0, 0, 0, 0}, at(kRdi)), Eq(std::nullopt));  // mov [rip], eax
  EXPECT_THAT(base({0x89, 0x04, 0x24}, at(4)), Eq(std::nullopt));           // mov [rsp], eax
  EXPECT_THAT(base({0x89, 0x04, 0x25, 0, 0, 1, 0}, 0x10000),
              Eq(std::nullopt));  // mov [0x10000], eax
}

TEST_F(BaseOfStoreTest, IsNoneOfOtherInstructions) {
  EXPECT_THAT(base({0xAB}, at(kRdi)), Eq(std::nullopt));                          // stosd
  EXPECT_THAT(base({0x89, 0xC7}, at(kRdi)), Eq(std::nullopt));                    // mov edi, eax
  EXPECT_THAT(base({0xC4, 0xE2, 0x75, 0x8E, 0x07}, at(kRdi)), Eq(std::nullopt));  // vpmaskmovd
}

}  // namespace
}  // namespace tuner::backend
