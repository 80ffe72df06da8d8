// SPDX-License-Identifier: Apache-2.0
#include "tuner/capture/captured_program.hpp"
#include "tuner/cli/commands.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/preloading.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/shell_words.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::int64_t> elements_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> elements;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    std::int64_t count = 0;
    const char* const end = text.data() + text.size();
    const bool is_good = equals != std::string::npos &&
                         std::from_chars(text.data() + equals + 1, end, count).ptr == end;
    if (!is_good || count < 1) {
      throw Error(ErrorCode::usage,
                  fmt::format("--elements {}: write NAME=N, as in --elements x=1000", text));
    }
    elements[text.substr(0, equals)] = count;
  }
  return elements;
}

/// What the program starts with. Its libraries keep no compiled kernels, whose sources would not be
/// seen, and no freed memory, which would be counted to the buffers beside it.
void set_environment(const CaptureOptions& options, const fs::path& record) {
  set_preloaded("libtuner_capture.so");
  ::setenv("TUNER_CAPTURE_RECORD", record.c_str(), 1);
  ::setenv("TUNER_CAPTURE_KERNEL", options.kernel.c_str(), 1);
  ::setenv("TUNER_CAPTURE_LAUNCH", std::to_string(options.launch).c_str(), 1);
  ::setenv("TUNER_CAPTURE_LIMIT", std::to_string(options.limit_mib).c_str(), 1);
  ::setenv("CUPY_CACHE_IN_MEMORY", "1", 0);
  ::setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 0);
}

}  // namespace

int capture(const CommonOptions& common, const CaptureOptions& options) {
  const fs::path folder =
      options.output.empty() ? fs::path("captured_" + options.kernel) : fs::path(options.output);
  if (fs::exists(folder)) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: exists already: name another folder with -o", folder.string()));
  }
  const capture::ProgramOptions wanted{.kernel = options.kernel,
                                       .source = options.source,
                                       .elements = elements_of(options.elements)};
  const TemporaryDirectory record;
  set_environment(options, record.path());
  const Expected<int, int> ended = run_program(options.program);
  if (!ended) return ended.error();
  const capture::CapturedProgram made =
      capture::write_program_capture(folder, record.path(), wanted);
  for (const std::string& warning : made.warnings) tell(fmt::format("warning: {}\n", warning));
  // On stderr: the standard output is the program's.
  const std::string run =
      shell_line(std::vector<std::string>{"tune", "--space", made.space.string()});
  if (!common.quiet) tell(fmt::format("{} was captured: {}\n", options.kernel, run));
  return *ended;
}

}  // namespace tuner::cli
