"""The chapter on retrieval: recall, systems side by side, what each stored and returned."""
