"""Serves the page and its line, on this machine only, from a thread with a loop of its own.

The page is a table of files that is made once: no path of a request is ever joined to another. Pages that do not keep
up lose pictures, never anything else, and nobody waits for them.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from engine.edit import guard
from engine.edit.errors import AskedError, PageError
from engine.edit.requests import Request, read
from engine.errors import EngineError
from engine.printable import printable

FOLDER = Path(__file__).parent / "page"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FULL, WAITING = 1 << 16, 8  # bytes, and pictures, that wait for a page before it loses some
RATE = 60.0  # Hz
SLOW = {"record", "open", "save", "hear", "presets"}  # what may take longer than a picture

Pictures = Callable[[], list[bytes]]


class Page:
    """One that is open, and its number."""

    def __init__(self, number: int, line: web.WebSocketResponse, request: web.Request) -> None:
        self.number, self.line, self._request = number, line, request
        self.hears = False  # whether it plays the sound itself
        self.greeted = False
        self._pictures: asyncio.Queue[bytes] = asyncio.Queue(WAITING)

    @property
    def full(self) -> bool:
        transport = self._request.transport
        return transport is None or transport.is_closing() or transport.get_write_buffer_size() > FULL

    def offer(self, picture: bytes) -> None:
        """A picture, if the page keeps up."""
        if self.greeted and not self.full:
            with suppress(asyncio.QueueFull):
                self._pictures.put_nowait(picture)

    async def show(self) -> None:
        """Send pictures as they are offered. Only this page's own waiting is waited for here."""
        while True:
            await self.send(await self._pictures.get())

    async def send(self, what: bytes | dict[str, Any]) -> None:
        """To this page, if it is still there."""
        with suppress(ConnectionError, RuntimeError):
            if isinstance(what, bytes):
                await self.line.send_bytes(what)
            else:
                await self.line.send_str(json.dumps(what))


class Server:
    """`answer` grants requests, `hello` greets a page, `pictures` are sent to all of them, as often as they are looked
    at; a page has `come`, and has `gone`, by its number. All are called in the server's thread.
    """

    def __init__(
        self,
        port: int,
        token: str,
        answer: Callable[[Request, Page], dict[str, Any]],
        hello: Callable[[], dict[str, Any]],
        pictures: Pictures,
        come: Callable[[int], None],
        gone: Callable[[int], None],
    ) -> None:
        self._wanted, self._token = port, token
        self._answer, self._hello, self._pictures = answer, hello, pictures
        self._come, self._gone = come, gone
        self._files = {
            f"/{'' if file.name == 'index.html' else file.name}": (file.read_bytes(), TYPES[file.suffix])
            for file in sorted(FOLDER.iterdir())
            if file.suffix in TYPES
        }
        self._pages: set[Page] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._begun, self._error = threading.Event(), ""
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)
        self.port = 0

    @property
    def address(self) -> str:
        """What is to be opened."""
        return f"http://127.0.0.1:{self.port}/#{self._token}"

    def start(self) -> None:
        """Serve; a PageError if the port is not to be had."""
        self._thread.start()
        self._begun.wait()
        if self._error:
            self._thread.join()
            raise PageError(self._error)

    def tell(self, what: bytes | dict[str, Any]) -> None:
        """Have all pages told, from any thread."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._spread, what)

    def close(self) -> None:
        """End all lines and the thread."""
        if self._thread.is_alive():
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(5.0)

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        logging.getLogger("aiohttp").setLevel(logging.CRITICAL)  # a rude client is no news
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._begun.set()
            self._loop.close()

    async def _serve(self) -> None:
        app = web.Application(middlewares=[self._guard], client_max_size=guard.LARGEST_MESSAGE)
        app.on_response_prepare.append(_harden)
        app.router.add_get("/line", self._line)
        app.router.add_get("/{file:.*}", self._file)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", self._wanted).start()
        except (OSError, OverflowError) as error:
            taken = getattr(error, "errno", 0) == errno.EADDRINUSE
            why = "is taken by another program" if taken else f"cannot be had ({printable(str(error))})"
            self._error = f"--port {self._wanted}: {why}; take another one, or 0 for any that is free"
            await runner.cleanup()
            return
        self.port = runner.addresses[0][1]
        self._begun.set()
        look = asyncio.create_task(self._look())
        await self._stop.wait()
        look.cancel()
        for page in list(self._pages):
            with suppress(ConnectionError, RuntimeError, asyncio.TimeoutError):
                await asyncio.wait_for(page.line.close(code=WSCloseCode.GOING_AWAY), 0.5)
        await runner.cleanup()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        hosts = request.headers.getall("Host", [])
        status, why = guard.refusal(self.port, request.raw_path.partition("?")[0], request.headers, hosts, self._token)
        if status:
            return web.Response(status=status, text=why)
        return await handler(request)

    async def _file(self, request: web.Request) -> web.Response:
        found = self._files.get(request.raw_path.partition("?")[0])
        if found is None:
            return web.Response(status=404, text="there is no such file")
        return web.Response(body=found[0], content_type=found[1], charset="utf-8")

    async def _line(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return web.Response(status=400, text="this is for the page's line")
        if len(self._pages) >= guard.MOST_PAGES:
            return web.Response(status=503, text="too many pages are open")
        line = web.WebSocketResponse(
            protocols=(guard.PROTOCOL,), compress=False, max_msg_size=guard.LARGEST_MESSAGE, heartbeat=20.0
        )
        await line.prepare(request)
        page = Page(min(set(range(guard.MOST_PAGES)) - {page.number for page in self._pages}), line, request)
        self._pages.add(page)
        self._come(page.number)
        show = asyncio.create_task(page.show())
        try:
            await page.send(self._hello())
            page.greeted = True
            async for message in line:
                if message.type is not WSMsgType.TEXT:
                    await line.close(code=WSCloseCode.UNSUPPORTED_DATA)
                    break
                try:
                    await self._obey(page, message.data)
                except ValueError:
                    await line.close(code=WSCloseCode.INVALID_TEXT)
                    break
        finally:
            show.cancel()
            self._pages.discard(page)
            self._gone(page.number)
        return line

    async def _obey(self, page: Page, message: str) -> None:
        """One request; those that may take long do not keep the others waiting."""
        try:
            request = read(message)
        except AskedError as error:
            await page.send({"id": getattr(error, "id", 0), "error": str(error)})
            return
        if request.word in SLOW:
            task = asyncio.create_task(self._grant_slowly(page, request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            await page.send(self._granted(request, page))

    async def _grant_slowly(self, page: Page, request: Request) -> None:
        await page.send(await self._loop.run_in_executor(None, self._granted, request, page))

    def _granted(self, request: Request, page: Page) -> dict[str, Any]:
        try:
            return {"id": request.id, **self._answer(request, page)}
        except EngineError as error:
            return {"id": request.id, "error": str(error)}
        except OSError as error:
            return {"id": request.id, "error": f"{error.strerror or error}; make room or choose another place"}

    def _spread(self, what: bytes | dict[str, Any]) -> None:
        for page in list(self._pages):
            if isinstance(what, bytes):
                if page.hears:
                    page.offer(what)
                continue
            if not page.greeted:
                continue
            task = asyncio.create_task(page.send(what))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _look(self) -> None:
        """Pictures to all pages, sixty times a second; what comes too late is left out."""
        due = self._loop.time()
        while True:
            due = max(due + 1.0 / RATE, self._loop.time())
            await asyncio.sleep(max(due - self._loop.time(), 0.0))
            for picture in self._pictures() if self._pages else ():
                for page in self._pages:
                    page.offer(picture)


async def _harden(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(guard.HEADERS)
