"""Reads what the simulator recorded and what the worker counted, and compares both with what had to happen."""

import json
import re
from collections import Counter, defaultdict

from workload import ORDER

SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """One scrape of /metrics."""

    def __init__(self, text):
        self._samples = []
        for line in text.splitlines():
            match = SAMPLE.match(line)
            if match:
                self._samples.append((match[1], dict(LABEL.findall(match[2] or "")), float(match[3])))

    def total(self, name, **labels):
        """The sum of all samples of a name that have these labels."""
        return int(sum(
            value for sample, found, value in self._samples
            if sample == name and all(found.get(key) == wanted for key, wanted in labels.items())))

    def by(self, name, label):
        """The samples of a name, summed by one label; zeros are left out."""
        sums = Counter()
        for sample, found, value in self._samples:
            if sample == name and value:
                sums[found.get(label, "")] += int(value)
        return sums


class Record:
    """What the simulators wrote down, a line for each request that they answered."""

    def __init__(self, apns, fcm=None, adm=None, web_push=None, token_of_successor=None):
        self._token_of_successor = token_of_successor or {}
        # Tokens that were told their successor, and those whose successor was pushed to.
        self.replaced_tokens = set()
        self.pushed_successors = set()
        self.answers = Counter()
        # (token, dataset) -> sync counts in the order in which they were accepted.
        self.changes = defaultdict(list)
        # (token, serial) -> how often it was accepted.
        self.requests = Counter()
        # The same -> the collapse identifiers that were accepted: one that comes again replaces the first.
        self.collapses = defaultdict(list)
        self.duplicates = 0
        # Tokens that were told that they are dead.
        self.dead_tokens = set()
        # First request of each push, whatever the answer: (what it was, milliseconds since 1970).
        self.first_seen = {}
        self.times = []
        self.unreadable = 0
        records = ((apns, dict), (fcm, self._of_fcm), (adm, self._of_adm), (web_push, self._of_web_push))
        for path, form in records:
            if path is None:
                continue
            with open(path, encoding="utf-8") as file:
                for line in file:
                    self._add(form(json.loads(line)))
        self.times.sort()

    @staticmethod
    def _of_fcm(line):
        """The line as that of APNs: FCM says 404 of a token that is gone, and has the app's own data in its message."""
        message = (line["payload"] or {}).get("message", {})
        status = 410 if line["reason"] == "UNREGISTERED" else line["status"]
        shown = message.get("android", {}).get("notification", {})
        return {
            **line, "status": status, "token": message.get("token"), "payload": message.get("data"),
            "collapse_id": shown.get("tag"),
        }

    def _of_adm(self, line):
        """The line as that of APNs: ADM says 400 of a registration that is gone; a renewed one counts as the first."""
        status = 410 if line["reason"] == "Unregistered" else line["status"]
        if line["successor"]:
            self.replaced_tokens.add(line["token"])
        token = self._token_of_successor.get(line["token"])
        if token:
            self.pushed_successors.add(token)
        data = (line["payload"] or {}).get("data")
        return {**line, "status": status, "token": token or line["token"], "payload": data}

    @staticmethod
    def _of_web_push(line):
        """The line as that of APNs: accepted is 201, and the app's own data is below `data`."""
        status = 200 if line["status"] == 201 else line["status"]
        return {**line, "status": status, "payload": (line["payload"] or {}).get("data")}

    @property
    def accepted(self):
        return self.answers[200, None]

    def rate(self):
        """Pushes a second over the middle nine tenths of all answers."""
        if len(self.times) < 100:
            return 0.0
        first, last = len(self.times) // 20, len(self.times) * 19 // 20
        return (last - first) / max(0.001, (self.times[last] - self.times[first]) / 1_000)

    def _add(self, line):
        status, token, time = line["status"], line["token"], line["time_ms"]
        self.answers[status, line["reason"]] += 1
        self.times.append(time)
        if status == 410:
            self.dead_tokens.add(token)
        payload = line["payload"]
        if payload is None:
            self.unreadable += 1
            return
        data = payload.get("data") or {}
        serial = payload.get("serial") or payload.get("ck", {}).get("qry", {}).get("rid")
        if serial:
            key = (token, serial)
        else:
            # Amazon's clients read the sync count as a string.
            key = (token, data.get("identityId"), data.get("datasetName"), int(data.get("syncCount", 0)))
        self.first_seen.setdefault(key, time)
        if status != 200:
            return
        self.duplicates += line["duplicate"]
        if serial:
            self.requests[key] += 1
            self.collapses[key].append(line.get("collapse_id"))
        else:
            self.changes[token, key[2]].append(key[3])


    def shown_again(self, key):
        """How often a device shows a push beside the first, if it follows the rules of its service."""
        collapses = self.collapses[key]
        return max(0, len({collapse for collapse in collapses if collapse}) + collapses.count(None) - 1)


class Findings:
    """Checks with their numbers, for the table at the end."""

    def __init__(self):
        self.rows = []
        self.details = []

    @property
    def agrees(self):
        return all(row[3] is not False for row in self.rows)

    def equal(self, text, wanted, found):
        """A number that has to be another."""
        self.rows.append((text, str(wanted), str(found), wanted == found))

    def note(self, text, found):
        """A number that may be anything."""
        self.rows.append((text, "", str(found), None))

    def heading(self, text):
        self.rows.append((text, None, None, None))

    def detail(self, text, examples):
        """Up to three examples of what is wrong."""
        if examples:
            self.details.append(f"{text}: " + "; ".join(str(example) for example in list(examples)[:3]))

    def print(self):
        for text, wanted, found, is_right in self.rows:
            if wanted is None:
                print(f"\n  {text}")
                continue
            mark = {True: "ok", False: "WRONG", None: ""}[is_right]
            expectation = f"  (has to be {wanted})" if is_right is False else ""
            print(f"    {text:<58} {found:>9}  {mark}{expectation}")
        for detail in self.details:
            print(f"\n  {detail}")


def check_deliveries(findings, workload, record, is_whole):
    """What the simulator accepted against what was published and subscribed, without a word from the worker."""
    lost, stale, foreign, zombies = [], [], [], []
    for (token, dataset), sync_counts in workload.addressed.items():
        device = workload.device_by_token[token]
        accepted = record.changes.get((token, dataset), [])
        if device.fault == "dead":
            zombies += [device.identifier] if accepted else []
        elif max(accepted, default=0) < max(sync_counts):
            lost.append(f"{device.identifier} {dataset} {max(sync_counts)}, accepted {accepted}")
    for token, serial in workload.requested:
        device = workload.device_by_token[token]
        if device.fault == "dead":
            zombies += [device.identifier] if record.requests[token, serial] else []
        elif not record.requests[token, serial]:
            lost.append(f"{device.identifier} {serial}")
    for (token, dataset), accepted in record.changes.items():
        device = workload.device_by_token.get(token)
        known = workload.sync_counts.get((device.identity, dataset), set()) if device else set()
        if not device or (token, dataset) not in workload.addressed or not known.issuperset(accepted):
            foreign.append(f"{token[:8]} {dataset} {accepted}")
        if any(later < earlier for earlier, later in zip(accepted, accepted[1:])):
            stale.append(f"{device.identifier if device else token[:8]} {dataset} {accepted}")
    foreign += [f"{token[:8]} {serial}" for token, serial in record.requests if (token, serial) not in workload.requested]
    findings.heading("Deliveries: what the simulators accepted, against what was published and subscribed")
    findings.note("devices and datasets with a change by someone else", len(workload.addressed))
    findings.note("requested pushes, and pushes of the subscription to records", len(workload.requested))
    findings.note(
        f"records published, of which the subscription asks for {workload.songs_matching}", workload.songs_count)
    findings.equal("lost: the newest change or a requested push not accepted", 0, len(lost))
    findings.equal("accepted, but for nobody who subscribed", 0, len(foreign))
    findings.equal("accepted for a dead token", 0, len(zombies))
    if is_whole:
        findings.equal("an older sync count accepted after a newer one", 0, len(stale))
    else:
        # What a killed worker had sent is sent again, in the order of the queue.
        findings.note("an older sync count accepted after a newer one", len(stale))
    findings.note("duplicates (same apns-id accepted again)", record.duplicates)
    findings.detail("lost", lost)
    findings.detail("for nobody", foreign)
    findings.detail("dead", zombies)
    findings.detail("stale", stale if is_whole else [])


def check_outbox(findings, committed, record, left, refused):
    """Each row that the backend committed is a push, and no other is."""
    pushed = {key for key in record.requests if key[1].startswith(ORDER)}
    findings.heading("Outbox: rows that the backend committed, against what the simulators accepted")
    findings.equal("committed rows, pushes of different identity", len(committed), len(pushed))
    findings.equal("lost: committed, and not accepted", 0, len(committed - pushed))
    findings.equal("accepted, but rolled back", 0, len(pushed - committed))
    findings.equal("left in the outbox", 0, left)
    findings.equal("set aside by a relay", 0, refused)
    findings.note("accepted again", sum(record.requests[key] - 1 for key in pushed))
    findings.equal("  of these, shown again by a device", 0, sum(record.shown_again(key) for key in pushed))
    findings.detail("lost", sorted(committed - pushed))
    findings.detail("rolled back", sorted(pushed - committed))


def check_dead_letters(findings, workload, metrics, dead_letters, is_whole):
    """Every broken event, and nothing else, ended as a dead letter."""
    findings.heading("Dead letters")
    findings.equal("broken events in the dead-letter queue", workload.broken_count, len(set(dead_letters)))
    if not is_whole:
        # One that was requeued just before the worker was killed is requeued again.
        findings.note("messages there", len(dead_letters))
    else:
        findings.equal("messages there", workload.broken_count, len(dead_letters))
        findings.equal(
            "counted by the worker", workload.broken_count, metrics.total("apus_dead_letters_total"))
    for reason, count in sorted(metrics.by("apus_dead_letters_total", "reason").items()):
        findings.note(f"  {reason}", count)


def check_worker(findings, workload, metrics, record, is_whole):
    """The worker's own ledger: it has to balance, and to agree with the simulator if one worker did it all."""
    matched = metrics.total("apus_pushes_matched_total")
    in_flight = metrics.total("apus_pushes_in_flight")
    outcomes = metrics.by("apus_pushes_total", "outcome")
    findings.heading("The worker's ledger" + ("" if is_whole else " (since its restart)"))
    findings.note("matched", matched)
    for outcome in ("accepted", "token_dead", "expired", "coalesced", "requeued_retry", "requeued_dead_letter"):
        findings.note("  " + outcome.replace("_", " "), outcomes[outcome])
    findings.note("  in flight", in_flight)
    findings.equal("matched less all of these: lost", 0, matched - sum(outcomes.values()) - in_flight)
    findings.equal("in flight at the end", 0, in_flight)
    if not is_whole:
        return
    findings.heading("The worker's ledger against the simulators' records")
    answers = Counter()
    for (status, _), count in record.answers.items():
        answers[status] += count
    findings.equal("accepted by the worker's count, 200 by the simulators'", answers[200], outcomes["accepted"])
    findings.equal("token dead by the worker's count, 410 by the simulators'", answers[410], outcomes["token_dead"])
    findings.equal(
        "requeued for a retry, 429 500 503 by the simulators'",
        answers[429] + answers[500] + answers[503], outcomes["requeued_retry"])
    refused = sum(count for status, count in answers.items() if status not in (200, 410, 429, 500, 503))
    findings.equal("any other answer of the simulators", 0, refused)


def check_renewals(findings, workload, record, registered_tokens):
    """A device whose answer had another registration ID has that one in the registry, and gets its pushes there."""
    renewed = {kindle.token: kindle for kindle in workload.kindles if kindle.successor}
    answered = [renewed[token] for token in record.replaced_tokens if token in renewed]
    found = [kindle for kindle in answered if registered_tokens.get(kindle.identifier) == kindle.successor]
    findings.heading("Registrations that Amazon renewed")
    findings.equal("answered with another registration ID, registry has it", len(answered), len(found))
    findings.note("  of these, pushed to under the new one", len(record.pushed_successors))
    findings.detail("not renewed", [kindle.identifier for kindle in answered if kindle not in found])


def check_outcomes(findings, metrics, messages, is_whole):
    """What the backend was told, against the worker's ledger."""
    told = Counter()
    for message in messages:
        told[message["outcome"]] += len(message["pushes"])
    findings.heading("Outcomes: what the backend was told" + (", against the worker's ledger" if is_whole else ""))
    findings.note("messages", len(messages))
    outcomes = metrics.by("apus_pushes_total", "outcome")
    # The worker counts a rejected push as one with a dead token.
    told["token-dead"] += told.pop("rejected", 0)
    names = {
        "accepted": "accepted", "token-dead": "token_dead", "expired": "expired", "coalesced": "coalesced",
        "retrying": "requeued_retry", "dead-lettered": "requeued_dead_letter",
    }
    for name, counted in names.items():
        if is_whole:
            findings.equal(f"  {name}", outcomes[counted], told[name])
        else:
            findings.note(f"  {name}", told[name])
    findings.equal("dropped by the worker", 0, metrics.total("apus_outcomes_dropped_total"))


def check_campaigns(findings, campaigns, messages):
    """What the registry counted by campaign, against what the backend was told: each end of a push once."""
    ends = {
        ("token-dead" if message["outcome"] == "rejected" else message["outcome"], message["event"]["source"],
         message["event"]["id"], push["deviceId"], push.get("subscriptionId"))
        for message in messages if message["outcome"] != "unmatched" for push in message["pushes"]
    }
    told = Counter(outcome for outcome, *_ in ends)
    findings.heading("Campaigns: what the registry counted, against the outcomes")
    findings.note("campaigns", len(campaigns))
    findings.equal("  matched", len({end[1:] for end in ends}), sum(campaign["matched"] for campaign in campaigns))
    names = {
        "accepted": "accepted", "token-dead": "tokenDead", "expired": "expired", "coalesced": "coalesced",
        "dead-lettered": "deadLettered",
    }
    for outcome, member in names.items():
        findings.equal(f"  {outcome}", told[outcome], sum(campaign[member] for campaign in campaigns))
