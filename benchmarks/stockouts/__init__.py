"""Virtual stock-outs on real and simulated cities: hidden rides against their estimate."""
