"""Writing files whole or not at all; see `unbidden.atomic`, which every layer may import."""

from unbidden.atomic import replacing, write_text

__all__ = ["replacing", "write_text"]
