"""`unmet completion`: the script that makes the Tab key complete, for bash, zsh and fish."""

from typing import Annotated, Literal

import typer

EXAMPLE = "Example: unmet completion bash >> ~/.bashrc"


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"], typer.Argument(metavar="bash|zsh|fish", help="Your shell.")
    ],
) -> None:
    """Print the script that makes the Tab key complete commands, options and choices.

    For bash, see the example. For zsh, append it to ~/.zshrc after compinit. For fish, write it to
    ~/.config/fish/completions/unmet.fish.
    """
    from typer.completion import get_completion_script

    print(get_completion_script(prog_name="unmet", complete_var="_UNMET_COMPLETE", shell=shell))
