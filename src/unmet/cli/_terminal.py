"""Text for a terminal: whatever a file or a name says, it is shown and does nothing else."""

import re

# Control characters move the cursor, rename the window or hide text; the others change its direction.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: object) -> str:
    """Return a text on one line, with control characters spelt out.

    >>> printable("a\\x1b]0;b")
    'a\\\\x1b]0;b'
    """
    return _CONTROL.sub(lambda found: " " if found[0].isspace() else repr(found[0])[1:-1], str(text))


def shown(text: object) -> str:
    """Return a text that rich prints as it is."""
    from rich.markup import escape

    return escape(printable(text))
