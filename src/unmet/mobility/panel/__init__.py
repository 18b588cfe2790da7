"""From canonical trips, status and stations to the demand panel."""
