"""Tables, figures, examples and the files of a run."""
