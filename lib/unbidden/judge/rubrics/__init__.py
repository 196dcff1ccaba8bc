"""The rubrics, one module each; `unbidden.judge.registry` knows their names."""
