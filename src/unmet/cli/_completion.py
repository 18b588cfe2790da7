"""`unmet completion`: what the Tab key needs to know, for bash, zsh and fish."""

from typing import Annotated

import typer

EXAMPLE = "Example: unmet completion bash >> ~/.bashrc"

# Each asks `unmet --complete WORD…` with the words up to the cursor; no answer leaves it to file names.
SCRIPTS = {
    "bash": """\
_unmet() {
    local IFS=$'\\n'
    COMPREPLY=( $(unmet --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) )
}
complete -o bashdefault -o default -F _unmet unmet
""",
    "zsh": """\
#compdef unmet
_unmet() {
    local -a found
    found=(${(f)"$(unmet --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ${#found} )); then compadd -- $found; else _files; fi
}
if (( $+functions[compdef] )); then compdef _unmet unmet; fi
""",
    "fish": """\
function __unmet_complete
    set -l words (commandline -opc) (commandline -ct)
    unmet --complete $words[2..] 2>/dev/null
end
complete -c unmet -a '(__unmet_complete)'
""",
}


def completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="Which shell.")],
) -> None:
    """Print what makes the Tab key complete commands, options and choices.

    For bash see the example below; for zsh the same with zsh and ~/.zshrc, after compinit; for fish write to
    ~/.config/fish/completions/unmet.fish.
    """
    if shell not in SCRIPTS:
        raise ValueError(f"SHELL must be one of {', '.join(SCRIPTS)}, not {shell!r}.")
    typer.echo(SCRIPTS[shell], nl=False)
