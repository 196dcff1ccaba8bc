"""The papers' printed numbers beside ours: as a table and as a page."""
