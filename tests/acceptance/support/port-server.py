"""A web server for the tests of the proxy: it returns the request, streams in both directions and supports WebSocket."""

import base64
import hashlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        {"/gated": self.gated, "/hold": self.hold, "/ws": self.websocket}.get(self.path, self.show)()

    def do_POST(self):
        (self.repeat if self.path == "/repeat" else self.show)()

    do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST

    def log_message(self, *args):
        pass

    def show(self):
        """Returns the request in the body, with an unusual status and special headers."""
        body = b"".join(self.body())
        seen = {
            "method": self.command,
            "path": self.path,
            "headers": [[name.lower(), value] for name, value in self.headers.items()],
            "body": body.decode("latin1"),
        }
        answer = json.dumps(seen).encode()
        self.send_response(418)
        self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def gated(self):
        """Sends its second half after a write to the named pipe /tmp/gate."""
        self.start_chunks()
        self.chunk(b"first\n")
        with open("/tmp/gate", "rb") as gate:
            gate.read()
        self.chunk(b"second\n")
        self.chunk(b"")

    def hold(self):
        """Sends one line, and creates the file /tmp/hung-up when the client disconnects."""
        self.start_chunks()
        self.chunk(b"first\n")
        while self.rfile.read(1):
            pass
        open("/tmp/hung-up", "w").close()

    def repeat(self):
        """Returns each piece of the request's body as soon as it arrives."""
        self.start_chunks()
        for piece in self.body():
            self.chunk(piece)
        self.chunk(b"")

    def websocket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        while True:
            first, second = self.rfile.read(2)
            size = second & 127
            if size > 125:
                size = int.from_bytes(self.rfile.read(2 if size == 126 else 8), "big")
            mask = self.rfile.read(4)
            data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(self.rfile.read(size)))
            length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big") if size < 65536 else b"\x7f" + size.to_bytes(8, "big")
            self.wfile.write(bytes([first]) + length + data)
            if first & 15 == 8:
                self.close_connection = True
                return

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            yield self.rfile.read(int(self.headers.get("Content-Length", 0)))
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def start_chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


server = ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler)
print("listening", flush=True)
server.serve_forever()
