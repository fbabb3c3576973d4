# bash completion for runner: source <(runner completion bash)
_runner() {
    local word=${COMP_WORDS[COMP_CWORD]}
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" completion candidates -- bash \
        "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    case ${COMPREPLY[0]-} in
        :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        :folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    esac
    case ${#COMPREPLY[@]}${COMPREPLY[0]-} in 1*[=.]) compopt -o nospace ;; esac
}
complete -F _runner runner
