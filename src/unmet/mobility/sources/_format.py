"""What a layout is: which columns of a file hold which field."""

from dataclasses import dataclass, field
from typing import Literal

from unmet.mobility.sources._fields import Kind


@dataclass(frozen=True)
class Format:
    """Which columns of a file hold which canonical field.

    Case, spaces and punctuation in headers are ignored (``Start Station ID`` = ``start_station_id``).
    In ``columns``, ``a|b`` means "the first of these that exists" and ``a+b`` "both, joined by a space".

    Attributes
    ----------
    needs : fields that every file of this layout has.
    marks : further required headers, which tell this layout from others with the same columns.
    times : ``"utc"`` if the header says that times are UTC; ``None`` if the caller decides.
    day_first : order of day and month where no file of the layout shows it.
    header : the header of such a file, as operators write it.
    """

    name: str
    kind: Kind
    columns: dict[str, str]
    needs: tuple[str, ...]
    marks: tuple[str, ...] = field(default=())
    times: Literal["utc", None] = None
    day_first: bool = False
    header: str = ""
