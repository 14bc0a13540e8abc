"""Optional features: a folder each, which the core does not know, and which knows no other one.

An extension brings what it needs: settings, errors, operations, commands. Its commands are entry
points in the group `penstock.commands` (`penstock.cli.commands`), its sinks in `penstock.sinks`.
"""
