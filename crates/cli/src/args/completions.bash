
# Models of sim:MODEL. Where bash takes the colon for the end of a word, only what follows it is completed.
_flashscope_targets() {
    local typed="${COMP_LINE:0:COMP_POINT}"
    typed="${typed##*[[:space:]]}"
    if [[ "${typed}" != sim:* ]]; then
        _flashscope "$@"
    elif [[ "${COMP_WORDBREAKS}" == *:* ]]; then
        COMPREPLY=( $(compgen -W "@MODELS@" -- "${typed#sim:}") )
    else
        COMPREPLY=( $(compgen -P sim: -W "@MODELS@" -- "${typed#sim:}") )
    fi
}

complete -F _flashscope_targets -o bashdefault -o default flashscope
