"""The tables and figures of the chapter on ablations."""
