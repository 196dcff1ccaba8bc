"""The chapter on judges: models and floors against the labelled set and real votes."""
