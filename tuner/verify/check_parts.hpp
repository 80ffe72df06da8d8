// SPDX-License-Identifier: Apache-2.0
// What a check looks at and what it finds, for the host and for the kernels of check_kernels.cu.
// Compiled into both, so it includes nothing and is C++11.
#pragma once

namespace tuner {

/// The most parts that one check can have: 64 arguments, each an output with its repetition and a
/// guard zone, and the reference.
constexpr int kMostCheckParts = 200;

/// The words of an element that a reference leaves as it is: NaN in every floating-point type.
constexpr unsigned kUnwritten = 0x7FF8DEADu;

/// A piece of memory that is looked at. Offsets are bytes; -1: there is none.
struct CheckPart {
  enum Kind : int {
    output,     ///< in the candidate's memory: elements equal to those expected, or within a bound
    repeat,     ///< an output again: bit for bit what the candidate computed before
    input,      ///< in the candidate's memory: to be left as it is
    reference,  ///< in the memory that a candidate never gets: to be left as it is
    guard,      ///< in the candidate's memory around the data: to be left as it is
  };
  int kind;
  int type;             ///< of an output's elements, an ElementType
  long long offset;     ///< of the piece in its memory
  long long count;      ///< elements of an output
  long long words;      ///< the piece in words of 32 bits
  long long expected;   ///< of an output, in the reference memory
  long long before;     ///< in the reference memory: what a repetition must be equal to
  long long magnitude;  ///< in the reference memory: what scales the bound; none: equality
  long long initial;    ///< in the reference memory: what an output holds before a launch
  double factor;        ///< of the bound
};

/// What was found in a part. Indices count elements of an output, else words.
struct CheckReport {
  unsigned long long wrong;  ///< how many are not as they should be
  unsigned long long first;  ///< the first of them; all ones when there is none
  unsigned long long last;   ///< the last of them
  unsigned long long worst;  ///< an output's largest error as a share of its bound, a float's bits
  unsigned long long fingerprint;  ///< of the content of an input or of the reference
};

}  // namespace tuner
