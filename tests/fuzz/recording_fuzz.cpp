// SPDX-License-Identifier: Apache-2.0
// Any text as a file of measured configurations: a recording that can be written and read again, or
// one Error(usage).
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/interop/recording_file.hpp"
#include "tuner/interop/recording_text.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  try {
    const interop::Recording recording =
        interop::parse_recording(fuzz::text_of(data, size), "fuzz");
    const std::size_t parameters = recording.definition->parameters.size();
    for (const interop::RecordedTrial& trial : recording.trials) {
      fuzz::require(trial.config.choice.size() == parameters, "a trial has every parameter");
      fuzz::require(trial.time_ms.has_value() == (trial.outcome == Outcome::ok),
                    "what ended well has a time, and nothing else");
    }
    const interop::Recording again =
        interop::parse_recording(interop::cache_text(recording), "again");
    fuzz::require(again.trials.size() <= recording.trials.size(), "no trial appears");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::usage, "a bad file is the user's to fix");
  }
  return 0;
}
