"""The chapter on replies: what is asked, what came, and how far its judges can be trusted."""
