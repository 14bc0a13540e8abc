"""The whole story on this machine: both accounts come up, events go in, rows come out."""
