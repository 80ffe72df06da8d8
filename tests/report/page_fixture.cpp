// SPDX-License-Identifier: Apache-2.0
// page_fixture DIRECTORY: writes the page of the sample database and the sample sweep, which
// page_test.mjs opens.
#include "sample_store.hpp"
#include "tuner/core/file.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/sweep_sections.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string file = TUNER_SOURCE_DIR "/tests/data/sweep/sample.json";
  const std::array sweeps = {tuner::report::parse_sweep(tuner::read_file(file, 1 << 20), file)};
  for (const auto& path :
       tuner::report::write_reports(tuner::report::sample_store(), std::nullopt, argv[1], sweeps)) {
    std::cout << path.string() << '\n';
  }
}
