// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/worker/compile_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace tuner::session {

/// The compilers of one machine, and the cards of a run that they work for.
struct CompileSite {
  /// The compiler must outlive it.
  CompileSite(const backend::Compiler& its_compiler, int its_threads)
      : compiler(its_compiler), threads(its_threads), pool(its_compiler, its_threads) {}

  /// How many configurations a card has in flight.
  [[nodiscard]] std::size_t ahead() const {
    // For each that can compile at once: enough that no compiler waits, and no more, since what is
    // asked late is asked with more known.
    constexpr std::size_t kAhead = 2;
    const std::size_t working = std::max<std::size_t>(1, cards);
    return std::max(kAhead, kAhead * static_cast<std::size_t>(threads) / working);
  }

  const backend::Compiler& compiler;
  const int threads;
  worker::CompilePool pool;
  std::atomic<std::size_t> cards = 0;
};

}  // namespace tuner::session
