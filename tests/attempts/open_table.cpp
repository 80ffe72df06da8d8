// SPDX-License-Identifier: Apache-2.0
// open_table database|file|default [PATH]: an application that opens a table and prepares the
// family `scale` at 64.
#include "tuner/dispatch/dispatcher.hpp"

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  try {
    const std::string kind = argc > 1 ? argv[1] : "default";
    tuner::DispatchOptions options;
    options.backend = "cpu";
    options.cache = "cache";
    tuner::Dispatcher dispatcher(kind == "file"
                                     ? tuner::Table::file(argv[2])
                                     : tuner::Table::database(kind == "database" ? argv[2] : ""),
                                 options);
    const tuner::FamilyId family = dispatcher.family("scale");
    const auto prepared = dispatcher.prepare(family, std::vector<tuner::Size>{{64}});
    if (prepared.front().answer) return 0;
    std::fprintf(stderr, "error: %s\n", prepared.front().error.c_str());
  } catch (const tuner::DispatchError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}
