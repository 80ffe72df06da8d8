// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/family/family.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace tuner::cli {
namespace {

using Words = std::vector<CompletedWord>;

bool has_name(const OptionDescription& option, std::string_view name) {
  return !option.is_positional && std::ranges::find(option.names, name) != option.names.end();
}

const OptionDescription* option_named(const CommandDescription& command, std::string_view name) {
  const auto found = std::ranges::find_if(
      command.options, [&](const OptionDescription& option) { return has_name(option, name); });
  return found == command.options.end() ? nullptr : &*found;
}

/// The words in front of the last, read as far as they name a command.
struct ReadLine {
  const CommandDescription* command = nullptr;
  const OptionDescription* awaiting = nullptr;  ///< the option whose value is the last word
  std::string space_file;                       ///< the last word that is named as one
  std::string kernel;                           ///< of --kernel
  std::string database;                         ///< of --db
  bool is_of_another_program = false;           ///< behind `--`
};

void read_value(ReadLine& line, const OptionDescription& option, const std::string& value) {
  if (has_name(option, "--kernel")) line.kernel = value;
  if (has_name(option, "--db")) line.database = value;
  if (value.ends_with(".json")) line.space_file = value;
}

void read_word(ReadLine& line, const std::string& word) {
  if (line.awaiting != nullptr) {
    read_value(line, *line.awaiting, word);
    line.awaiting = nullptr;
    return;
  }
  if (word.starts_with('-')) {
    const std::size_t equals = word.find('=');
    const OptionDescription* const option = option_named(*line.command, word.substr(0, equals));
    if (option == nullptr || option->value.empty()) return;
    if (equals == std::string::npos) {
      line.awaiting = option;
    } else {
      read_value(line, *option, word.substr(equals + 1));
    }
    return;
  }
  if (word.ends_with(".json")) line.space_file = word;
  const auto found = std::ranges::find(line.command->commands, word, &CommandDescription::name);
  if (found != line.command->commands.end()) line.command = &*found;
}

ReadLine read_line(const CommandDescription& program, std::span<const std::string> line) {
  ReadLine read;
  read.command = &program;
  for (const std::string& word : line.subspan(1, line.size() - 2)) {
    if (read.awaiting == nullptr && word == "--") read.is_of_another_program = true;
    if (!read.is_of_another_program) read_word(read, word);
  }
  return read;
}

Words words_of(const std::set<std::string>& texts) {
  Words words;
  for (const std::string& text : texts) words.push_back({.word = text, .text = {}});
  return words;
}

Words kernels_of(const std::string& space_file) {
  Words words;
  for (const family::Kernel& kernel : family::load_family(space_file).kernels) {
    words.push_back({.word = kernel.name, .text = {}});
  }
  return words;
}

Words runs_of(const store::Store& store) {
  Words words;
  for (const store::RunRecord& run : store.runs()) {
    words.push_back({.word = run.uuid.substr(0, 8), .text = run.started_at + " " + run.kernel});
  }
  return words;
}

/// What files and the database have for an option.
Words known_values(const OptionDescription& option, const ReadLine& line, CommonOptions common) {
  const bool is_kernel = has_name(option, "--kernel");
  const bool is_size = has_name(option, "--size");
  const bool is_device = has_name(option, "--device") && option.value == "NAME";
  const bool is_run = option.is_positional && option.value == "ID";
  if (is_kernel && !line.space_file.empty()) return kernels_of(line.space_file);
  if (!is_kernel && !is_size && !is_device && !is_run) return {};
  if (!line.database.empty()) common.database = line.database;
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  if (is_run) return runs_of(store);
  store::ResultFilter filter;
  if (is_size && !line.kernel.empty()) filter.kernel = line.kernel;
  std::set<std::string> values;
  for (const store::StoredBest& stored : store.bests(filter)) {
    values.insert(is_kernel ? stored.subject->kernel.kernel
                  : is_size ? shown_size(stored.best.problem)
                            : stored.subject->device.name);
  }
  return words_of(values);
}

Words values(const OptionDescription& option, const ReadLine& line, const CommonOptions& common) {
  Words words;
  for (std::string& choice : choices(option)) {
    words.push_back({.word = std::move(choice), .text = {}});
  }
  if (!words.empty()) return words;
  try {
    return known_values(option, line, common);
  } catch (const Error&) {
    return {};  // a line to be typed is no place for a message
  }
}

/// In place of an argument without a name: the commands below this one, and what it may be.
Words arguments(const CommandDescription& program, const ReadLine& line,
                const CommonOptions& common) {
  Words words;
  const auto add_commands = [&words](const CommandDescription& command) {
    for (const CommandDescription& sub : command.commands) {
      words.push_back({.word = sub.name, .text = sub.text});
    }
  };
  add_commands(*line.command);
  for (const OptionDescription& option : line.command->options) {
    if (!option.is_positional) continue;
    if (option.value == "COMMAND") add_commands(program);
    std::ranges::move(values(option, line, common), std::back_inserter(words));
  }
  return words;
}

Words options_of(const CommandDescription& command) {
  Words words;
  for (const OptionDescription& option : command.options) {
    if (option.is_positional) continue;
    for (const std::string& name : option.names) {
      words.push_back({.word = name, .text = option.text});
    }
  }
  return words;
}

/// All that may stand in place of the word.
Words possible_words(const CommandDescription& program, const ReadLine& line,
                     const CommonOptions& common, const std::string& word) {
  if (line.is_of_another_program) return {};
  if (line.awaiting != nullptr) return values(*line.awaiting, line, common);
  if (!word.starts_with('-')) return arguments(program, line, common);
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return options_of(*line.command);
  const OptionDescription* const option = option_named(*line.command, word.substr(0, equals));
  if (option == nullptr) return {};
  Words words = values(*option, line, common);
  for (CompletedWord& each : words) each.word = word.substr(0, equals + 1) + each.word;
  return words;
}

}  // namespace

std::vector<CompletedWord> completed_words(const CommandDescription& program,
                                           const CommonOptions& common,
                                           std::span<const std::string> line) {
  if (line.size() < 2) return {};
  Words words = possible_words(program, read_line(program, line), common, line.back());
  std::erase_if(words,
                [&](const CompletedWord& each) { return !each.word.starts_with(line.back()); });
  return words;
}

std::string completion_lines(const std::vector<CompletedWord>& words, std::string_view shell) {
  std::string lines;
  for (const CompletedWord& each : words) {
    lines += printable(each.word);
    if (shell != "bash" && !each.text.empty()) lines += "\t" + printable(each.text);
    lines += "\n";
  }
  return lines;
}

namespace {

struct Script {
  std::string_view shell;
  std::string_view text;
};

constexpr std::array<Script, 3> kScripts = {{
    {"bash",
     R"bash(# Completes the command line of tune in bash. Load it with: source <(tune completion bash)
_tune() {
  local word
  local -a line=()
  COMPREPLY=()
  # --kernel=NAME is three words here.
  for word in "${COMP_WORDS[@]:0:COMP_CWORD + 1}"; do
    [[ $word == = ]] || line+=("${word//\\/}")
  done
  [[ ${COMP_WORDS[COMP_CWORD]} == = ]] && line+=('')
  while IFS= read -r word; do
    printf -v word %q "$word"
    COMPREPLY+=("$word")
  done < <(tune completion bash -- "${line[@]}" 2>/dev/null)
}
# Without a word, as after --space, the names of files.
complete -o default -F _tune tune
)bash"},
    {"zsh", R"zsh(#compdef tune
# Completes the command line of tune in zsh. Save it as _tune in a directory of $fpath, or load it
# with: source <(tune completion zsh)
_tune() {
  local word
  local -a found
  for word in ${(f)"$(tune completion zsh -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"}; do
    if [[ $word == *$'\t'* ]]; then
      found+=("${${word%%$'\t'*}//:/\\:}:${word#*$'\t'}")
    else
      found+=("${word//:/\\:}")
    fi
  done
  if (( $#found )); then
    _describe tune found
  else
    _files
  fi
}
if [[ $funcstack[1] == _tune ]]; then
  _tune "$@"
else
  compdef _tune tune
fi
)zsh"},
    {"fish",
     R"fish(# Completes the command line of tune in fish. Load it with: tune completion fish | source
function __tune_words
    set -l current (commandline -ct)
    set -l found (tune completion fish -- (commandline -opc) "$current" 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c tune -f -a '(__tune_words)'
)fish"},
}};

}  // namespace

std::string_view completion_script(std::string_view shell) {
  const auto* const found = std::ranges::find(kScripts, shell, &Script::shell);
  if (found != kScripts.end()) return found->text;
  throw Error(
      ErrorCode::usage,
      fmt::format("unknown shell '{}': there are completions for bash, zsh and fish", shell));
}

}  // namespace tuner::cli
