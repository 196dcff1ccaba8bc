"""The chapter on implicit grounding: replies, buckets, the decomposition, silent grounding."""
