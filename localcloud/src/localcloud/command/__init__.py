"""The commands of `python -m localcloud`, and the background process that they use."""
