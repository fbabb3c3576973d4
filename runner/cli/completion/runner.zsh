#compdef runner
# zsh completion for runner: source <(runner completion zsh), after compinit
_runner() {
    local -a typed lines values shown
    local line value
    typed=("${(@Q)words[2,CURRENT]}")
    # a quote that is still open is no part of the word
    [[ -n ${compstate[quote]} ]] && typed[-1]=${typed[-1]#${compstate[quote]}}
    lines=("${(@f)$("${words[1]}" completion candidates -- \
        zsh "${typed[@]}" 2>/dev/null)}")
    case ${lines[1]} in
        :files) _files; return ;;
        :folders) _files -/; return ;;
    esac
    for line in $lines; do
        value=${line%%$'\t'*}
        values+=("$value")
        if [[ $line == *$'\t'?* ]]; then
            shown+=("$value  -- ${line#*$'\t'}")
        else
            shown+=("$value")
        fi
    done
    (( $#values )) || return 1
    if [[ $values[1] == *[=.] ]]; then
        compadd -S '' -l -d shown -a values
    else
        compadd -l -d shown -a values
    fi
}
if [ "$funcstack[1]" = _runner ]; then _runner "$@"; else compdef _runner runner; fi
