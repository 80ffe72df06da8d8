// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/helper_compiler.hpp"
#include "tuner/dispatch/dispatcher.hpp"

#include <atomic>
#include <optional>

namespace tuner::dispatch {

/// Compiles in the application or in a helper process (DispatchOptions::compile_in).
class ApplicationCompiler : public backend::Compiler {
 public:
  /// `own` must outlive it. Throws DispatchError where a helper is asked for and there is none.
  ApplicationCompiler(const backend::Compiler& own, const DispatchOptions& options);

  /// From now on sources may be of a table that was not compiled into the application.
  void expect_foreign_sources() { has_foreign_sources_ = true; }
  /// Whether they are compiled in this process for want of a helper.
  [[nodiscard]] bool lacks_helper() const { return lacks_helper_; }

  [[nodiscard]] Expected<backend::Binary, Failure> compile(
      const family::CompileJob& job) const override;

 private:
  const backend::Compiler& own_;
  std::optional<backend::HelperCompiler> helper_;
  std::atomic<bool> has_foreign_sources_ = false;  // true for good: the table of before still runs
  bool lacks_helper_ = false;
};

}  // namespace tuner::dispatch
