// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer where there is none: gives a target every file of a corpus, once.
#include "tuner/core/file.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  constexpr std::size_t kLimitBytes = std::size_t{16} << 20;
  int inputs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& file : std::filesystem::directory_iterator(argv[i])) {
      std::printf("%s\n", file.path().c_str());
      std::fflush(stdout);  // when the target dies, the last line names the input
      const std::string bytes = tuner::read_file(file.path(), kLimitBytes);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  return inputs > 0 ? 0 : 1;
}
