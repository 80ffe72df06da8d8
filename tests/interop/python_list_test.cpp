// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_list.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tuner::interop {
namespace {

using ::testing::HasSubstr;

/// The list as JSON text.
std::string list(const std::string& text) {
  return Json(python_list(text, "test")).dump();
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(python_list(text, "FILE: Values"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Python_list, Literals_of_every_kind) {
  EXPECT_EQ(list("[1, -2, 0.5, 1e3, True, False, 'xor', \"nt\",]"),
            R"([1,-2,0.5,1000.0,true,false,"xor","nt"])");
  EXPECT_EQ(list("[]"), "[]");
  EXPECT_EQ(list("(1, 2)"), "[1,2]");
}

TEST(Python_list, Ranges_and_comprehensions) {
  EXPECT_EQ(list("list(range(32, 129, 32))"), "[32,64,96,128]");
  EXPECT_EQ(list("range(3)"), "[0,1,2]");
  EXPECT_EQ(list("list(range(3, 0, -1))"), "[3,2,1]");
  EXPECT_EQ(list("[2**i for i in range(6)]"), "[1,2,4,8,16,32]");
  EXPECT_EQ(list("[i for i in range(1, 11) if 10 % i == 0]"), "[1,2,5,10]");
  EXPECT_EQ(list("[i for i in range(9) if i > 2 if i < 5]"), "[3,4]");
  EXPECT_EQ(list("[a*10 + b for a in [1, 2] for b in range(a)]"), "[10,20,21]");
  EXPECT_EQ(list("list(2*i for i in range(3))"), "[0,2,4]");
  EXPECT_EQ(list("[1, 2, 4, 8, 16] + list(range(32, 64+1, 32))"), "[1,2,4,8,16,32,64]");
}

TEST(Python_list, Arithmetic_is_that_of_Python) {
  EXPECT_EQ(list("[7//2, -7//2, 7%3, -7%3, 7/2, 2**-1, -2**2, 2**3**2, 1<<4, 17>>2]"),
            "[3,-4,1,2,3.5,0.5,-4,512,16,4]");
  EXPECT_EQ(list("[min(3, 1, 2), max([4, 5]), abs(-3), int(3.9), float(2), 4/2]"),
            "[1,5,3,3,2.0,2.0]");
  EXPECT_EQ(list("[1 < 2 <= 2, 1 == 1.0, not 1, 2 in [1, 2], 3 not in [1, 2], 0 or 5, 1 and 6]"),
            "[true,true,false,true,true,5,6]");
}

TEST(Python_list, What_cannot_matter_is_read_and_not_computed) {
  EXPECT_EQ(
      list("[0 and 1//0, 5 or x, 2 < 1 < 1//0, 1 and 2 or 1//0, not 1 and [1//0 for i in y]]"),
      "[0,5,false,2,false]");
  EXPECT_EQ(list("[i for i in range(4) if i > 0 if 4//i > 1]"), "[1,2]");
  EXPECT_EQ(list("[[j for j in range(i)] for i in range(3) if i] + [[i for i in []]]"),
            "[[0],[0,1],[]]");
  EXPECT_EQ(list("[min(j for j in [i, 2]) for i in (1, 3)] + [max(4, min([5, 6]))]"), "[1,2,5]");
  EXPECT_THAT(refusal("[x, 1 2]"), HasSubstr("expected ','"));  // before the name is looked up
  EXPECT_THAT(refusal("[1 2 for i in [1]]"), HasSubstr("expected ','"));
  EXPECT_THAT(refusal("[0 and (1 or]"), HasSubstr("expected a value"));
  EXPECT_THAT(refusal("[1 for a in [1] for b in [1] for c in [1] for d in [1] for e in [1]]"),
              HasSubstr("more than 4 loops"));
}

TEST(Python_list, Only_arithmetic_can_happen) {
  EXPECT_THAT(refusal("__import__('os').system('true')"), HasSubstr("cannot be in a list"));
  EXPECT_THAT(refusal("__import__('os')"), HasSubstr("unknown function '__import__'"));
  EXPECT_THAT(refusal("[x]"), HasSubstr("unknown name 'x'"));
  EXPECT_THAT(refusal("[i for i in range(3)] + [i]"), HasSubstr("unknown name 'i'"));
  EXPECT_THAT(refusal("3"), HasSubstr("must be a list"));
}

TEST(Python_list, Limits_hold) {
  EXPECT_THAT(refusal("list(range(10**9))"), HasSubstr("more than 65536 elements"));
  EXPECT_THAT(refusal("[1 for a in range(60000) for b in range(60000) if b < 0]"),
              HasSubstr("too many steps"));
  EXPECT_THAT(refusal("[9**99]"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(refusal("[1//0]"), HasSubstr("division by zero"));
  EXPECT_THAT(refusal(std::string(5000, '[')), HasSubstr("nested too deep"));
  EXPECT_THAT(refusal(std::string(5000, '-') + "1"), HasSubstr("nested too deep"));
  EXPECT_THAT(refusal(std::string(100000, ' ')), HasSubstr("longer than 65536 bytes"));
}

TEST(Python_list, An_error_says_where) {
  EXPECT_EQ(refusal("[1, 2"), "FILE: Values: expected ','\n    [1, 2\n         ^");
  EXPECT_EQ(refusal("[1, $]"),
            "FILE: Values: a character that cannot be in a list of values\n    [1, $]\n        ^");
}

}  // namespace
}  // namespace tuner::interop
