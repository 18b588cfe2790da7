"""The named choices that estimators take: editors read these types, and `fit` checks against them."""

from typing import Literal

Auto = Literal["auto"]
NetworkName = Literal["linear", "mlp", "kernel", "lstm", "graph", "grid"]
HeadName = Literal["location-scale", "monotone", "free"]
LossName = Literal["censored", "published", "ipcw"]
CensoringModel = Literal["kaplan-meier", "forest"]
Schedule = Literal["constant", "cosine"]
TobitScale = Literal["constant", "network"]
TobitShapeName = Literal["normal", "sinh-arcsinh"]
