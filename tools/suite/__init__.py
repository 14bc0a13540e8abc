"""The test suite, room by room: `make test`."""
