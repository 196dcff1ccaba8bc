"""Small chat models on this machine: which there are, their files, and serving one of them."""
