# bash completion for runner: source <(runner completion bash)
_runner() {
    local IFS=$'\n' kind
    COMPREPLY=()
    read -r -d '' kind < <("${COMP_WORDS[0]}" completion candidates -- bash \
        "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    case ${kind%%$'\n'*} in
        :files) compopt -o filenames; COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")) ;;
        :folders) compopt -o filenames; COMPREPLY=($(compgen -d -- "${COMP_WORDS[COMP_CWORD]}")) ;;
        *) COMPREPLY=($kind) ;;
    esac
    case ${#COMPREPLY[@]}${COMPREPLY[0]} in 1*[=.]) compopt -o nospace ;; esac
}
complete -F _runner runner
