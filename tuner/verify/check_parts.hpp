// SPDX-License-Identifier: Apache-2.0
// What a check looks at and what it finds, for the host and for the kernels of check_kernels.cu.
// Compiled into both, so it includes nothing and is C++11.
#pragma once

namespace tuner::verify {

/// The most parts that one check can have: 64 arguments, each an output with its repetition, two
/// halves of a guard zone around each, and the reference.
constexpr int kMostCheckParts = 264;

/// The words of an element that a reference leaves as it is: NaN in every floating-point type of 16
/// bits and more, and none that an operation results in.
constexpr unsigned kUnwritten = 0x7FED7FDEu;

/// What stands for a row of records: these are compared in place, or not at all.
constexpr unsigned kInPlace = 0xFFFFFFFEu, kIgnored = 0xFFFFFFFFu;

/// What memory that a kernel must not use holds during a launch: guard zones, outputs before they
/// are written, shared memory. A minimum, a maximum or a comparison ignores NaN, so that launches
/// differ in what they find there.
enum PoisonKind : int {
  nan_poison,       ///< NaN, no two words alike; a pattern where the type has no NaN
  highest_poison,   ///< infinity, or the greatest number of the type
  lowest_poison,    ///< −infinity, or the least number
  huge_poison,      ///< the greatest finite number, or another pattern
  smallest_poison,  ///< the least number above 0, or 0
  ordinary_poison,  ///< numbers from 1 to 2, or from 0 to 127 (7 for elements of a byte)
};

constexpr int kPoisonKinds = 6;

/// The poison of one launch.
struct Poison {
  int kind;
  unsigned long long seed;  ///< of the patterns
};

/// Memory is compared and reported in words of this number of bytes.
constexpr unsigned kWordBytes = 4;

/// Sums of squares are kept as multiples of this share of 1, so that their order does not matter.
constexpr double kSquareUnit = 1.0 / (1 << 30);

/// A piece of memory that is looked at. Offsets are bytes.
struct CheckPart {
  enum Kind : int {
    output,     ///< in the candidate's memory: elements equal to those expected, or within a bound
    repeat,     ///< an output again: bit for bit what the candidate computed before
    input,      ///< in the candidate's memory: to be left as it is
    reference,  ///< in the memory that a candidate never gets: to be left as it is
    guard,      ///< in the candidate's memory around the data: to be left as it is
  };
  enum Place : long long {
    none = -1,
    zeros = -2,    ///< of initial content: all bits are zero
    another = -3,  ///< of rows: those of another part, with which this one is looked at
  };
  int kind;
  int type;            ///< of the elements, an ElementType; of a guard: of the data next to it
  long long offset;    ///< of the piece in its memory
  long long count;     ///< elements of an output
  long long words;     ///< the piece in words of 32 bits
  long long expected;  ///< of an output, in the reference memory
  long long before;    ///< in the reference memory: what a repetition must be equal to
  long long allowed;   ///< in the reference memory: the largest error allowed; none: equality
  long long initial;   ///< in the reference memory: what an output holds before a launch
  /// Of an output or repetition whose records may be in any order or do not all count: in the
  /// reference memory, the row of each record; none: elements in place.
  long long rows;
  long long records;   ///< of all parts that are looked at together
  long long elements;  ///< of a record
  int element_bytes;
  int next;  ///< the next part to look at together with this one; none: there is none
};

/// What was found in a part. Indices count elements of an output, else words.
struct PartReport {
  unsigned long long wrong;  ///< how many are not as they should be
  unsigned long long first;  ///< the first of them; all ones when there is none
  unsigned long long last;   ///< the last of them
  unsigned long long worst;  ///< an output's largest error as a share of its bound, a float's bits
  unsigned long long squares;  ///< the sum of the squares of all shares, in kSquareUnit
  /// Of the content of an input or of the reference. Of records: 0 when they are those expected.
  unsigned long long fingerprint;
};

}  // namespace tuner::verify
