# bash completion for rooftile: eval "$(rooftile completion bash)"
_rooftile() {
  local line=${COMP_LINE:0:COMP_POINT} word cut candidate
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[-1]}
  # bash splits words at '=' and ':': what stands before the last of them must not come again.
  cut=""
  [[ $word == *[=:]* ]] && cut=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r candidate; do
    candidate=${candidate%%$'\t'*}
    if [[ $candidate == :files ]]; then
      while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$word")
      compopt -o filenames 2>/dev/null
    else
      COMPREPLY+=("${candidate#"$cut"}")
    fi
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _rooftile rooftile
