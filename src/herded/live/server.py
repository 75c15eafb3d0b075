"""A small web server for one reader: loopback only, under a secret path, for its own page only.

Only requests with the token in the link are answered, and not those of a page from another origin
or under another host's name. Files are looked up among those of the page, never on the disk. The
size of requests, connections and the time of an answer are limited.
"""

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from herded.live.api import RESPONDERS, respond
from herded.live.static_files import SECURITY_POLICY, page_files, type_of
from herded.version import __version__

HOST = "127.0.0.1"
MAX_BODY_BYTES = 2**21  # of a request's body
REQUEST_TIMEOUT_SECONDS = 15.0  # for a request to arrive
ANSWER_TIMEOUT_SECONDS = 60.0  # for an answer, including compilation
MAX_CONNECTIONS = 16


class LiveServer(ThreadingHTTPServer):
    """A server of the page at `link`, until `serve_forever` is interrupted."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = MAX_CONNECTIONS

    def __init__(self, port: int = 0, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(18)
        self.files = dict(page_files())
        self.files["served.js"] = b"export const served = true;\n"
        self.room = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self.thinking = threading.Lock()  # one answer at a time
        super().__init__((HOST, port), RequestHandler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def link(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection, or close it if there are too many."""
        if not self.room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Handle a connection, and release its place at the end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a connection, such as a reader that left."""

    def think(self, name: str, request: object) -> tuple[int, dict[str, Any]]:
        """Compute an answer, or report a timeout; later requests then wait for the work."""
        found: list[tuple[int, dict[str, Any]]] = []

        def work() -> None:
            try:
                found.append(respond(name, request))
            except Exception as error:  # a bug, which must not be silent
                found.append((500, {"error": f"could not compute an answer: {error!r:.200}"}))
            finally:
                self.thinking.release()

        late = (
            503,
            {"error": f"expected an answer within {ANSWER_TIMEOUT_SECONDS:.0f} seconds, got none"},
        )
        if not self.thinking.acquire(timeout=ANSWER_TIMEOUT_SECONDS):
            return late
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(ANSWER_TIMEOUT_SECONDS)
        return found[0] if found else late


class RequestHandler(BaseHTTPRequestHandler):
    """The handler of one connection."""

    server: LiveServer
    timeout = REQUEST_TIMEOUT_SECONDS
    server_version, sys_version = f"herded/{__version__}", ""

    def do_GET(self) -> None:
        """Send a file of the page."""
        path = self._path()
        if path is None:
            return
        path = path or "index.html"
        content = self.server.files.get(path)
        if content is None:
            self._refuse(404, "no such file")
        else:
            self._send(200, content, type_of(path))

    def do_POST(self) -> None:
        """Answer a request of the page."""
        path = self._path()
        if path is None:
            return
        if self.headers.get("Origin") != f"http://{HOST}:{self.server.port}":
            self._refuse(403, "expected a request of the page itself")
        elif path not in RESPONDERS:
            self._refuse(404, "no such question")
        elif self.headers.get_content_type() != "application/json":
            self._refuse(415, "expected application/json")
        else:
            request = self._body()
            if request is not None:
                status, found = self.server.think(path, request)
                self._send(status, json.dumps(found).encode(), "application/json")

    def _path(self) -> str | None:
        """Return the path after the token; refuse other paths and return None."""
        if self.headers.get("Host") != f"{HOST}:{self.server.port}":
            self._refuse(403, f"expected the host {HOST}")
            return None
        _, token, *rest = [*self.path.partition("?")[0].split("/", 2), ""]
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(403, "expected the link that `herded live` printed")
            return None
        return rest[0]

    def _body(self) -> Any:
        """Return the object in the request; refuse a wrong or too large one and return None."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self._refuse(411, "expected a length")
        if int(length) > MAX_BODY_BYTES:
            return self._refuse(413, f"expected at most {MAX_BODY_BYTES // 2**20} MB")
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return self._refuse(400, "expected JSON")

    def _refuse(self, status: int, why: str) -> None:
        self.close_connection = True
        self._send(status, json.dumps({"error": why}).encode(), "application/json")

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": SECURITY_POLICY + "; frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, since the terminal belongs to the reader."""
