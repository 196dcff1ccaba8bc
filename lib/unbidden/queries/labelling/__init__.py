"""Labels by people: a page to label queries on, what is asked, and how far labels agree."""
