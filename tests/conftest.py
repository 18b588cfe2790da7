"""Settings that all tests share."""

from hypothesis import HealthCheck, settings

# Compilation makes the first example slow and later ones quick, which says nothing about the code under test.
settings.register_profile(
    "unmet", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unmet")
