"""The check of the operator's page: a real deployment on this machine, seen and used through a real browser."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback

from playwright.sync_api import Error, sync_playwright

import acts
import safety
import views
from browser import launch
from environment import Environment
from load import Load
from processes import DemoFailure

# The steps in their order: later ones use what earlier ones left.
STEPS = [
    ("collecting", acts.collect), ("Now", views.show_now), ("campaigns", views.show_campaign),
    ("letter", acts.look_into_letter),
    ("fan-out", acts.cancel_fan_out), ("purging", acts.purge_filtered), ("replaying", acts.replay_selected),
    ("test push", acts.send_test_push), ("pause", acts.pause), ("audit", acts.audit),
    ("hostile names", safety.show_hostile_names), ("other sites", safety.refuse_other_sites),
    ("plain http", safety.act_by_name), ("logins", safety.ask_for_login), ("proxy", safety.work_behind_proxy),
    ("keyboard", views.walk_by_keyboard), ("polling", views.poll),
]


class Report:
    """What was done, and what went wrong."""

    def __init__(self):
        self.problems = []
        self.steps = 0

    def done(self, what):
        self.steps += 1
        say(f"  {what}")

    def problem(self, text):
        self.problems.append(text)
        say(f"  WRONG: {text}")


def check(options, folder, report):
    environment = Environment(options.command, folder)
    load = Load(environment)
    try:
        say("Starting RabbitMQ, the simulator, two workers and nginx")
        environment.start()
        acts.make_dead_letters(environment)
        with environment.publisher() as publisher:
            publisher.event("refused", {"app": "music", "userIds": ["user-0"], "notification": {"title": "Never"}})
        load.start()
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for name, step in STEPS:
                # The others need letters that have been collected.
                if options.only and options.only not in name and step is not acts.collect:
                    continue
                attempt(name, lambda: step(browser, report, environment), report, environment, load)
            time.sleep(options.seconds)
            if not options.only or options.only == "views":
                attempt("views", lambda: views.render(browser, report, environment, options.screenshots), report,
                        environment, load)
            browser.close()
    finally:
        load.stop()
        environment.close()


def attempt(name, step, report, environment, load):
    """A step that fails does not keep the others from being tried."""
    try:
        step()
    except (AssertionError, Error, DemoFailure) as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "OperatorPage" in frame.filename]
        report.problem(f"{name} ({frames[-1].name}:{frames[-1].lineno}): {error}")
    environment.check_processes()
    if load.error:
        raise DemoFailure(f"publishing the load failed: {load.error}")


def say(text):
    print(text, flush=True)


def parse_options():
    parser = argparse.ArgumentParser(prog="deploy/bin/check-page")
    parser.add_argument("--command", required=True)
    parser.add_argument("--screenshots")
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


def main():
    options = parse_options()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    if options.screenshots:
        os.makedirs(options.screenshots, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="apus-page-")
    started = time.monotonic()
    report = Report()
    try:
        check(options, folder, report)
    except DemoFailure as failure:
        report.problem(str(failure))
    except KeyboardInterrupt:
        report.problem("interrupted")
    finally:
        if options.keep or report.problems:
            say(f"Configuration and logs are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - started
    say(f"check-page: {report.steps} steps, {len(report.problems)} problems, "
        f"{seconds:.0f} s")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
