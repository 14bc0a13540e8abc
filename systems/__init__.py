"""Servers, Penstock's job and its peers, which the bench, the proof and the campaign run."""
