"""What resolves and what can be reached."""

from localcloud.network.names import resolve_names

__all__ = ["resolve_names"]
