"""A DynamoDB that accepts every request: `python -m bench.stubs.dynamodb MILLISECONDS`.

It prints its port, and answers each request after that time, on any number of connections.
"""

from __future__ import annotations

import socketserver
import sys
import time
import zlib

_BODY = b'{"UnprocessedItems":{}}'
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nServer: Server\r\nDate: Sat, 21 Nov 2026 09:00:00 GMT\r\n"
    b"Content-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n"
    b"Connection: keep-alive\r\nx-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n\r\n%b"
) % (len(_BODY), b"A" * 52, zlib.crc32(_BODY), _BODY)


class _Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    seconds = 0.0

    def handle(self) -> None:
        """Answer requests until the connection ends."""
        while self.rfile.readline():
            length = 0
            while (line := self.rfile.readline()) not in {b"\r\n", b""}:
                if line.lower().startswith(b"content-length:"):
                    length = int(line[15:])
            self.rfile.read(length)
            if self.seconds:
                time.sleep(self.seconds)
            self.wfile.write(_ANSWER)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


def main() -> None:
    """Serve until killed."""
    _Handler.seconds = float(sys.argv[1]) / 1e3
    with _Server(("127.0.0.1", 0), _Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
