// SPDX-License-Identifier: Apache-2.0
// page_fixture DIRECTORY: writes the page of the sample database, which page_test.mjs opens.
#include "sample_store.hpp"
#include "tuner/report/report.hpp"

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const auto& path : tuner::write_reports(tuner::sample_store(), std::nullopt, argv[1])) {
    std::cout << path.string() << '\n';
  }
}
