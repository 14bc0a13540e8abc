"""The console: what commands print, in a browser and for agents.

It runs the commands themselves, so that a page and a terminal show the same values.
"""
