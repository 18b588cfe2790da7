"""Engine benchmarks: the same problems, settings and stopping rule in every contender."""
