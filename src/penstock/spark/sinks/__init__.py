"""The sinks of jobs: a file for each kind, with its settings, opening and replayed form."""
