// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_compiler.hpp"

#include "tuner/backend/cpu/host_source.hpp"
#include "tuner/backend/cpu/interleaved_image.hpp"
#include "tuner/backend/cpu/kernel_headers.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/source/device_code.hpp"
#include "tuner/source/framework_headers.hpp"
#include "tuner/source/include.hpp"
#include "tuner/source/plain_updates.hpp"
#include "tuner/source/standard_headers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace tuner::backend {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t kAddressSpace = std::uint64_t{4} << 30;
constexpr std::size_t kLogLimit = 4096;
constexpr std::string_view kPlatform = "platform";  // the folder of kernel_headers()
constexpr std::string_view kUnit = "unit.cpp", kMacros = "macros.hpp", kImage = "image.so";
constexpr std::string_view kFrameworks = "frameworks.hpp";
constexpr std::size_t kImageLimit = std::size_t{256} << 20;

constexpr std::array kBaseOptions = {
    "-O3",
    "-march=native",
    "-std=c++20",
    "-shared",
    "-fPIC",
    // As nvcc: contraction to fma, no errno, no exceptions, no reliance on strict aliasing.
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-strict-aliasing",
    "-fwrapv",  // integers wrap on a GPU
    // A sum that a kernel forgets to set to zero often is zero on a fresh stack.
    "-ftrivial-auto-var-init=pattern",
    // Everything but the entry is the image's own, and dlclose really unloads it.
    "-fvisibility=hidden",
    "-Wl,-Bsymbolic",
    // Only what the entries reach, so that its __shared__ variables can be counted.
    "-ffunction-sections",
    "-fdata-sections",
    "-Wl,--gc-sections",
    // g++'s start files would switch the process to flush-to-zero under -ffast-math.
    "-nostartfiles",
    // What a macro is made of says nothing to who wrote the kernel.
    "-ftrack-macro-expansion=0",
    // To show a line, g++ opens the file that #line names, wherever that is.
    "-fno-diagnostics-show-caret",
    // A kernel thread runs on a small stack (block_runner.cpp).
    "-Werror=frame-larger-than=49152",
};

constexpr std::array kInterleavedOptions = {
    "-O1",
    "-fsanitize=thread",
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
    "-nodefaultlibs",  // nor the sanitizer's
    "-DTUNER_INTERLEAVED",
    "-w",
};

std::string without(std::string text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
  return text;
}

Unexpected<Failure> compile_error(std::string message) {
  return Unexpected(Failure{Outcome::compile_error, std::move(message)});
}

/// A relative path that stays below the directory it is relative to.
bool stays_inside(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return !normal.empty() && normal.is_relative() && *normal.begin() != "..";
}

std::optional<HostCompilerInfo> examine(const std::string& program) {
  try {
    const ProcessResult result = run_process({program, "-dumpfullversion", "-dumpversion"}, 10s);
    if (result.exit_code != 0 || result.timed_out) return std::nullopt;
    return HostCompilerInfo{program, result.output.substr(0, result.output.find('\n'))};
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> host_options(std::span<const std::string> kernel_options) {
  std::vector<std::string> options(kBaseOptions.begin(), kBaseOptions.end());
  for (const std::string& option : kernel_options) {
    if (option == "--use_fast_math" || option == "-use_fast_math") {
      // CUDA's fast mathematics still knows NaN and infinity.
      options.insert(options.end(), {"-ffast-math", "-fno-finite-math-only"});
    } else if (option == "--fmad=false") {
      options.emplace_back("-ffp-contract=off");
    } else if (option == kStandardMath || option.starts_with("-std=") ||
               option.starts_with("--std=")) {
      options.push_back(option);
    }  // macros are in a header, and what else there is has no meaning for a processor
  }
  return options;
}

bool is_of_processors(const family::CompileJob& job) {
  return std::ranges::count(job.options, kStandardMath) > 0;
}

/// The texts that name what of a job's source is in use.
std::vector<std::string> roots_of(const family::CompileJob& job) {
  std::vector<std::string> roots = job.options;
  roots.insert(roots.end(), job.entries.begin(), job.entries.end());
  return roots;
}

family::CompileJob device_part(const family::CompileJob& job) {
  family::CompileJob device = job;
  device.source = source::device_code(job.source, roots_of(job));
  return device;
}

bool mentions(const source::KernelSource& source, std::string_view what) {
  return source::any_text(
      source, [&](std::string_view text) { return text.find(what) != std::string_view::npos; });
}

/// The headers of kernel_headers() to include before the kernel's macros are defined.
std::vector<std::string_view> early_headers(const source::KernelSource& source) {
  std::vector<std::string_view> names;
  if (mentions(source, "std::")) names.push_back(kKernelStd);
  for (const source::Header& header : kernel_headers()) {
    if (mentions(source, fmt::format("<{}>", header.name)) ||
        mentions(source, fmt::format("\"{}\"", header.name))) {
      names.push_back(header.name);
    }
  }
  return names;
}

/// Headers that a source includes and for which there is nothing on the cpu backend: they are
/// empty, since a kernel may need nothing of them.
struct EmptyHeaders {
  std::vector<std::string> of_frameworks, of_toolkit;
};

EmptyHeaders empty_headers(const source::KernelSource& source) {
  EmptyHeaders result;
  for (std::string& name : source::foreign_includes(source)) {
    if (source::is_framework_header(name)) {
      result.of_frameworks.push_back(std::move(name));
    } else if (source::is_toolkit_header(name) &&
               std::ranges::count(kernel_headers(), name, &source::Header::name) == 0) {
      result.of_toolkit.push_back(std::move(name));
    }
  }
  return result;
}

/// What to say before the log of a compiler that found an error in a source with empty headers.
std::string unavailable_headers(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  return fmt::format(
      "<{}> {} not available on the cpu backend, and {} empty here: for a kernel that needs {}, "
      "add "
      "\"backends\": [\"cuda\"] to the kernel, or tune it with --backend cuda\n",
      fmt::join(names, ">, <"), names.size() == 1 ? "is" : "are", names.size() == 1 ? "is" : "are",
      names.size() == 1 ? "it" : "them");
}

/// What to say after the log of a compiler whose own libraries could not be read.
std::string_view unreadable_library_hint(std::string_view log) {
  if (log.find("cannot open shared object file") == std::string_view::npos) return {};
  return "\na confined compiler reads the system's folders, its own, and those that "
         "LD_LIBRARY_PATH "
         "and PATH name: add the library's to LD_LIBRARY_PATH";
}

}  // namespace

std::optional<HostCompilerInfo> find_host_compiler() {
  if (is_privileged()) return std::nullopt;
  if (const std::string named = environment_variable("TUNER_HOST_CXX"); !named.empty()) {
    return examine(named);
  }
  const auto info = examine("g++");
  return info ? info : examine("c++");
}

std::string host_compiler_recipe() {
  std::vector<std::string_view> parts;
  for (const auto* headers : {&kernel_prelude(), &kernel_headers()}) {
    for (const source::Header& header : *headers)
      parts.insert(parts.end(), {header.name, header.text});
  }
  const std::string frameworks =
      source::framework_declarations({.name = {}, .text = "Half", .headers = {}});
  parts.emplace_back(frameworks);
  parts.insert(parts.end(), kBaseOptions.begin(), kBaseOptions.end());
  parts.insert(parts.end(), kInterleavedOptions.begin(), kInterleavedOptions.end());
  return content_hash(parts);
}

HostCompiler::HostCompiler(HostCompilerInfo info, std::chrono::seconds deadline,
                           std::vector<std::string> confiner)
    : info_(std::move(info)), deadline_(deadline), confiner_(std::move(confiner)) {}

const fs::path& HostCompiler::headers() const {
  std::call_once(headers_written_, [this] {
    for (const source::Header& header : kernel_prelude()) {
      write_file(headers_.path() / header.name, header.text);
    }
    for (const source::Header& header : kernel_headers()) {
      write_file(headers_.path() / kPlatform / header.name, header.text);
    }
  });
  return headers_.path();
}

std::vector<std::string> HostCompiler::command(const family::CompileJob& job, bool of_processors,
                                               const fs::path& directory, Variant variant) const {
  const fs::path& ours = headers();
  std::vector<std::string> words = confiner_;
  if (!confiner_.empty()) words.push_back(ours.string());
  words.push_back(info_.program);
  std::ranges::move(host_options(job.options), std::back_inserter(words));
  if (!of_processors) words.insert(words.end(), {"-isystem", (ours / kPlatform).string()});
  words.insert(words.end(),
               {"-I", directory.string(), "-include", (ours / "cuda_on_cpu.hpp").string()});
  if (!of_processors) {
    for (const std::string_view header : early_headers(job.source)) {
      words.insert(words.end(), {"-include", (ours / kPlatform / header).string()});
    }
  }
  words.insert(words.end(), {"-include", (directory / kFrameworks).string()});
  if (variant == Variant::interleaved) {
    words.insert(words.end(), kInterleavedOptions.begin(), kInterleavedOptions.end());
    words.insert(words.end(), {"-include", (ours / kInterleaving).string()});
  }
  words.insert(words.end(), {"-include", (directory / kMacros).string()});
  words.insert(words.end(), {(directory / kUnit).string(), "-o", (directory / kImage).string()});
  return words;
}

Failure HostCompiler::refusal(const ProcessResult& result, const fs::path& directory,
                              const std::vector<std::string>& unavailable) const {
  std::string log = without(result.output, directory.string() + "/");
  log = without(std::move(log), headers().string() + "/");
  if (log.find_first_not_of(" \t\r\n") == std::string::npos) {
    log = fmt::format("{} ended with exit code {} and printed nothing", info_.program,
                      result.exit_code);
  }
  log = unavailable_headers(unavailable) + without_export(log);
  return {Outcome::compile_error, log.substr(0, kLogLimit) + source::missing_header_hint(log) +
                                      std::string(unreadable_library_hint(log))};
}

Expected<Binary, Failure> HostCompiler::compile(const family::CompileJob& whole) const {
  if (auto problem = source::include_problem(whole.source))
    return compile_error(*std::move(problem));
  const bool of_processors = is_of_processors(whole);
  const family::CompileJob job = of_processors ? whole : device_part(whole);
  const TemporaryDirectory directory;
  for (const source::Header& header : job.source.headers) {
    if (!stays_inside(header.name)) {
      return compile_error(fmt::format(
          "header \"{}\": the cpu backend takes headers from the kernel's folder and below only",
          header.name));
    }
    write_file(directory.path() / header.name, host_source(header.text));
  }
  const EmptyHeaders empty = of_processors ? EmptyHeaders{} : empty_headers(job.source);
  for (const auto* names : {&empty.of_frameworks, &empty.of_toolkit}) {
    for (const std::string& name : *names) write_file(directory.path() / name, "");
  }
  write_file(
      directory.path() / kFrameworks,
      empty.of_frameworks.empty() ? "" : source::framework_declarations(job.source, job.entries));
  write_file(directory.path() / kMacros, host_macros(job));
  write_file(directory.path() / kUnit, host_unit(job));
  failpoint("backend.unit_written");

  const ProcessLimits limits{
      .processor_time = deadline_,  // also if this process ends first
      .address_space_bytes = kAddressSpace,
      .file_bytes = kImageLimit,
      .temporary_files = directory.path()};  // one that is killed leaves them behind
  const ProcessResult result =
      run_process(command(job, of_processors, directory.path(), Variant::as_is), deadline_, limits);
  failpoint("backend.compiler_ended");
  if (result.timed_out) {
    return Unexpected(
        Failure{Outcome::compile_timeout,
                fmt::format("{} did not end within {} s", info_.program, deadline_.count())});
  }
  if (result.exit_code != 0) {
    Failure failure = refusal(result, directory.path(), empty.of_toolkit);
    if (!of_processors) failure.message += source::host_code_hint(whole.source);
    return Unexpected(std::move(failure));
  }
  const fs::path image = directory.path() / kImage;
  if (!fs::is_regular_file(image) || fs::is_empty(image)) {
    return compile_error(
        fmt::format("{} ended without an error and wrote no image; TUNER_HOST_CXX names the "
                    "compiler",
                    info_.program));
  }
  const std::string bytes = read_file(image, kImageLimit);
  failpoint("backend.image_read");
  const auto view = std::as_bytes(std::span(bytes));
  Binary binary{.image = {view.begin(), view.end()}, .symbols = exported_names(job)};
  // What stands for instructions of a GPU on the cpu backend relies on running uninterrupted.
  const bool stands_for_instructions = mentions(job.source, "TUNER_CPU_BACKEND");
  const bool is_candidate = std::ranges::count(job.options, source::kWithoutRaces) == 0;
  if (!of_processors && is_candidate && !stands_for_instructions &&
      (source::has_plain_updates(job.source) || source::may_join_blocks(job.source))) {
    fs::remove(image);
    const ProcessResult interleaved = run_process(
        command(job, of_processors, directory.path(), Variant::interleaved), deadline_, limits);
    // Where it cannot be made, the kernel is verified without.
    if (interleaved.exit_code == 0 && !interleaved.timed_out && fs::is_regular_file(image)) {
      append_interleaved(binary.image, read_file(image, kImageLimit),
                         source::is_of_whole_numbers(job.source, roots_of(job)) ? Rounding::same
                                                                                : Rounding::other);
    }
  }
  return binary;
}

}  // namespace tuner::backend
