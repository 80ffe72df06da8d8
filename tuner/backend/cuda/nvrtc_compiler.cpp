// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/nvrtc_compiler.hpp"

#include "tuner/backend/cuda/nvrtc_headers.hpp"
#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/error.hpp"
#include "tuner/source/compiled_signature.hpp"
#include "tuner/source/device_code.hpp"
#include "tuner/source/framework_headers.hpp"
#include "tuner/source/include.hpp"
#include "tuner/source/signature.hpp"
#include "tuner/source/token.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace tuner::backend {

struct NvrtcApi {
  explicit NvrtcApi(const std::filesystem::path& file)
      : library(file.empty() ? SharedLibrary::of_toolkit("libnvrtc")
                             : SharedLibrary(file.string())) {}

  SharedLibrary library;
  decltype(&nvrtcVersion) version = library.symbol("nvrtcVersion");
  decltype(&nvrtcGetNumSupportedArchs) architecture_count =
      library.symbol("nvrtcGetNumSupportedArchs");
  decltype(&nvrtcGetSupportedArchs) architectures = library.symbol("nvrtcGetSupportedArchs");
  decltype(&nvrtcGetErrorString) error_string = library.symbol("nvrtcGetErrorString");
  decltype(&nvrtcCreateProgram) create_program = library.symbol("nvrtcCreateProgram");
  decltype(&nvrtcDestroyProgram) destroy_program = library.symbol("nvrtcDestroyProgram");
  decltype(&nvrtcAddNameExpression) add_name = library.symbol("nvrtcAddNameExpression");
  decltype(&nvrtcCompileProgram) compile_program = library.symbol("nvrtcCompileProgram");
  decltype(&nvrtcGetProgramLogSize) log_size = library.symbol("nvrtcGetProgramLogSize");
  decltype(&nvrtcGetProgramLog) log = library.symbol("nvrtcGetProgramLog");
  decltype(&nvrtcGetLoweredName) lowered_name = library.symbol("nvrtcGetLoweredName");
  decltype(&nvrtcGetCUBINSize) cubin_size = library.symbol("nvrtcGetCUBINSize");
  decltype(&nvrtcGetCUBIN) cubin = library.symbol("nvrtcGetCUBIN");
  decltype(&nvrtcGetPTXSize) ptx_size = library.symbol("nvrtcGetPTXSize");
  decltype(&nvrtcGetPTX) ptx = library.symbol("nvrtcGetPTX");
  // NVRTC opens this one itself, but by its bare name: in vain when the toolkit's folder is not
  // where the dynamic linker looks.
  SharedLibrary builtins{beside_library("libnvrtc-builtins.so." + version_number())};

  /// Of the toolkit that NVRTC belongs to; none when they cannot be found.
  std::vector<std::filesystem::path> header_folders = find_header_folders();

  /// A library's path where it lies beside NVRTC, else its name.
  [[nodiscard]] std::string beside_library(const std::string& name) const {
    const std::filesystem::path path = library.path("nvrtcVersion").parent_path() / name;
    std::error_code unknown;
    return std::filesystem::exists(path, unknown) ? path.string() : name;
  }
  [[nodiscard]] std::string version_number() const {
    int major = 0;
    int minor = 0;
    version(&major, &minor);
    return fmt::format("{}.{}", major, minor);
  }
  [[nodiscard]] std::vector<std::filesystem::path> find_header_folders() const {
    int major = 0;
    int minor = 0;
    version(&major, &minor);
    const auto candidates = toolkit_header_candidates(library.path("nvrtcVersion"));
    return toolkit_header_folders(candidates, major * 1000 + minor * 10);
  }
};

namespace {

std::string literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

/// The first line of a log that says that products on tensor cores wait for one another, which a
/// program compiled without an error may do: it computes the same, at a fraction of the speed.
std::optional<std::string> serialised_products(std::string_view log) {
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    for (const std::string_view code : {"(C7510)", "(C7511)", "(C7514)", "(C7517)", "(C7519)"}) {
      if (line.find(code) != std::string_view::npos) return std::string(line);
    }
    log.remove_prefix(std::min(line.size() + 1, log.size()));
  }
  return std::nullopt;
}

/// In place of the headers of frameworks that a source includes.
std::vector<source::Header> framework_headers(const family::CompileJob& job) {
  constexpr std::string_view kDeclarations = "tuner/framework.h";
  std::vector<source::Header> headers;
  for (std::string& name : source::foreign_includes(job.source)) {
    if (!source::is_framework_header(name)) continue;
    headers.push_back({std::move(name), fmt::format("#include <{}>\n", kDeclarations)});
  }
  if (!headers.empty()) {
    headers.push_back(
        {std::string(kDeclarations), source::framework_declarations(job.source, job.entries)});
  }
  return headers;
}

/// Whether a job's options choose a C++ without templates of variables.
bool is_before_cpp14(const family::CompileJob& job) {
  return std::ranges::any_of(job.options, [](std::string_view option) {
    return option.ends_with("std=c++03") || option.ends_with("std=c++11");
  });
}

/// Whether the image is to have the signatures of the entries.
enum class Signatures { wanted, unwanted };

/// One compilation. The first step that fails decides the status, and later ones do nothing.
class Program {
 public:
  Program(const NvrtcApi& api, const family::CompileJob& job, Signatures signatures)
      : api_(&api), job_(&job), framework_headers_(framework_headers(job)) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    const auto add = [&](const source::Header& header) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    };
    std::ranges::for_each(job.source.headers, add);
    std::ranges::for_each(framework_headers_, add);
    for (const source::Header& header : nvrtc_headers()) {
      if (std::ranges::count(job.source.headers, header.name, &source::Header::name) == 0)
        add(header);
    }
    // NVRTC looks for what a toolkit's header quotes beside that header, and then beside the
    // source, which must not be a folder of this machine's.
    const std::string name =
        "/dev/null/" + std::filesystem::path(job.source.name).filename().string();
    const bool has_signatures = signatures == Signatures::wanted && !is_before_cpp14(job);
    const std::string text =
        fmt::format("{}#line 1 {}\n{}", has_signatures ? source::kSignatureDeclaration : "",
                    literal(job.source.name), job.source.text);
    status_ = api.create_program(&program_, text.c_str(), name.c_str(),
                                 static_cast<int>(names.size()), texts.data(), names.data());
    for (std::size_t i = 0; i < job.entries.size(); ++i) {
      add_name(job.entries[i]);
      if (has_signatures && !source::entry_function(job.entries[i]).empty()) {
        add_name(source::signature_expression(i, job.entries[i]));
      }
    }
  }
  ~Program() { api_->destroy_program(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void compile(const std::vector<std::string>& options) {
    std::vector<const char*> arguments;
    for (const std::string& option : options) arguments.push_back(option.c_str());
    if (status_ == NVRTC_SUCCESS) {
      status_ =
          api_->compile_program(program_, static_cast<int>(arguments.size()), arguments.data());
    }
  }

  /// Whether the log is about the name of an entry: the source has no errors.
  [[nodiscard]] bool lacks_entry() const { return log().starts_with(kNameLog); }

  /// The cubin, or of a virtual architecture the PTX.
  [[nodiscard]] Expected<Binary, Failure> binary(bool is_virtual) {
    const auto get_size = is_virtual ? api_->ptx_size : api_->cubin_size;
    const auto get = is_virtual ? api_->ptx : api_->cubin;
    std::size_t size = 0;
    Binary binary;
    for (const std::string& entry : job_->entries) {
      const char* symbol = nullptr;
      if (status_ == NVRTC_SUCCESS) {
        status_ = api_->lowered_name(program_, entry.c_str(), &symbol);
      }
      if (status_ == NVRTC_SUCCESS) binary.symbols.emplace_back(symbol);
    }
    if (status_ == NVRTC_SUCCESS) status_ = get_size(program_, &size);
    if (status_ == NVRTC_SUCCESS) {
      binary.image.resize(size);
      status_ = get(program_, reinterpret_cast<char*>(binary.image.data()));
    }
    if (status_ != NVRTC_SUCCESS) return Unexpected(Failure{Outcome::compile_error, message()});
    if (const auto advice = serialised_products(log())) {
      return Unexpected(
          Failure{Outcome::compile_error,
                  fmt::format("{}: refused, because the compiler serialises wgmma\n{}",
                              job_->source.name, *advice)});
    }
    return binary;
  }

 private:
  void add_name(const std::string& expression) {
    if (status_ == NVRTC_SUCCESS) status_ = api_->add_name(program_, expression.c_str());
  }

  [[nodiscard]] std::string log() const {
    std::size_t size = 0;
    if (program_ == nullptr || api_->log_size(program_, &size) != NVRTC_SUCCESS) return {};
    std::string log(size, '\0');
    if (api_->log(program_, log.data()) != NVRTC_SUCCESS) return {};
    log.resize(log.find_last_not_of(std::string_view(" \n\0", 3)) + 1);
    return log;
  }

  [[nodiscard]] std::string message() const;

  static constexpr std::string_view kNameLog = "__nv_name_map";
  const NvrtcApi* api_;
  const family::CompileJob* job_;
  std::vector<source::Header> framework_headers_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult status_ = NVRTC_SUCCESS;
};

/// What to do about a header that is not there.
std::string missing_header_hint(const NvrtcApi& api) {
  if (api.header_folders.empty()) {
    return fmt::format(
        "\nthe headers of CUDA {} were not found beside libnvrtc, in $CUDA_HOME, $CUDA_PATH or "
        "/usr/local/cuda: install them, or set CUDA_HOME to the toolkit's folder",
        api.version_number());
  }
  return fmt::format(
      "\na kernel may include files of its own folder, headers of the CUDA toolkit in {}, and C "
      "and C++ library headers with device functionality",
      api.header_folders.front().string());
}

/// The first entry that a log of NVRTC's is about; it repeats the name after a pragma of its own.
std::string unknown_entry(const family::CompileJob& job, std::string_view log) {
  const auto is_quoted = [&](const std::string& entry) {
    return log.find("nv_mangled_name " + entry + "\n") != std::string_view::npos;
  };
  const auto found = std::ranges::find_if(job.entries, is_quoted);
  return found == job.entries.end() ? job.entries.front() : *found;
}

/// NVRTC's log in at most 4 KiB, after a line of our own where the log alone does not say which
/// file or what part of the job is meant. The end of a long log is dropped: its first error counts.
std::string Program::message() const {
  constexpr std::size_t kLimit = 4096;
  constexpr std::string_view kMore = "\n[more]";
  std::string text = log();
  if (text.find("open source file") != std::string::npos) text += missing_header_hint(*api_);
  if (text.starts_with(kNameLog)) {
    text = fmt::format("{}: there is no unique kernel '{}'\n{}", job_->source.name,
                       unknown_entry(*job_, text), text);
  } else if (status_ != NVRTC_ERROR_COMPILATION || text.empty()) {
    text = fmt::format("{}: {}\n{}", job_->source.name, api_->error_string(status_), text);
  }
  if (text.size() > kLimit) {
    text.resize(kLimit - kMore.size());
    text.resize(std::min(text.size(), text.rfind('\n')));
    text += kMore;
  }
  return text;
}

/// Puts a blank behind "C" before __global__ and the like: NVRTC takes the two for one literal with
/// a suffix, nvcc does not.
void separate_linkage(std::string& text) {
  constexpr std::string_view kLinkage = "\"C\"";
  for (std::size_t at = text.find("\"C\"__"); at != std::string::npos;
       at = text.find("\"C\"__", at)) {
    text.insert(at + kLinkage.size(), " ");
  }
}

/// Removes __host__ and __device__ behind the captures of a lambda, which nvcc takes with
/// --extended-lambda and NVRTC never does: a lambda of device code is for the device anyway.
void remove_lambda_annotations(std::string& text) {
  const auto is_annotation = [](const source::Token& token) {
    return token.text == "__device__" || token.text == "__host__";
  };
  std::string result = text;
  bool is_behind_captures = false;
  for (const source::Token& token : source::tokens_of(text)) {
    if (is_behind_captures && is_annotation(token)) {
      result.replace(token.begin, token.text.size(), token.text.size(), ' ');
      continue;
    }
    is_behind_captures = token.text == "]";
  }
  text = std::move(result);
}

/// What NVRTC reads otherwise than nvcc.
void adapt(std::string& text) {
  separate_linkage(text);
  remove_lambda_annotations(text);
}

/// A cubin runs on the very architecture it is for anyway, so that kernels may as well use what is
/// specific to it (from 9.0 on: setmaxnreg, wgmma, …): "sm_90a" for "sm_90".
std::string specific(const std::string& architecture) {
  constexpr int kFirst = 90;
  if (architecture.starts_with(kVirtualArchitecture)) return architecture;
  int number = 0;
  const char* const end = architecture.data() + architecture.size();
  const auto [stop, error] = std::from_chars(architecture.data() + 3, end, number);
  return error == std::errc{} && stop == end && number >= kFirst ? architecture + "a"
                                                                 : architecture;
}

/// The numbers of the architectures that NVRTC compiles for, ascending: 75, 80, …
std::vector<int> supported_architectures(const NvrtcApi& api) {
  int count = 0;
  if (api.architecture_count(&count) != NVRTC_SUCCESS || count <= 0) return {};
  std::vector<int> numbers(static_cast<std::size_t>(count));
  if (api.architectures(numbers.data()) != NVRTC_SUCCESS) return {};
  return numbers;
}

/// What of the C++ library to include before a source; nothing for one that uses none.
std::string_view std_header(const source::KernelSource& source, const NvrtcApi& api) {
  constexpr std::array<std::string_view, 10> kTypes = {
      "common_type", "conditional", "decay", "declval",        "enable_if",
      "forward",     "is_",         "move",  "numeric_limits", "remove_"};
  bool has_any = false, has_types = false;
  const auto look = [&](std::string_view text) {
    constexpr std::string_view kStd = "std::";
    for (std::size_t at = text.find(kStd); at != std::string_view::npos; at = text.find(kStd, at)) {
      at += kStd.size();
      has_any = true;
      const auto begins = [&](std::string_view type) { return text.substr(at).starts_with(type); };
      has_types = has_types || std::ranges::any_of(kTypes, begins);
    }
  };
  look(source.text);
  for (const source::Header& header : source.headers) look(header.text);
  if (has_types && !api.header_folders.empty()) return kNvrtcStd;
  return has_any ? kNvrtcStdFunctions : std::string_view();
}

/// Unannotated functions and variables that are left (device_code.hpp) are for the device, such as
/// `const int TILE = 16`. Warnings would hide the errors in the log, which is read only after an
/// error.
std::vector<std::string> compiler_options(const family::CompileJob& job,
                                          const std::string& architecture, const NvrtcApi& api) {
  const auto names_standard = [](const std::string& option) {
    return option.starts_with("-std") || option.starts_with("--std");
  };
  std::vector<std::string> options = {"--gpu-architecture=" + specific(architecture),
                                      "-default-device", "--disable-warnings",
                                      fmt::format("--pre-include={}", kNvrtcPrelude)};
  if (const std::string_view header = std_header(job.source, api); !header.empty()) {
    options.push_back(fmt::format("--pre-include={}", header));
  }
  for (const auto& folder : api.header_folders) {
    options.push_back("--include-path=" + folder.string());
  }
  if (std::ranges::none_of(job.options, names_standard)) options.emplace_back("-std=c++17");
  options.insert(options.end(), job.options.begin(), job.options.end());
  return options;
}

/// In place of NVRTC.
class MissingNvrtc final : public Compiler {
 public:
  explicit MissingNvrtc(std::string why) : why_(std::move(why)) {}
  [[nodiscard]] Expected<Binary, Failure> compile(const family::CompileJob&) const override {
    return Unexpected(Failure{Outcome::compile_error, why_});
  }

 private:
  std::string why_;
};

}  // namespace

NvrtcCompiler::NvrtcCompiler(std::string architecture, const std::filesystem::path& library)
    : architecture_(std::move(architecture)), api_(std::make_unique<const NvrtcApi>(library)) {}

NvrtcCompiler::~NvrtcCompiler() = default;

std::string NvrtcCompiler::why_not_for(std::string_view architecture) const {
  const std::vector<int> known = supported_architectures(*api_);
  const std::string_view digits = architecture.substr(architecture.find('_') + 1);
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (known.empty() || number == 0 || std::ranges::count(known, number) != 0) return {};
  return fmt::format("{} does not compile for {}, only for sm_{}: install {} CUDA Toolkit",
                     version(), architecture, fmt::join(known, ", sm_"),
                     number > known.back() ? "a newer" : "an older");
}

Expected<Binary, Failure> NvrtcCompiler::compile(const family::CompileJob& job) const {
  if (std::string why = why_not_for(architecture_); !why.empty()) {
    return Unexpected(Failure{Outcome::compile_error, std::move(why)});
  }
  if (auto problem = source::include_problem(job.source)) {
    return Unexpected(Failure{Outcome::compile_error, *std::move(problem)});
  }
  std::vector<std::string> roots = job.options;
  roots.insert(roots.end(), job.entries.begin(), job.entries.end());
  family::CompileJob device = job;
  device.source = source::device_code(job.source, roots);
  adapt(device.source.text);
  for (source::Header& header : device.source.headers) adapt(header.text);
  const std::vector<std::string> options = compiler_options(device, architecture_, *api_);
  std::optional<Program> program(std::in_place, *api_, device, Signatures::wanted);
  program->compile(options);
  if (program->lacks_entry()) {  // the log is to have no errors about the signature's name
    program.emplace(*api_, device, Signatures::unwanted);
    program->compile(options);
  }
  auto binary = program->binary(architecture_.starts_with(kVirtualArchitecture));
  if (!binary) binary.error().message += source::host_code_hint(job.source);
  return binary;
}

std::vector<std::string> NvrtcCompiler::helper_arguments() const {
  std::error_code unknown;
  const auto file = std::filesystem::canonical(api_->library.path("nvrtcVersion"), unknown);
  return {"cuda", architecture_, file.string()};
}

std::string NvrtcCompiler::version() const {
  return "NVRTC " + api_->version_number();
}

OptionalNvrtc optional_nvrtc(const std::string& architecture,
                             const std::filesystem::path& library) {
  try {
    auto nvrtc = std::make_unique<const NvrtcCompiler>(architecture, library);
    std::string version = nvrtc->version();
    return {.compiler = std::move(nvrtc), .version = std::move(version)};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_device) throw;
    return {.compiler = std::make_unique<const MissingNvrtc>(error.what()), .version = ""};
  }
}

}  // namespace tuner::backend
