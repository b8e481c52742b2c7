export const COMPLETED_SHELLS = ['bash', 'zsh', 'fish'] as const
export type CompletedShell = (typeof COMPLETED_SHELLS)[number]

/** The answer of `sandyard __complete` where the shell completes names of files itself. */
export const FILES_MARK = ':files'

/** What a shell reads at its start. Each asks `sandyard __complete` for lines of a value, a tab and a description. */
export const SCRIPTS: Readonly<Record<CompletedShell, string>> = {
  bash: `_sandyard() {
  local lines value
  COMPREPLY=()
  lines=$(sandyard __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
  if [ "$lines" = '${FILES_MARK}' ]; then
    compopt -o default
    return
  fi
  while IFS=$'\\t' read -r value _; do
    [ -z "$value" ] || COMPREPLY+=("$value")
  done <<<"$lines"
}
complete -F _sandyard sandyard
`,
  zsh: `#compdef sandyard
_sandyard() {
  local -a lines values
  local line
  lines=("\${(@f)$(sandyard __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "$lines" == '${FILES_MARK}' ]]; then
    _files
    return
  fi
  for line in $lines; do
    values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'sandyard' values
}
compdef _sandyard sandyard
`,
  fish: `function __sandyard_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines (sandyard __complete -- $words[2..-1] 2>/dev/null)
  if test "$lines" = '${FILES_MARK}'
    __fish_complete_path (commandline -ct)
  else
    string join \\n $lines
  end
end
complete -c sandyard -f -a '(__sandyard_complete)'
`,
}
