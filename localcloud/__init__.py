"""Two AWS accounts on one machine, for development, demo and tests.

Nothing that ships imports it.
"""
