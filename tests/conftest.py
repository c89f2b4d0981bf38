"""Settings for all tests: properties are run often, always on the same examples, and never timed."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "biasbounty", max_examples=250, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("biasbounty")
