"""Chromium without a window, through its debugging protocol: keys that the browser itself receives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--remote-debugging-pipe"),
)
CODES = {
    **{"Enter": 13, "Escape": 27, "Tab": 9, "Backspace": 8, "End": 35},
    **{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40},
}
TEXTS = {"Enter": "\r"}
SHIFT, CONTROL = 8, 2


class Browser:
    """One tab. The browser reads file descriptor 3 and writes 4: JSON, each message ended by a zero byte."""

    def __init__(self, process, to, out):
        self.process, self.to, self.out, self.kept, self.number, self.session = process, to, out, b"", 0, None
        self.errors = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Runtime.enable")

    def call(self, method, **given):
        """What the browser answers to one command."""
        self.number += 1
        asked = {"id": self.number, "method": method, "params": given}
        asked |= {} if self.session is None else {"sessionId": self.session}
        os.write(self.to, json.dumps(asked).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(message["params"]["exceptionDetails"].get("exception", {}).get("description"))
            if message.get("id") == self.number:
                assert "error" not in message, message["error"]
                return message["result"]

    def _read(self):
        while b"\0" not in self.kept:
            found = os.read(self.out, 1 << 16)
            assert found, "Chromium has ended"
            self.kept += found
        message, _, self.kept = self.kept.partition(b"\0")
        return json.loads(message)

    def size(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, address):
        """The page, once its script has run."""
        self.call("Page.navigate", url="about:blank")  # an address that differs behind # alone would not be loaded anew
        self.call("Page.navigate", url=address)
        end = time.monotonic() + 60
        while not self.run(
            "location.href !== 'about:blank' && document.readyState === 'complete' && main.childElementCount > 0"
        ):
            assert time.monotonic() < end, "the page does not load"
            time.sleep(0.05)

    def run(self, expression):
        """The value of an expression of JavaScript, awaited."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def press(self, key, *, modifiers=0, times=1):
        """A key by its name, or one character."""
        text = "" if modifiers & CONTROL else TEXTS.get(key, key if len(key) == 1 else "")
        code = CODES.get(key) or (ord(key.upper()) if key.isalnum() else 0)  # 46 would be Delete, 45 Insert: not . or -
        same = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown", **same, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **same)

    def drag(self, *points):
        """The mouse is pressed at the first point, moved through the others, and released at the last."""
        for kind, (x, y) in zip(["mousePressed", *["mouseMoved"] * (len(points) - 1)], points):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", buttons=0, clickCount=1)

    def point(self, x, y):
        """The mouse is moved there."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def type(self, text):
        for letter in text:
            self.press(letter)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with an empty profile of its own, ended and removed after use."""
    assert CHROMIUM is not None
    (theirs, to), (out, mine) = os.pipe(), os.pipe()

    def move():
        """In the new process: its ends become 3 and 4. Of four new descriptors the last is at least 6, so is kept."""
        for end, number in ((theirs, 3), (mine, 4)):
            os.dup2(end, number)
            os.set_inheritable(number, True)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [CHROMIUM, *SWITCHES, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=move,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(mine)
        try:
            yield Browser(process, to, out)
        finally:
            os.close(to)
            process.terminate()
            process.wait(20)
            os.close(out)
