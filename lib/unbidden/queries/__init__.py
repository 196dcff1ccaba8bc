"""The five query styles over a corpus: plain questions and LoCoMo-Conv's four rewrites."""
