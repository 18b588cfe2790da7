"""Read GBFS and MDS feeds: one document per file, or one per line."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._account import Account
from unmet.mobility.sources._csv import numbered_relation, write_rows
from unmet.mobility.sources._files import short
from unmet.mobility.sources._formats import Format, Kind
from unmet.mobility.sources._gbfs import gbfs_feed
from unmet.mobility.sources._json import (
    Feed,
    FlatRows,
    flat_items,
    flat_lines,
    flat_list,
    is_json_lines,
    json_lines,
    load_json,
)
from unmet.mobility.sources._mds import mds_feed
from unmet.mobility.sources._recognition import Layout, NotRecognised, readable
from unmet.mobility.sources._relation import insert_rows

if TYPE_CHECKING:
    from unmet.mobility.sources._reading import Destination

_MANY = 200_000  # rows of feeds to insert at once
_GIVEN_AS = {"trips": "as trips", "status": "with --status", "stations": "with --stations"}


def check_kind(name: str, kind: Kind | None, format: str, wanted: Kind) -> None:
    """Raise NotRecognised if a source holds another kind of data than is wanted."""
    if kind != wanted:
        remedy = f"; give it {_GIVEN_AS[kind]}" if kind else "; leave it out"
        raise NotRecognised(f"{name} holds {kind or 'nothing to read'} ({format}), not {wanted}{remedy}")


class JsonFeeds:
    """Collects the rows of many small snapshots and inserts them together."""

    def __init__(self, con: Connection, destination: "Destination", account: Account, folder: Path) -> None:
        self.con, self.destination, self.account, self.folder = con, destination, account, folder
        self._waiting: dict[tuple[str, ...], tuple[Feed, list[list[Any]]]] = {}

    def read(self, name: str, path: Path, searched: bool) -> FlatRows | None:
        """Read a feed and account for it; if the file holds flat records instead, return them."""
        if is_json_lines(path):
            first = next((value for _, _, value in json_lines(path) if isinstance(value, dict)), None)
            if _feed_of(first) is None:
                return flat_lines(path)
            self._read_lines(name, path)
            return None
        try:
            document = load_json(path, name)
        except ValueError as error:
            if not searched:
                raise
            # Reject one broken snapshot of many and read the others.
            self.account.add_rejects(name, [(0, "the file cannot be read", str(error)[:500])])
            self.account.add_file(name, "JSON", 1, 0, 1)
            return None
        feed = _feed_of(document)
        if feed is not None:
            check_kind(name, feed.kind, feed.format, self.destination.kind)
            self._add(name, feed)
            self.account.add_file(name, feed.format, feed.items, 0, len(feed.rejects))
            self._insert_if_due(name)
            return None
        items = flat_items(document)
        if items is None:
            keys = list(document)[:10] if isinstance(document, dict) else [type(document).__name__]
            found = ", ".join(repr(readable(str(key))) for key in keys)
            raise NotRecognised(
                f"{name} is not a known GBFS or MDS feed: looked for data.stations, data.bikes, "
                f"data.vehicles, trips or status_changes, found {found}"
            )
        return flat_list(items)

    def _read_lines(self, name: str, path: Path) -> None:
        """Read a file with one document per line. Items are numbered through; a bad line counts as one."""
        format, total, rejected = "", 0, 0
        for _, raw, value in json_lines(path):
            feed = _feed_of(value)
            if feed is None or feed.kind != self.destination.kind:
                if not raw.strip():
                    continue
                if feed is not None:
                    check_kind(name, feed.kind, feed.format, self.destination.kind)
                text = raw[:500].decode("utf-8", errors="replace").strip().replace("\0", "\\0")
                self.account.add_rejects(name, [(total + 1, "not a GBFS or MDS document", text)])
                total, rejected = total + 1, rejected + 1
                continue
            format = format or feed.format
            feed.rows = [(number + total, cells) for number, cells in feed.rows]
            feed.rejects = [(number + total, why, text) for number, why, text in feed.rejects]
            self._add(name, feed)
            total, rejected = total + feed.items, rejected + len(feed.rejects)
        self.account.add_file(name, format, total, 0, rejected)
        self._insert_if_due(name)

    def _add(self, name: str, feed: Feed) -> None:
        self.account.notes += [f"{name}: {note}" for note in feed.notes]
        self.account.add_rejects(name, feed.rejects)
        _, rows = self._waiting.setdefault(tuple(feed.header), (feed, []))
        rows += [[number, *cells] for number, cells in feed.rows]

    def _insert_if_due(self, name: str) -> None:
        # Insert many small snapshots at once. Trips are inserted by source, because they carry its name.
        if self.destination.kind == "trips" or sum(len(rows) for _, rows in self._waiting.values()) > _MANY:
            self.insert(name)

    def insert(self, source: str = "feeds") -> None:
        """Insert the rows of feeds that are waiting; rows with the same columns go together."""
        path = self.folder / "feed.csv"
        for feed, rows in self._waiting.values():
            if not rows:
                continue
            write_rows(path, rows)
            names: dict[str, tuple[int, ...]] = {name: (index,) for index, name in enumerate(feed.header)}
            columns = {name: name for name in names}
            format = Format(feed.format, self.destination.kind, columns, needs=(), times="utc")
            few = rows[:50] + rows[-50:]
            samples = [["" if cell is None else str(cell) for cell in row[1:]] for row in few]
            relation = numbered_relation(
                path, Layout(format, tuple(names), names), len(rows), samples, nulls=("",)
            )
            try:
                how = self.destination.rows(relation, source, False)
                inserted = insert_rows(self.con, relation, how)
                if inserted is not None:
                    self.destination.finish(relation, how, inserted)
            except duckdb.Error as error:
                raise ValueError(f"{source} cannot be read: {short(error)}") from None
            finally:
                path.unlink(missing_ok=True)
            if inserted is None or inserted.rejects:
                raise ValueError(f"{source} cannot be read: its items do not add up")
            self.account.left_out += inserted.left_out
        self._waiting.clear()


def _feed_of(document: Any) -> Feed | None:
    return mds_feed(document) or gbfs_feed(document)
