"""The chapter on timelines: memory graphs, replayed sessions, THEANINE's released replies."""
