"""What memory does for a reply that need not state it: buckets, silent grounding, chosen memories.

Works on stored replies and their verdicts; the only calls made here are a judge's.
"""
