// SPDX-License-Identifier: Apache-2.0
// Any text as a T1 description: a space file, or one Error.
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/interop/t1.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  static const space::DeviceAttributes device = space::device_profile("h200")->attributes;
  try {
    const interop::ImportedSpace space =
        interop::import_t1(fuzz::text_of(data, size), "fuzz", ".", device);
    fuzz::require(!space.text.empty(), "an import gives a text");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::usage || error.code() == ErrorCode::no_valid_config,
                  "a bad file is the user's to fix");
  }
  return 0;
}
