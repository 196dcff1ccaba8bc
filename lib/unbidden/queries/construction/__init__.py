"""Building LoCoMo-Conv's query styles from plain conversations, with a model (section 3)."""
