"""Who gets in: requests as bytes on a socket, since no library would send most of them."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'jawari[edit]'")

from virtual_card import wait_for

from engine.edit import guard
from engine.edit.errors import AskedError, PageError
from engine.edit.requests import TABLE, read
from engine.edit.server import FOLDER, Server

TOKEN = guard.new_token()


class Desk:
    """A server that grants everything, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.pictures: list[bytes] = []
        self.gone: list[int] = []
        self.server = Server(0, TOKEN, self.answer, self.hello, self.seen, lambda page: None, self.gone.append)

    def answer(self, request: Any, page: Any) -> dict[str, Any]:
        self.asked.append(request)
        return {}

    def hello(self) -> dict[str, Any]:
        return {"event": "hello"}

    def seen(self) -> list[bytes]:
        taken, self.pictures = self.pictures, []
        return taken


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    made = Desk()
    made.server.start()
    yield made
    made.server.close()


def exchange(port: int, request: bytes, more: bytes = b"") -> tuple[int, bytes]:
    """Status and whole answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=5.0) as line:
        line.sendall(request + more)
        answer = b""
        while b"\r\n\r\n" not in answer and (part := line.recv(65536)):
            answer += part
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else 0, answer


def get(port: int, path: str = "/", host: str | None = None, **headers: str) -> tuple[int, bytes]:
    lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return exchange(port, ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


def upgrade(port: int, **changed: str | None) -> tuple[int, bytes]:
    own = f"127.0.0.1:{port}"
    headers: dict[str, str | None] = {
        "Host": own,
        "Origin": f"http://{own}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Protocol": f"jawari, {TOKEN}",
        **{name.replace("_", "-"): value for name, value in changed.items()},
    }
    lines = ["GET /line HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items() if value is not None)]
    return exchange(port, ("\r\n".join(lines) + "\r\n\r\n").encode())


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("evil.example:{port}", 403),  # a name of somebody's that leads here, too
        ("127.0.0.1.evil.example:{port}", 403),
        ("127.0.0.1:{other}", 403),
        ("127.0.0.1", 403),
        ("[::1]:{port}", 403),
        ("127.0.0.1:{port}@evil.example", 403),
        ("", 403),
    ],
)
def test_only_its_own_name_is_answered(desk: Desk, host: str, status: int) -> None:
    port = desk.server.port
    lines = f"GET / HTTP/1.1\r\nHost: {host.format(port=port, other=port + 1)}\r\nConnection: close\r\n\r\n"
    assert exchange(port, lines.encode())[0] == status


def test_odd_requests(desk: Desk) -> None:
    port = desk.server.port
    own = f"127.0.0.1:{port}"
    cases = {
        f"GET / HTTP/1.1\r\nHost: {own}\r\nHost: {own}\r\n\r\n": (400, 403),
        f"GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n\r\n": (400, 403),
        "GET / HTTP/1.0\r\n\r\n": (403,),
        f"GET http://evil.example/ HTTP/1.1\r\nHost: {own}\r\n\r\n": (403, 404),
        f"POST / HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\n\r\n": (405,),
        f"PUT /page.css HTTP/1.1\r\nHost: {own}\r\nContent-Length: 0\r\n\r\n": (405,),
        f"OPTIONS / HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\n\r\n": (403,),
        f"GET / HTTP/1.1\r\nHost: {own}\r\nX: {'x' * 100_000}\r\n\r\n": (400,),
        f"GET /{'x' * 20_000} HTTP/1.1\r\nHost: {own}\r\n\r\n": (400, 404, 414),
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n": (400, 0),
    }
    for request, wanted in cases.items():
        status, _ = exchange(port, request.encode("latin-1"))
        assert status in wanted, request[:60]


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2fserver.py",
        "/%2e%2e/server.py",
        "/page.css%00",
        "//etc/passwd",
        "/page.css/",
        "/line/..",
        "/session.py",
        "/..",
    ],
)
def test_nothing_but_the_pages_own_files_is_there(desk: Desk, path: str) -> None:
    assert get(desk.server.port, path)[0] in (404, 400)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "same-origin"])
def test_other_sites_get_nothing(desk: Desk, site: str) -> None:
    for path in ("/", "/main.js", "/page.css"):
        status, _ = get(desk.server.port, path, Sec_Fetch_Site=site)
        assert status == (200 if site in ("none", "same-origin") else 403)  # another port is the same site


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:{other}", "null"]
)
def test_other_origins_get_nothing(desk: Desk, origin: str) -> None:
    port = desk.server.port
    named = origin.format(port=port, other=port + 1)
    assert get(port, Origin=named)[0] == 403
    assert upgrade(port, Origin=named)[0] == 403


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 101),
        ({"Sec_WebSocket_Protocol": None}, 401),
        ({"Sec_WebSocket_Protocol": "jawari"}, 401),
        ({"Sec_WebSocket_Protocol": f"jawari, {TOKEN}x"}, 401),
        ({"Sec_WebSocket_Protocol": f"jawari, {TOKEN[:-1]}"}, 401),
        ({"Sec_WebSocket_Protocol": "jawari, \xff"}, 401),
        ({"Origin": None}, 403),
        ({"Host": "evil.example"}, 403),
        (
            {"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"},
            403,
        ),  # both by a name that leads here
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Upgrade": None, "Connection": "close"}, 400),
    ],
)
def test_the_line_needs_the_token_and_the_origin(desk: Desk, changed: dict[str, str | None], status: int) -> None:
    port = desk.server.port
    named = {name: value and value.replace("{port}", str(port)) for name, value in changed.items()}
    assert upgrade(port, **named)[0] == status


def test_every_answer_carries_the_headers(desk: Desk) -> None:
    port = desk.server.port
    for answer in (get(port), get(port, "/nothing"), get(port, host="evil.example"), upgrade(port, Origin="null")):
        head = answer[1].split(b"\r\n\r\n")[0].decode("latin-1")
        for name, value in guard.HEADERS.items():
            assert f"{name}: {value}" in head
        assert "aiohttp" not in head
        assert "Set-Cookie" not in head
        assert "Access-Control" not in head
    assert TOKEN.encode() not in get(port)[1]


def test_each_file_of_the_page_is_served_with_its_type(desk: Desk) -> None:
    for file in FOLDER.iterdir():
        status, answer = get(desk.server.port, "/" if file.name == "index.html" else f"/{file.name}")
        assert status == 200
        kind = {".js": b"text/javascript", ".css": b"text/css", ".html": b"text/html", ".svg": b"image/svg+xml"}[
            file.suffix
        ]
        assert b"Content-Type: " + kind in answer


def test_the_page_asks_nobody_else() -> None:
    for file in FOLDER.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text, file.name
        assert "http://" not in text, file.name
        assert "style=" not in text, file.name
        assert "eval(" not in text, file.name


# --- the line ---------------------------------------------------------------------------------------------------------


class Line:
    """A WebSocket by hand."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5.0)
        own = f"127.0.0.1:{port}"
        key = base64.b64encode(os.urandom(16)).decode()
        head = (
            f"GET /line HTTP/1.1|Host: {own}|Origin: http://{own}|Upgrade: websocket|Connection: Upgrade|"
            f"Sec-WebSocket-Version: 13|Sec-WebSocket-Key: {key}|Sec-WebSocket-Protocol: jawari, {TOKEN}||"
        )
        self.socket.sendall(head.replace("|", "\r\n").encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.socket.recv(4096)
        self.rest = self.rest.partition(b"\r\n\r\n")[2]

    def send(self, data: bytes, kind: int = 1) -> None:
        size = (
            struct.pack("!BBH", 0x80 | kind, 0xFE, len(data))
            if len(data) < 65536
            else struct.pack("!BBQ", 0x80 | kind, 0xFF, len(data))
        )
        self.socket.sendall(size + bytes(4) + data)

    def take(self, count: int) -> bytes:
        while len(self.rest) < count:
            part = self.socket.recv(65536)
            assert part, "the line is closed"
            self.rest += part
        found, self.rest = self.rest[:count], self.rest[count:]
        return found

    def frame(self) -> tuple[int, bytes]:
        first, size = self.take(2)
        if size == 126:
            (size,) = struct.unpack("!H", self.take(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self.take(8))
        return first & 15, self.take(size)

    def answer(self) -> dict[str, Any]:
        kind, data = self.frame()
        assert kind == 1, (kind, data)
        found: dict[str, Any] = json.loads(data)
        return found

    def closed_with(self) -> int:
        kind, data = self.frame()
        assert kind == 8
        return int(struct.unpack("!H", data[:2])[0])


@pytest.fixture
def line(desk: Desk) -> Iterator[Line]:
    made = Line(desk.server.port)
    assert made.answer() == {"event": "hello"}
    yield made
    made.socket.close()


@pytest.mark.parametrize(
    ("message", "kind", "code"),
    [
        (b"x" * 70_000, 1, 1009),
        (b"not json", 1, 1007),
        (b"[" * 30_000, 1, 1007),
        (b'"text"', 1, 1007),
        (b"\xff\xfe", 1, 1007),
        (b'{"do": 5}', 1, 1007),
        (b"\0\0\0\0", 2, 1003),
    ],
)
def test_what_is_no_request_ends_the_line(line: Line, message: bytes, kind: int, code: int) -> None:
    line.send(message, kind)
    assert line.closed_with() == code


def test_a_message_that_is_announced_as_too_long_is_not_waited_for(line: Line) -> None:
    line.socket.sendall(struct.pack("!BBQ", 0x81, 0xFF, 1 << 20) + bytes(4))
    assert line.closed_with() == 1009


def test_a_message_without_a_mask_is_a_request_like_any_other(line: Line) -> None:
    """No browser sends one; who can has the token, and gets no more by it."""
    data = b'{"id": 3, "do": "shell"}'
    line.socket.sendall(struct.pack("!BB", 0x81, len(data)) + data)
    assert "no such request" in line.answer()["error"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"do": "shell"}, "no such request"),
        ({"do": "__init__"}, "no such request"),
        ({"do": "note"}, "key: must be a whole number"),
        ({"do": "note", "key": 128, "velocity": 1}, "key: must be 0 to 127"),
        ({"do": "note", "key": True, "velocity": 1}, "key: must be a whole number"),
        ({"do": "note", "key": 1e9, "velocity": 1}, "key: must be a whole number"),
        ({"do": "note", "key": 60, "velocity": 1, "more": 1}, "has no more"),
        ({"do": "set", "path": "a", "value": "x" * 20_001}, "value: must be 0 to 20000 characters"),
        ({"do": "save", "name": ["x"]}, "name: must be text"),
        ({"do": "strobe", "slip": float("nan")}, "slip: must be"),
    ],
)
def test_a_wrong_request_is_refused_in_a_sentence_and_the_line_stays(
    desk: Desk, line: Line, asked: dict[str, Any], why: str
) -> None:
    before = len(desk.asked)
    line.send(json.dumps({"id": 7, **asked}).encode())
    answer = line.answer()
    assert why in answer["error"]
    assert answer["id"] == 7
    line.send(b'{"id": 8, "do": "silence"}')
    assert line.answer() == {"id": 8}
    assert [request.word for request in desk.asked[before:]] == ["silence"]


def test_pictures_reach_every_page_and_a_page_that_breaks_off_harms_no_other(desk: Desk, line: Line) -> None:
    rude = Line(desk.server.port)
    rude.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    rude.socket.close()  # a reset, not an end
    for n in range(20):
        desk.pictures.append(bytes([n]) * 8)
        assert line.frame() == (2, bytes([n]) * 8)


def test_who_has_gone_is_told_by_a_number_that_is_the_next_ones(desk: Desk, line: Line) -> None:
    """However it goes: as it should, by a wrong word, or broken off."""
    wait_for(lambda: len(desk.server._pages) == 1, "others are here")
    (mine,) = (page.number for page in desk.server._pages)
    for end in (lambda own: own.send(b"", 8), lambda own: own.send(b"no"), lambda own: None):
        desk.gone.clear()
        other = Line(desk.server.port)
        assert other.answer() == {"event": "hello"}
        end(other)
        other.socket.close()
        wait_for(lambda: bool(desk.gone), "nobody is told")
        assert desk.gone == [0 if mine else 1]


def test_a_page_that_does_not_read_loses_pictures_and_costs_no_memory(desk: Desk, line: Line) -> None:
    for _ in range(60):
        desk.pictures.append(bytes(1 << 20))
        wait_for(lambda: not desk.pictures, "no picture is taken")
    page = next(iter(desk.server._pages))
    transport = page._request.transport
    assert transport is None or transport.get_write_buffer_size() < 4 << 20


def test_a_port_that_is_taken_is_one_line(desk: Desk) -> None:
    second = Server(desk.server.port, TOKEN, desk.answer, desk.hello, desk.seen, print, print)
    with pytest.raises(
        PageError, match=f"--port {desk.server.port}: is taken by another program; take another one, or 0"
    ):
        second.start()


def test_the_table_of_requests_is_whole() -> None:
    for word, fields in TABLE.items():
        example = {
            name: {int: max(field.low, 0), float: 0.0, str: "", bool: True}[field.kind]
            for name, field in fields.items()
        }
        example = {
            name: int(value) if isinstance(value, float) and fields[name].kind is int else value
            for name, value in example.items()
        }
        assert read(json.dumps({"do": word, **example})).word == word
    with pytest.raises(AskedError):
        read('{"do": "no"}')


def test_the_token_cannot_be_guessed() -> None:
    assert len({guard.new_token() for _ in range(100)}) == 100
    assert all(len(guard.new_token()) >= 32 for _ in range(10))
    assert Path(FOLDER, "index.html").is_file()
