"""Censored Gaussian processes on simulated bike stations: R² behind masks, coverage of counts."""
