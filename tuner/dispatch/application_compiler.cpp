// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/application_compiler.hpp"

#include <utility>

namespace tuner::dispatch {

ApplicationCompiler::ApplicationCompiler(const backend::Compiler& own,
                                         const DispatchOptions& options)
    : own_(own), has_foreign_sources_(options.compile_in == CompileIn::helper) {
  std::vector<std::string> arguments = own.helper_arguments();
  if (options.compile_in == CompileIn::process || arguments.empty()) return;
  const auto program = backend::compile_helper();
  lacks_helper_ = !program;
  if (program) {
    helper_.emplace(*program, std::move(arguments),
                    backend::HelperLimits{.deadline = options.compile_deadline,
                                          .memory_bytes = options.compile_memory_bytes});
  } else if (options.compile_in == CompileIn::helper) {
    throw DispatchError(
        "kernels are to be compiled in a helper process, but PREFIX/libexec/tuner/tuner-compile is "
        "not installed beside this library, other users may write to it, or this program is "
        "set-uid: install it, or choose another DispatchOptions::compile_in");
  }
}

Expected<backend::Binary, Failure> ApplicationCompiler::compile(
    const family::CompileJob& job) const {
  return helper_ && has_foreign_sources_ ? helper_->compile(job) : own_.compile(job);
}

}  // namespace tuner::dispatch
