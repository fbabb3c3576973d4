# fish completion for runner: runner completion fish | source
function __runner_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct | string unescape)
    set -l found ($before[1] completion candidates -- fish $before[2..-1] $word 2>/dev/null)
    switch "$found[1]"
        case :files
            __fish_complete_path (commandline -ct)
        case :folders
            __fish_complete_directories (commandline -ct)
        case '*'
            printf '%s\n' $found
    end
end
complete -c runner -f -a '(__runner_complete)'
