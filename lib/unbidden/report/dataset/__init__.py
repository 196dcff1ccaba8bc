"""The chapter on the data set: its audit, how its queries were made, its data card."""
