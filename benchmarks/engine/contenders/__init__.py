"""Contenders: each trains the problems it is handed and says how long it took and how well it ended."""
