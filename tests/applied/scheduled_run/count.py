"""The program of a run that is cancelled as soon as it has started."""
