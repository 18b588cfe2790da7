"""Build the demand panel from the canonical tables of trips, status and stations."""
