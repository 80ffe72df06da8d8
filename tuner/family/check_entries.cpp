// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/check_entries.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/source/compiled_signature.hpp"
#include "tuner/source/parameter_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <utility>

namespace tuner::family {
namespace {

/// All words of a text, whatever they are.
void add_all_words(source::WordSet& words, std::string_view text) {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    std::size_t end = begin;
    while (end < text.size() && source::is_in_word(text[end])) ++end;
    if (end > begin) words.emplace(text.substr(begin, end - begin));
    begin = end;
  }
}

/// The text without the line breaks that a backslash takes away.
std::string joined_lines(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const std::size_t break_bytes = rest.starts_with("\\\n")     ? 2
                                    : rest.starts_with("\\\r\n") ? 3
                                                                 : 0;
    if (break_bytes > 0) {
      i += break_bytes - 1;
    } else {
      joined += text[i];
    }
  }
  return joined;
}

/// A source and its headers, as far as comparing entries with them needs it.
class EntrySource {
 public:
  explicit EntrySource(const Kernel& kernel) {
    add_file(kernel.source.name, kernel.source.text);
    for (const source::Header& header : kernel.source.headers) add_file(header.name, header.text);
    add_options(kernel);
  }

  struct File {
    std::string name;
    std::string_view text;
    std::vector<source::Token> tokens;
  };
  struct Place {
    const File* file;
    source::KernelPlace at;
  };

  [[nodiscard]] const std::string& name() const { return files_.front().name; }

  /// The declarations of a kernel; none when there are too many to be worth reading.
  [[nodiscard]] std::vector<Place> places(const std::string& kernel) const {
    constexpr std::size_t kMost = 16;
    std::vector<Place> found;
    for (const File& file : files_) {
      const source::DeclaredKernels kernels(file.tokens);
      if (std::ranges::find(kernels.names(), kernel) == kernels.names().end()) continue;
      for (const source::KernelPlace& place : kernels.places(kernel))
        found.push_back({&file, place});
    }
    if (found.size() > kMost) found.clear();
    return found;
  }

  [[nodiscard]] std::vector<std::string> kernels() const {
    std::vector<std::string> all;
    for (const File& file : files_) {
      const source::DeclaredKernels found(file.tokens);
      all.insert(all.end(), found.names().begin(), found.names().end());
    }
    return all;
  }

  /// The namespaces that an entry without any leaves out; empty where one may find the kernel so.
  [[nodiscard]] std::string missing_qualifier(const std::string& kernel) const {
    if (has_using_) return "";
    std::string qualifier;
    for (const Place& place : places(kernel)) {
      const source::Tokens tokens = place.file->tokens;
      const auto count = [&](std::string_view text) {
        return std::ranges::count(tokens, text, &source::Token::text);
      };
      const auto is_inline = [](const source::Token& first, const source::Token& second) {
        return source::has_text(first, "inline") && source::has_text(second, "namespace");
      };
      // Where an #if has one brace of a pair, namespaces seem to end elsewhere; functions of
      // extern "C" have no namespace.
      if (std::ranges::adjacent_find(tokens, is_inline) != tokens.end() ||
          count("{") != count("}") || count("\"C\"") != 0) {
        return "";
      }
      qualifier = source::signature_at(tokens, place.at).qualifier;
      if (qualifier.empty()) return "";
    }
    return qualifier;
  }

  /// Whether no kernel can have this name: it is no word of the sources or options, and no macro
  /// can make it of others.
  [[nodiscard]] bool lacks(const std::string& kernel) const {
    return !pastes_ && !words_.contains(kernel);
  }

  /// Whether a preprocessor may make something else of a token.
  [[nodiscard]] bool may_replace(const source::Token& token) const {
    return token.kind == source::Token::Kind::directive || source::has_text(token, "(") ||
           macros_.contains(token.text);
  }

  [[nodiscard]] std::optional<source::ParameterType> type_of(source::Tokens parameter) const {
    return source::parameter_type(parameter, macros_, types_);
  }

 private:
  void add_file(std::string_view name, std::string_view text) {
    files_.push_back({std::string(name), text, source::tokens_of(text)});
    add_types(files_.back().tokens);
    for (const source::Token& token : files_.back().tokens) {
      if (token.kind == source::Token::Kind::directive) add_macro(token.text);
      has_using_ = has_using_ || source::has_text(token, "using");
    }
    const std::string joined = joined_lines(text);
    pastes_ = pastes_ || joined.find("%:") != std::string::npos;
    for (const source::Token& token : source::tokens_of(joined)) {
      pastes_ = pastes_ || token.text == "\\";
      if (token.kind == source::Token::Kind::word) words_.emplace(token.text);
      if (token.kind != source::Token::Kind::directive) continue;
      pastes_ = pastes_ || token.text.find("##") != std::string_view::npos;
      add_all_words(words_, token.text);
    }
  }

  /// The second word of #define NAME.
  void add_macro(std::string_view directive) {
    const std::vector<source::Token> words = source::tokens_of(directive.substr(1));
    if (words.size() < 2) return;
    if (source::has_text(words[0], "define") || source::has_text(words[0], "undef")) {
      macros_.emplace(words[1].text);
    }
  }

  /// Names that the file may declare as types.
  void add_types(source::Tokens tokens) {
    constexpr std::array<std::string_view, 6> kBefore = {"using", "struct", "class",
                                                         "union", "enum",   "typename"};
    const bool has_typedefs = std::ranges::any_of(
        tokens, [](const source::Token& it) { return source::has_text(it, "typedef"); });
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      const auto is_before = [&](std::string_view word) {
        return source::has_text(tokens[i - 1], word);
      };
      if (std::ranges::any_of(kBefore, is_before)) types_.emplace(tokens[i].text);
      if (!has_typedefs) continue;
      if (source::has_text(tokens[i], ";") || source::has_text(tokens[i], ",")) {
        types_.emplace(tokens[i - 1].text);
      }
    }
  }

  /// -D of options, and of parameters and macros of the kernel.
  void add_options(const Kernel& kernel) {
    constexpr std::size_t kPrefix = 2;  // -D
    for (const std::string& option : kernel.options) {
      add_all_words(words_, std::string_view(option).substr(std::min(kPrefix, option.size())));
      pastes_ = pastes_ || option.find("##") != std::string::npos;
      if (option.starts_with("-D")) {
        macros_.emplace(option.substr(kPrefix, option.find('=') - kPrefix));
      }
    }
    for (const MacroDefinition& macro : kernel.defines) macros_.insert(macro.name);
    for (const space::Parameter& parameter : kernel.space->parameters) {
      if (parameter.kind != space::ParameterKind::define) continue;
      macros_.insert(parameter.name);
      for (const space::ParameterValue& value : parameter.values) {
        add_all_words(words_, value.text);
      }
    }
    words_.insert(macros_.begin(), macros_.end());
  }

  std::vector<File> files_;
  source::WordSet words_, macros_, types_;
  bool has_using_ = false;
  bool pastes_ = false;  // or spells words in other ways that are not followed
};

/// Something that a step passes, as the space file declares it.
struct Passed {
  std::string name;
  std::string declared;  // "float*"
  std::string key;       // where: "arguments"
  bool is_buffer = false;
  bool is_output = false;          // that this very function must write
  bool is_of_reference = false;    // a wider type that a reference alone gets
  std::int64_t align_bytes = 0;    // that the data certainly have; 0: not known
  std::vector<ElementType> types;  // all that it can be; none: it is not compared
};

/// How what is passed is declared in a family's kernel.
class PassedArguments {
 public:
  /// With the values of a size: what is passed at that size.
  PassedArguments(const Family& family, const Kernel& kernel,
                  const space::ExpressionValues* values = nullptr)
      : family_(family), kernel_(kernel), values_(values) {}

  [[nodiscard]] std::vector<Passed> of(const KernelStep& step) const {
    std::vector<Passed> all;
    if (step.parameters) {
      for (const KernelParameter& parameter : *step.parameters) {
        const auto* const place = std::get_if<std::size_t>(&parameter);
        all.push_back(place != nullptr ? at(*place) : number(std::get<KernelNumber>(parameter)));
      }
      return all;
    }
    const std::size_t count =
        family_.arguments.size() + kernel_.scratch.size() + kernel_.tensor_maps.size();
    for (std::size_t place = 0; place < count; ++place) all.push_back(at(place));
    return all;
  }

 private:
  [[nodiscard]] Passed at(std::size_t place) const {
    if (place < family_.arguments.size()) return argument(family_.arguments[place]);
    place -= family_.arguments.size();
    if (place >= kernel_.scratch.size()) {
      Passed map;
      map.name = kernel_.tensor_maps[place - kernel_.scratch.size()].name;
      return map;
    }
    const ScratchBuffer& scratch = kernel_.scratch[place];
    return {.name = scratch.name,
            .declared = scratch.type.text() + "*",
            .key = fmt::format("kernels.{}.scratch", kernel_.name),
            .is_buffer = true,
            .types = scratch.type.all()};
  }

  [[nodiscard]] Passed argument(const Argument& argument) const {
    Passed made{.name = argument.name, .declared = {}, .key = "arguments", .types = {}};
    if (const auto* const scalar = std::get_if<ScalarArgument>(&argument.what)) {
      made.declared = scalar->type.text();
      made.types = types_of(scalar->type);
    } else if (const auto* const buffer = std::get_if<BufferArgument>(&argument.what)) {
      made.declared = buffer->type.text() + "*";
      made.is_buffer = true;
      // A later step may only read it, and what is updated need not be.
      made.is_output = buffer->role == BufferRole::output && kernel_.steps.size() == 1;
      made.types = types_of(buffer->type);
      made.align_bytes = declared_alignment(*buffer);
      if (values_ == nullptr) take_reference_type(made);
    }
    return made;
  }

  [[nodiscard]] static std::int64_t declared_alignment(const BufferArgument& buffer) {
    if (buffer.align) {
      if (!buffer.align->slots().empty()) return 0;
      const auto bytes = buffer.align->evaluate({});
      return bytes ? *bytes : 0;
    }
    if (!buffer.offset.slots().empty()) return 0;
    const auto offset = buffer.offset.evaluate({});
    if (!offset) return 0;
    std::int64_t largest = 0;
    for (const ElementType each : buffer.type.all()) {
      const auto element = static_cast<std::int64_t>(element_bytes(each));
      largest = std::max(largest, *offset == 0 ? element : std::gcd(*offset * element, 16));
    }
    return largest;
  }

  /// A reference with a type of its own gets buffers of narrower types in that type.
  void take_reference_type(Passed& made) const {
    const auto* const reference = std::get_if<KernelReference>(&family_.check.reference);
    if (reference == nullptr || !reference->type || reference->kernel != kernel_.name) return;
    const std::vector<ElementType>& others = reference->type->all();
    const auto is_narrower = [&](ElementType type) {
      return is_floating(type) && std::ranges::all_of(others, [&](ElementType other) {
               return unit_roundoff(other) < unit_roundoff(type);
             });
    };
    if (!std::ranges::all_of(made.types, is_narrower)) {
      made.types.insert(made.types.end(), others.begin(), others.end());
      return;
    }
    made.types = others;
    made.declared = reference->type->text() + "*";
    made.key = "check.reference.type";
    made.is_of_reference = true;
  }

  [[nodiscard]] Passed number(const KernelNumber& number) const {
    return {.name = number.name,
            .declared = number.number.type.text(),
            .key = fmt::format("kernels.{}.arguments", kernel_.name),
            .types = number.number.type.all()};
  }

  [[nodiscard]] std::vector<ElementType> types_of(const TypeOf& type) const {
    return values_ == nullptr ? type.all() : std::vector{type.at(*values_)};
  }

  const Family& family_;
  const Kernel& kernel_;
  const space::ExpressionValues* values_;
};

/// A parameter that does not fit to what is passed, or a list that is longer or shorter.
struct Mismatch {
  source::TypeFit fit = source::TypeFit::fits;
  Passed passed;
  source::ParameterType type = {};
  std::string parameter;                   // as the source has it; or all of them
  std::size_t number = 0;                  // from 1
  std::string place;                       // "saxpy.cu:12"
  std::optional<std::size_t> length = {};  // of a list that is longer or shorter
  bool is_read_only = false;               // and the argument is an output
};

std::string text_place(const EntrySource::File& file, std::size_t offset) {
  return fmt::format("{}:{}", file.name, 1 + std::ranges::count(file.text.substr(0, offset), '\n'));
}

source::TypeFit best_fit(const Passed& passed, const source::ParameterType& type) {
  source::TypeFit best = source::TypeFit::differs;
  for (const ElementType each : passed.types) {
    best = std::min(best, passed.is_buffer ? source::fit_of_buffer(type, each)
                                           : source::fit_of_number(type, each));
  }
  return best;
}

std::string spelling(source::Tokens tokens, std::string_view text) {
  const std::size_t begin = tokens.front().begin;
  const std::size_t end = tokens.back().begin + tokens.back().text.size();
  std::string spelt;
  for (const char c : text.substr(begin, end - begin)) {
    const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_blank) spelt += c;
    if (is_blank && !spelt.ends_with(' ')) spelt += ' ';
  }
  return spelt;
}

/// How a list differs in length, if it certainly does.
Mismatch other_length(const EntrySource& source, const EntrySource::Place& place,
                      const std::vector<source::Tokens>& parameters) {
  const source::Tokens tokens = place.file->tokens;
  std::string all;
  for (const source::Tokens& parameter : parameters) {
    const auto is_open = [&](const source::Token& it) {
      return source.may_replace(it) || it.text.starts_with('.');  // a pack
    };
    if (std::ranges::any_of(parameter, is_open)) return {};
    all += fmt::format("{}{}", all.empty() ? "" : ", ", spelling(parameter, place.file->text));
  }
  return {.fit = source::TypeFit::differs,
          .passed = {},
          .parameter = all,
          .place = text_place(*place.file, tokens[place.at.parameters].begin),
          .length = parameters.size()};
}

/// The first parameter at a place that fits worst.
Mismatch worst_at(const EntrySource& source, const EntrySource::Place& place,
                  const std::vector<Passed>& passed) {
  const source::Tokens tokens = place.file->tokens;
  const std::vector<source::Tokens> parameters = source::kernel_parameters(tokens, place.at);
  Mismatch worst;
  if (parameters.size() != passed.size()) return other_length(source, place, parameters);
  if (parameters.empty()) return worst;
  // Parentheses and directives within the list are not understood.
  const source::Token* const end = parameters.back().data() + parameters.back().size();
  for (const source::Token* it = parameters.front().data(); it != end; ++it) {
    if (source::has_text(*it, "(") || it->kind == source::Token::Kind::directive) return worst;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (passed[i].types.empty()) continue;
    const auto type = source.type_of(parameters[i]);
    if (!type) continue;
    const bool is_read_only =
        passed[i].is_output && source::has_text(parameters[i].front(), "const");
    const source::TypeFit fit =
        is_read_only ? source::TypeFit::differs : best_fit(passed[i], *type);
    if (fit <= worst.fit) continue;
    worst = {.fit = fit,
             .passed = passed[i],
             .type = *type,
             .parameter = spelling(parameters[i], place.file->text),
             .number = i + 1,
             .place = text_place(*place.file, parameters[i].front().begin),
             .is_read_only = is_read_only};
  }
  return worst;
}

/// Of the declaration that fits best: others may be of overloads or behind an #if.
Mismatch mismatch(const EntrySource& source, const std::string& function,
                  const std::vector<Passed>& passed) {
  std::optional<Mismatch> best;
  for (const EntrySource::Place& place : source.places(function)) {
    Mismatch worst = worst_at(source, place, passed);
    if (!best || worst.fit < best->fit) best = std::move(worst);
  }
  return best.value_or(Mismatch{});
}

/// The parameters of a declaration, and where it stands: "saxpy.cu:12".
struct PlacedParameters {
  std::vector<source::Declared> parameters;
  std::string place;
};

/// What `find` says of the last declaration of a function; empty where it says nothing of one of
/// them, or one has another number of parameters.
template <class Find>
std::string of_every_declaration(const EntrySource& source, const std::string& function,
                                 const std::vector<Passed>& passed, const Find& find) {
  std::string found;
  for (const EntrySource::Place& place : source.places(function)) {
    const source::Tokens tokens = place.file->tokens;
    const PlacedParameters declaration{source::signature_at(tokens, place.at).parameters,
                                       text_place(*place.file, tokens[place.at.parameters].begin)};
    if (declaration.parameters.size() != passed.size()) return "";
    found = find(declaration);
    if (found.empty()) return "";
  }
  return found;
}

/// A sentence on a parameter that has the name of another argument than it gets; empty where every
/// declaration has none.
std::string swapped_names(const EntrySource& source, const std::string& function,
                          const std::vector<Passed>& passed) {
  return of_every_declaration(
      source, function, passed, [&](const PlacedParameters& of) -> std::string {
        for (std::size_t i = 0; i < passed.size(); ++i) {
          const std::string &name = of.parameters[i].name, &given = passed[i].name;
          if (name == given || std::ranges::count(passed, name, &Passed::name) != 1 ||
              std::ranges::count(of.parameters, given, &source::Declared::name) != 1) {
            continue;
          }
          return fmt::format(
              "parameter '{0}' of {1} ({2}) gets the argument '{3}', and another one '{0}': "
              "arguments "
              "are passed in the order of the parameters",
              name, function, of.place, given);
        }
        return "";
      });
}

/// A sentence on a parameter that points to vectors and gets an argument that is less aligned than
/// they must be; empty where every declaration has none.
std::string misaligned_vectors(const EntrySource& source, const std::string& function,
                               const std::vector<Passed>& passed) {
  return of_every_declaration(
      source, function, passed, [&](const PlacedParameters& of) -> std::string {
        for (std::size_t i = 0; i < passed.size(); ++i) {
          const source::Declared& parameter = of.parameters[i];
          if (parameter.pointers != 1 || parameter.type.size() != 1) continue;
          const auto vector = source::vector_type(parameter.type.front());
          const std::int64_t aligned = passed[i].align_bytes;
          if (!vector || aligned == 0 || aligned >= vector->align_bytes) continue;
          return fmt::format(
              "parameter '{}' of {} ({}) is {}*, whose addresses are multiples of {}, but gets the "
              "argument '{}', a multiple of {}: give it \"align\": {}",
              parameter.name, function, of.place, parameter.type.front(), vector->align_bytes,
              passed[i].name, aligned, vector->align_bytes);
        }
        return "";
      });
}

std::string mismatch_text(const Mismatch& found, const std::string& function) {
  return fmt::format("'{}' is {}, but parameter {} of {} is '{}' ({})", found.passed.name,
                     found.passed.declared, found.number, function, found.parameter, found.place);
}

/// Where the space file has `key` of a step.
std::string step_key(const Kernel& kernel, std::size_t step, std::string_view key) {
  return kernel.steps.size() == 1 ? fmt::format("kernels.{}.{}", kernel.name, key)
                                  : fmt::format("kernels.{}.steps[{}].{}", kernel.name, step, key);
}

std::string names_of(const std::vector<Passed>& passed) {
  std::vector<std::string> names;
  for (const Passed& each : passed) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string length_text(const Mismatch& found, const std::string& function,
                        const std::vector<Passed>& passed) {
  return fmt::format("{} has {} parameters ({}: {}), but gets {} arguments: {}", function,
                     *found.length, found.place, found.parameter, passed.size(), names_of(passed));
}

/// How an argument does not fit the type of a parameter as a compiler writes it, "float const*";
/// empty where it fits or the type is none of an element.
std::string compiled_mismatch(const Passed& passed, std::string_view type, std::size_t number,
                              std::string_view function) {
  if (passed.types.empty()) return "";
  const auto parameter = source::parameter_type(source::tokens_of(type), {}, {});
  if (!parameter) return "";
  const std::string found = fmt::format("but parameter {} of {} is '{}'", number, function, type);
  if (passed.is_output && type.ends_with(" const*")) {
    return fmt::format("'{}' is an output, {}, which cannot be written", passed.name, found);
  }
  if (best_fit(passed, *parameter) != source::TypeFit::differs) return "";
  return fmt::format("'{}' is {}{}, {}: write \"type\": \"{}{}\", or change the kernel",
                     passed.name, name(passed.types.front()), passed.is_buffer ? "*" : "", found,
                     name(parameter->element), parameter->is_pointer ? "*" : "");
}

void check_kernel_entries(const Family& family, const Kernel& kernel) {
  const EntrySource source(kernel);
  for (std::size_t step = 0; step < kernel.steps.size(); ++step) {
    const std::string function = source::entry_function(kernel.steps[step].entry);
    if (function.empty()) continue;
    if (source.lacks(function)) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: {}: {} has no __global__ function '{}'{}", family.path,
                              step_key(kernel, step, "entry"), source.name(), function,
                              did_you_mean(function, source.kernels())));
    }
    const std::string_view entry = kernel.steps[step].entry;
    const std::string qualifier = source.missing_qualifier(function);
    if (entry.starts_with(function) && !qualifier.empty()) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: {}: {} is in a namespace: write \"{}{}\"", family.path,
                              step_key(kernel, step, "entry"), function, qualifier, entry));
    }
    const std::vector<Passed> passed = PassedArguments(family, kernel).of(kernel.steps[step]);
    const Mismatch found = mismatch(source, function, passed);
    if (found.fit != source::TypeFit::differs) continue;
    if (found.length) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: {}: {}; each parameter gets one, in their order: correct "
                              "\"arguments\", or list there what this kernel alone gets",
                              family.path, step_key(kernel, step, "entry"),
                              length_text(found, function, passed)));
    }
    if (found.is_read_only) {
      throw Error(
          ErrorCode::usage,
          fmt::format("{}: {}: '{}' is an output, but parameter {} of {}, '{}' ({}), cannot "
                      "be written; arguments are passed in the order of the parameters",
                      family.path, found.passed.key, found.passed.name, found.number, function,
                      found.parameter, found.place));
    }
    if (const std::string swapped = swapped_names(source, function, passed); !swapped.empty()) {
      throw Error(ErrorCode::usage,
                  fmt::format("{}: {}: {}", family.path, found.passed.key, swapped));
    }
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: {}: {}: write \"type\": \"{}{}\", or change the kernel; arguments are "
                    "passed in the order of the parameters",
                    family.path, found.passed.key, mismatch_text(found, function),
                    name(found.type.element),
                    found.type.is_pointer && !found.passed.is_of_reference ? "*" : ""));
  }
}

/// Fails when a programmatic launch certainly waits for nothing.
void check_waits(const Family& family, const Kernel& kernel) {
  constexpr std::array<std::string_view, 2> kWaits = {"griddepcontrol.wait",
                                                      "cudaGridDependencySynchronize"};
  const auto waits = [&](std::string_view text) {
    return std::ranges::any_of(kWaits,
                               [&](std::string_view it) { return text.find(it) != text.npos; });
  };
  const bool some_wait = waits(kernel.source.text) ||
                         std::ranges::any_of(kernel.source.headers, waits, &source::Header::text);
  for (std::size_t step = 0; step < kernel.steps.size(); ++step) {
    if (!kernel.steps[step].programmatic || some_wait) continue;
    throw Error(ErrorCode::usage,
                fmt::format("{}: {}: the kernel may start before preceding work on its stream has "
                            "finished, and {} does not wait for it: call "
                            "cudaGridDependencySynchronize() before the first access to memory, or "
                            "take \"programmatic\" out",
                            family.path, step_key(kernel, step, "launch.programmatic"),
                            kernel.source.name));
  }
}

}  // namespace

void check_entries(const Family& family, const Kernel& kernel) {
  check_waits(family, kernel);
  check_kernel_entries(family, kernel);
  const auto* const reference = std::get_if<KernelReference>(&family.check.reference);
  if (reference == nullptr || reference->kernel == kernel.name) return;
  check_kernel_entries(family, family.kernel(reference->kernel));
}

std::string signature_mismatch(const Family& family, const Kernel& kernel,
                               const space::ExpressionValues& values,
                               std::span<const std::byte> image) {
  for (const auto& [step, types] : source::compiled_signatures(image)) {
    if (step >= kernel.steps.size()) continue;
    const std::string entry = source::entry_function(kernel.steps[step].entry);
    const std::vector<Passed> passed =
        PassedArguments(family, kernel, &values).of(kernel.steps[step]);
    if (types.size() != passed.size()) {
      return fmt::format("{} has {} parameters ({}), but gets {} arguments: {}", entry,
                         types.size(), fmt::join(types, ", "), passed.size(), names_of(passed));
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (auto text = compiled_mismatch(passed[i], types[i], i + 1, entry); !text.empty()) {
        return fmt::format("{}; arguments are passed in the order of the parameters", text);
      }
    }
  }
  return "";
}

std::vector<std::string> entry_cautions(const Family& family) {
  std::vector<std::string> cautions;
  for (const Kernel& kernel : family.kernels) {
    const EntrySource source(kernel);
    for (const KernelStep& step : kernel.steps) {
      const std::string function = source::entry_function(step.entry);
      const std::vector<Passed> passed = PassedArguments(family, kernel).of(step);
      const std::string swapped = swapped_names(source, function, passed);
      if (!swapped.empty()) cautions.push_back(swapped);
      const std::string misaligned = misaligned_vectors(source, function, passed);
      if (!misaligned.empty()) cautions.push_back(misaligned);
      const Mismatch found = mismatch(source, function, passed);
      if (found.fit != source::TypeFit::doubtful) continue;
      cautions.push_back(fmt::format("{}: right only if the kernel reads the bits of {}",
                                     mismatch_text(found, function), found.passed.declared));
    }
  }
  return cautions;
}

}  // namespace tuner::family
