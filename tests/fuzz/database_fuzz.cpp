// SPDX-License-Identifier: Apache-2.0
// Any bytes as a database that is opened to be read, and everything that is read from one.
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/select/select.hpp"
#include "tuner/store/store.hpp"

namespace {

using namespace tuner;

void ask(const store::Store& store) {
  static_cast<void>(store.devices());
  static_cast<void>(store.kernels({}));
  static_cast<void>(store.bests({}));
  static_cast<void>(store.trials(store::ResultFilter{}));
  for (const store::RunRecord& run : store.runs()) {
    static_cast<void>(store.trials(run.id));
    static_cast<void>(store.finalists(run.id, "16x16x16"));
  }
  static_cast<void>(
      select::select_configuration(store, {.kernel = "gemm_naive", .size = "16,16,16"}));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryDirectory directory;
  const auto path = directory.path() / "tune.db";
  write_file(path, fuzz::text_of(data, size));
  try {
    ask(store::Store(path, store::Store::Mode::read_only));
  } catch (const Error&) {
    // A damaged or foreign database; anything else that is thrown is a finding.
  }
  return 0;
}
