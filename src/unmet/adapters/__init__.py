"""Fit into other people's programs: frames of Nixtla's libraries here, skpro in `unmet.adapters.skpro`."""

from unmet.adapters._frames import cross_validate_frame, forecast_frame

__all__ = ["cross_validate_frame", "forecast_frame"]
