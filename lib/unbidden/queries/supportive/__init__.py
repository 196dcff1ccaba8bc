"""Supportive memory: turns that are no gold evidence and still helped (LoCoMo-Conv, 3.3)."""
