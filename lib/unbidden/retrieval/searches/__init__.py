"""Searches without a model that nobody publishes beside query rewriting, as small pure functions.

Feedback from the first hits, neighbours of a hit, who speaks, how long ago, and the weights of a
hybrid. Each works on rankings (positions of turns, best first) or score arrays, so it can be put
together with any search over turns.
"""

from unbidden.retrieval.searches.run import SEARCHES, Search, search_rankings

__all__ = ["SEARCHES", "Search", "search_rankings"]
