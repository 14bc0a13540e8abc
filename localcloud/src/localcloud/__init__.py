"""Two AWS accounts on one machine, for development, the demo and tests.

No shipped package imports it.
"""
