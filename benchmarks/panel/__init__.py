"""Trips and status events to an hourly panel: `unmet` against the same in pandas."""
