// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/executor.hpp"

#include <filesystem>
#include <functional>
#include <memory>

namespace tuner {

/// Prints how long a table of so many entries takes to open, and to answer its first question:
/// from a database that nothing is kept of, from the same once it was read, and exported.
/// `executor` makes an H200.
void print_opening(const std::function<std::unique_ptr<backend::Executor>()>& executor,
                   int entries);

/// Prints the sizes of the compiled kernels in a table, how long one takes to get, and how long the
/// table takes to open with them and without.
void print_code(const std::function<std::unique_ptr<backend::Executor>()>& executor,
                const std::filesystem::path& table);

}  // namespace tuner
