"""An Apicurio that answers with a schema by its global id: `python -m bench.stubs.registry FILE`.

It prints its port. FILE has the schemas by id, as JSON.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Handler(BaseHTTPRequestHandler):
    schemas: dict[str, object]

    def do_GET(self) -> None:
        """Answer with a schema, or with its references, of which it has none."""
        (*_, last) = path = self.path.partition("?")[0].split("/")
        body = json.dumps([] if last == "references" else self.schemas[path[-1]]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def main() -> None:
    """Serve until killed."""
    _Handler.schemas = json.loads(Path(sys.argv[1]).read_text())
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
