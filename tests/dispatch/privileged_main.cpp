// SPDX-License-Identifier: Apache-2.0
// Says what the library takes from the environment, a line each: its test makes it set-uid.
#include "tuner/backend/binary_cache.hpp"
#include "tuner/backend/registry.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/file.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/settings.hpp"
#include "tuner/store/database_path.hpp"

#include <fmt/format.h>

#include <exception>

namespace {

template <class Question>
std::string answer(Question question) {
  try {
    return question();
  } catch (const std::exception& error) {
    return std::string("error: ") + error.what();
  }
}

/// What `tune doctor` says of the compiler.
std::string examined_compiler() {
  for (const tuner::backend::Finding& finding : tuner::backend::examine_machine()) {
    if (finding.what == "host compiler") return finding.detail;
  }
  return "";
}

}  // namespace

int main() {
  fmt::print("privileged {}\n", tuner::is_privileged());
  fmt::print("record {}\n", tuner::dispatch::dispatch_settings().record.string());
  fmt::print("cache {}\n", tuner::backend::default_binary_cache().string());
  fmt::print("database {}\n", answer([] { return tuner::store::default_database().string(); }));
  fmt::print("temporary {}\n", tuner::TemporaryDirectory().path().parent_path().string());
  fmt::print("compiler {}\n", examined_compiler());
  fmt::print("cpu {}\n", answer([] {
               tuner::DispatchOptions options;
               options.backend = "cpu";
               const tuner::Dispatcher dispatcher(tuner::Table::none(), options);
               return std::string("opened");
             }));
}
