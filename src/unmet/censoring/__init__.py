"""What we see of latent values: thresholds, flags, sides, and schemes that censor."""

from unmet.censoring._kaplan_meier import Distribution, kaplan_meier
from unmet.censoring._mirror import mirror_levels, mirror_quantiles
from unmet.censoring._observe import observe, refuse_mask
from unmet.censoring._observed import Kind, Observed, Side
from unmet.censoring._schemes import fixed_threshold, partial, supply_cap
from unmet.censoring._staying import StayingUncensored

__all__ = [
    "Distribution",
    "Kind",
    "Observed",
    "Side",
    "StayingUncensored",
    "fixed_threshold",
    "kaplan_meier",
    "mirror_levels",
    "mirror_quantiles",
    "observe",
    "partial",
    "refuse_mask",
    "supply_cap",
]
