"""Demand that moves through a city: networks that look around, beside those that do not and LightGBM."""
