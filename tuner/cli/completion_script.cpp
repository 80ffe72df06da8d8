// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tuner::cli {
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
