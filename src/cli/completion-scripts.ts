// Completion scripts for bash, zsh and fish. All candidates come from `nacre complete`.

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type ShellName = (typeof SHELLS)[number];

export function completionScript(shell: ShellName): string {
  return SCRIPTS[shell];
}

const SCRIPTS: Readonly<Record<ShellName, string>> = {
  bash: `# nacre: completion for bash. source <(nacre completion bash)
_nacre() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(nacre complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _nacre nacre
`,
  zsh: `#compdef nacre
# nacre: completion for zsh. nacre completion zsh > "\${fpath[1]}/_nacre"
_nacre() {
  local -a candidates
  candidates=(\${(f)"$(nacre complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#candidates} )); then
    candidates=("\${(@)candidates//:/\\\\:}")
    candidates=("\${(@)candidates/$'\\t'/:}")
    # -U: nacre has already selected the matches, for example ids without shell_.
    _describe -t candidates nacre candidates -U
  else
    _files
  fi
}
if [ "$funcstack[1]" = "_nacre" ]; then
  _nacre "$@"
else
  compdef _nacre nacre
fi
`,
  fish: `# nacre: completion for fish. nacre completion fish > ~/.config/fish/completions/nacre.fish
function __nacre_candidates
  set -l found (nacre complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c nacre -f -a '(__nacre_candidates)'
`,
};
