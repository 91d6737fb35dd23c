# fish completion for rooftile: rooftile completion fish | source
function __rooftile_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    for line in ($before[1] __complete $before[2..-1] "$word" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$word"
        else
            echo $line
        end
    end
end
complete -c rooftile -f -a '(__rooftile_complete)'
