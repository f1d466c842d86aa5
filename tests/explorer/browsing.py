"""A server and a browser: `foretrain explore` started and ended, and its page by the words on it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

GPT_3 = """version: 1
name: GPT-3 175B on 1,024 A100
model: gpt-3-175b
cluster: {host: dgx-a100, hosts: 128}
stack: megatron-2022
parallelism: {tensor: 8, pipeline: 8, schedule: {kind: interleaved-1f1b, chunks: 3}}
training: {tokens: 300B, sequence_length: 2048, global_batch: 1536, microbatch: 1, recompute: selective}
failures: llama3
recovery: {detect: 60s, restart: 8min, repair: 24h}
runs: 100
seed: 7
"""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


@contextmanager
def served(*arguments: str, cwd: Path) -> Iterator[str]:
    """Start `foretrain explore`, yield its address, and end it as Ctrl-C does."""
    command = [sys.executable, "-m", "simulator", "explore", "--no-browser", "--port", str(_free_port()), *arguments]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background shell ignores it
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), address
            yield address
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def browser(profile: Path, downloads: Path) -> Iterator[Any]:
    """Yield a headless browser that writes down what it asks the network for."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    several = "profile.default_content_setting_values.automatic_downloads"
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads), several: 1})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """The page as a person meets it: by the words on it."""

    def __init__(self, driver: Any, address: str) -> None:
        """Open the address that the command printed, whose token the browser keeps."""
        self.driver, self.printed = driver, address
        self.address = address.partition("?")[0]
        driver.get(address)

    def open(self, query: str = "", *, width: int = 1280, height: int = 1000) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(f"{self.address}{query}")

    def figure(self, name: str) -> str | None:
        """Return a number of the headline, None while it is not there."""
        script = """for (const one of document.querySelectorAll('dl.figures div'))
            if (one.querySelector('dt').textContent === arguments[0])
                return one.querySelector('dd').firstChild.textContent; return null"""
        return self.driver.execute_script(script, name)

    def text(self) -> str:
        return self.driver.execute_script("return document.body.innerText")

    def until(self, what: Callable[[], Any], seconds: float = 30.0) -> Any:
        """Return what `what` returns once that is true."""
        end = time.monotonic() + seconds
        while not (found := what()):
            assert time.monotonic() < end, self.text()
            time.sleep(0.02)
        return found

    def settle(self) -> None:
        """Wait until the page is as it will stay."""
        state = """const page = document.querySelector('[data-testid="stApp"]')
            return page ? page.getAttribute('data-test-script-state') : ''"""
        calm, end = 0, time.monotonic() + 90
        while calm < 6:
            assert time.monotonic() < end, self.text()
            there = self.figure("step") is not None or "stAlert" in self.driver.page_source
            calm = calm + 1 if there and self.driver.execute_script(state) == "notRunning" else 0
            time.sleep(0.05)

    def button(self, words: str) -> Any:
        from selenium.webdriver.common.by import By

        def find() -> Any:
            every = self.driver.find_elements(By.TAG_NAME, "button")
            return next((one for one in every if one.text.strip().startswith(words)), None)

        found = self.until(find)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
        return found

    def field(self, label: str) -> Any:
        from selenium.webdriver.common.by import By

        found = self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, f'input[aria-label*="{label}"]'))[0]
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
        return found

    def write(self, label: str, value: str) -> None:
        """Type into a field as a person does."""
        from selenium.webdriver.common.keys import Keys

        field = self.field(label)
        field.click()
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(value, Keys.ENTER)

    def hosts(self) -> set[str]:
        """Return the hosts that pages asked for since the last call."""
        asked = set()
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            url = message["params"].get("request", {}).get("url") or message["params"].get("url", "")
            known = ("Network.requestWillBeSent", "Network.webSocketCreated")
            if message["method"] in known and url.startswith(("http:", "https:", "ws:", "wss:")):
                asked.add(url.split("/")[2])
        return asked
