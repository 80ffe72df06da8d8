// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tuner::worker {

/// Takes what a program writes to a descriptor, its stderr as a rule, for the message about its
/// end: a file in memory that cannot grow, so whatever it writes, the rest is refused.
class LastWords {
 public:
  /// Throws Error(failure) when there is no memory for it.
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  [[nodiscard]] int descriptor() const { return file_; }
  /// The last of what was written, without the line ends after it; empty: nothing.
  [[nodiscard]] std::string text() const;

 private:
  int file_;
};

}  // namespace tuner::worker
