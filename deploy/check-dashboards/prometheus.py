"""A Prometheus of this run's own: the shipped rules with short times, and questions to its API."""

import json
import os
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from processes import DemoFailure, Process, free_ports, run, wait_until

# The windows of the rules, in the order of their lengths, and what stands for them here.
WINDOWS = {"5m": "10s", "15m": "15s", "30m": "12s", "1h": "15s", "6h": "20s", "3d": "25s"}
CONFIGURATION = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: apus
    file_sd_configs: [{{files: [{targets}], refresh_interval: 1s}}]
"""


def shortened(rules):
    """The same rules, with windows and delays of seconds."""
    rules = re.sub(r"\[(\w+)\]", lambda match: f"[{WINDOWS[match.group(1)]}]", rules)
    return re.sub(r"(?m)^( +for: ).*$", r"\g<1>1s", rules)


class Prometheus:
    """The server, which scrapes the targets that `watch` names."""

    def __init__(self, folder, rules):
        self._folder = folder
        (self._port,) = free_ports(1)
        with open(self._path("rules.yml"), "w", encoding="utf-8") as file:
            file.write(shortened(rules))
        self.watch([])
        with open(self._path("prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(rules=self._path("rules.yml"), targets=self._path("targets.json")))
        run(["promtool", "check", "config", self._path("prometheus.yml")], folder)
        self.process = Process("prometheus", [
            "prometheus", f"--config.file={self._path('prometheus.yml')}", f"--storage.tsdb.path={self._path('tsdb')}",
            f"--web.listen-address=127.0.0.1:{self._port}", "--enable-feature=exemplar-storage", "--log.level=warn"],
            folder)
        wait_until(self._is_ready, 30, self.process, "ready")

    def watch(self, ports):
        """Sets the targets."""
        temporary = self._path("targets.new")
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump([{"targets": [f"127.0.0.1:{port}" for port in ports]}] if ports else [], file)
        os.replace(temporary, self._path("targets.json"))

    def series(self, query, seconds):
        """The values of a query over the last seconds, a list for each series."""
        now = time.time()
        answer = self._ask("query_range", query=query, start=now - seconds, end=now, step=5)
        return [[float(value) for _, value in series["values"]] for series in answer["result"]]

    def exemplars(self, query):
        """The labels of the stored exemplars."""
        now = time.time()
        answer = self._ask("query_exemplars", query=query, start=now - 600, end=now)
        return [exemplar["labels"] for series in answer for exemplar in series["exemplars"]]

    def alerts(self):
        """The active alerts: name, state and labels."""
        return [
            (alert["labels"]["alertname"], alert["state"], alert["labels"])
            for alert in self._ask("alerts")["alerts"]]

    def _is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/-/ready", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def _ask(self, endpoint, **parameters):
        url = f"http://127.0.0.1:{self._port}/api/v1/{endpoint}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise DemoFailure(f"Prometheus refuses {parameters}: {error.read().decode()}") from error

    def _path(self, name):
        return os.path.join(self._folder, name)


class Forger:
    """A target that shows a worker's metrics with one value changed, for a defect that cannot be provoked."""

    def __init__(self, port, pattern, replacement):
        class Handler(BaseHTTPRequestHandler):
            """Passes /metrics on."""

            def do_GET(self):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    body = re.sub(pattern, replacement, answer.read().decode()).encode()
                    kind = answer.headers["Content-Type"]
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        """Closes its port."""
        self._server.shutdown()
        self._server.server_close()
