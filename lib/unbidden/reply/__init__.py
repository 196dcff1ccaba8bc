"""Replies: how they are made from memories, and how close they come to what was really said."""
