"""Koenker's simulation tables, again with these estimators."""
