"""`unmet run` on a simulated city of any size: what it costs, how close it comes, and its page."""
