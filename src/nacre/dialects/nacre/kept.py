"""How much of an output the default dialect keeps, and how much it shows."""

from nacre.model.transcript import Limit

__all__ = ("BUDGET", "LIMIT")

# Characters of output that one reply shows: about 8,000 tokens.
BUDGET = 30_000
# What is kept is a good deal more than what is shown: cleaning shrinks it. What
# is more than can be shown is spilled, so that nothing hidden is out of reach.
LIMIT = Limit(head=128 * 1024, tail=256 * 1024, spill=64 * 1024 * 1024, inline=BUDGET)
