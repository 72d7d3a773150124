"""A real fault for each alert, in an order in which none hides the next."""

import os
import signal
import time
import urllib.request
from contextlib import contextmanager

from processes import free_ports
from prometheus import Forger
from stage import publish


@contextmanager
def no_targets(stage, prometheus):
    """Prometheus forgets its targets."""
    prometheus.watch([])
    yield
    prometheus.watch([stage.admin_port, stage.api_admin_port])


@contextmanager
def stopped_api(stage, _):
    """The registry's API stands still."""
    os.kill(stage.api.pid, signal.SIGSTOP)
    yield
    os.kill(stage.api.pid, signal.SIGCONT)


@contextmanager
def forged_ledger(stage, prometheus):
    """A worker's metrics with three pushes unaccounted for: the defect itself cannot be provoked."""
    forger = Forger(
        stage.admin_port, "# HELP apus_push_duration_seconds ",
        '# TYPE apus_pushes_unaccounted gauge\napus_pushes_unaccounted{app="chat",service="apns"} 3\n\\g<0>')
    prometheus.watch([stage.admin_port, stage.api_admin_port, forger.port])
    yield
    prometheus.watch([stage.admin_port, stage.api_admin_port])
    forger.close()


@contextmanager
def missing_registry(stage, _):
    """The registry's file is away."""
    os.rename(stage.path("registry.db"), stage.path("registry.away"))
    yield
    os.rename(stage.path("registry.away"), stage.path("registry.db"))


@contextmanager
def late_backlog(stage, prometheus):
    """The registry's file is away for 14 s; when it is back, the waiting events are late."""
    with missing_registry(stage, prometheus):
        time.sleep(14)
    yield


@contextmanager
def wrong_event(stage, _):
    """A backend publishes what is no JSON."""
    connection = stage.broker.connect()
    publish(connection.channel(), "Are you there?")
    connection.close()
    yield


@contextmanager
def few_streams(stage, _):
    """APNs answers slowly, and one connection with 20 streams is all that the app may have."""
    stage.simulators["mail"].inject(fault="delay", ms=500)
    stage.load.mail_rate = 60
    yield
    stage.load.mail_rate = 10
    stage.simulators["mail"].inject(clear=True)


def answers(app, status, reason, probability=1):
    """The simulator of an app answers everything, or a part of it, in this way."""
    @contextmanager
    def fault(stage, _):
        stage.simulators[app].inject(fault="answer", status=status, reason=reason, probability=probability)
        yield
        stage.simulators[app].inject(clear=True)
    return fault


def misbehaves(app, rate=10, **faults):
    """The simulator of an app does something else than answer in this way, under such a load of `mail`."""
    @contextmanager
    def fault(stage, _):
        stage.load.mail_rate = rate
        stage.simulators[app].inject(**faults)
        yield
        stage.simulators[app].inject(clear=True)
        stage.load.mail_rate = 10
    return fault


def deleted_queues(names, throttling=False):
    """Somebody deletes queues of Apus; afterwards `apus topology apply` makes them anew."""
    @contextmanager
    def fault(stage, prometheus):
        connection = stage.broker.connect()
        channel = connection.channel()
        for name in names:
            channel.queue_delete(name)
        connection.close()
        if throttling:
            with answers("chat", 429, "TooManyRequests", 0.2)(stage, prometheus):
                yield
        else:
            yield
        stage.apus("topology", "apply")
    return fault


@contextmanager
def deleted_exchange(stage, _):
    """Somebody deletes the exchange for outcomes; afterwards `apus topology apply` makes it anew."""
    connection = stage.broker.connect()
    connection.channel().exchange_delete("apus.outcomes")
    connection.close()
    yield
    stage.apus("topology", "apply")


@contextmanager
def deaf_backend(stage, prometheus):
    """A backend refuses the connections of `apus webhooks`."""
    (port,) = free_ports(1)
    webhooks = stage.start_webhooks(port)
    prometheus.watch([stage.admin_port, stage.api_admin_port, port])
    yield
    prometheus.watch([stage.admin_port, stage.api_admin_port])
    webhooks.kill()


@contextmanager
def relay_without_broker(stage, prometheus):
    """A relay does not reach RabbitMQ, and a row has waited for five minutes."""
    (port,) = free_ports(1)
    relay = stage.start_relay(port, "rabbitmq.url=amqp://127.0.0.1:1/")
    stage.write_rows("SELECT apus_outbox.push('chat', ARRAY['nobody'], '{\"title\": \"Late\"}'); "
                     "UPDATE apus_outbox.event SET added = now() - interval '5 minutes'")
    prometheus.watch([stage.admin_port, stage.api_admin_port, port])
    yield
    prometheus.watch([stage.admin_port, stage.api_admin_port])
    relay.kill()


@contextmanager
def wrong_row(stage, prometheus):
    """A backend writes a row that makes no event."""
    (port,) = free_ports(1)
    relay = stage.start_relay(port)
    prometheus.watch([stage.admin_port, stage.api_admin_port, port])
    stage.write_rows("SELECT apus_outbox.publish('push.requested', '{\"app\": 7}')")
    yield
    prometheus.watch([stage.admin_port, stage.api_admin_port])
    relay.kill()


@contextmanager
def wrong_configuration(stage, _):
    """The configuration has a mistake when the worker reloads it."""
    stage.configure(more="[no-such-section]\nkey = 1\n")
    stage.hang_up()
    yield
    stage.configure()
    stage.hang_up()


@contextmanager
def lossy_policy(stage, _):
    """A policy lets RabbitMQ drop events; the worker looks at its start."""
    policy = b'{"pattern": "^apus.work$", "definition": {"overflow": "drop-head", "max-length": 100000}}'
    management(stage, "PUT", policy)
    deadline = time.monotonic() + 30
    # RabbitMQ tells its API of a policy only every five seconds.
    while b"lossy" not in management(stage, "GET", path="queues/%2F/apus.work") and time.monotonic() < deadline:
        time.sleep(0.5)
    stage.restart_worker()
    yield
    management(stage, "DELETE")


def management(stage, method, body=None, path="policies/%2F/lossy"):
    """Asks RabbitMQ's management API."""
    request = urllib.request.Request(
        f"{stage.broker.management_url}/api/{path}", method=method, data=body,
        headers={"Authorization": "Basic Z3Vlc3Q6Z3Vlc3Q=", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


@contextmanager
def no_apns_for_mail(stage, _):
    """APNs is gone for one app."""
    stage.simulators["mail"].process.kill()
    yield


@contextmanager
def no_apns(stage, _):
    """APNs is gone for all apps."""
    for simulator in stage.simulators.values():
        simulator.process.kill()
    yield


@contextmanager
def paused_app(stage, _):
    """An operator pauses an app."""
    stage.apus("pause", "chat", "--reason", "trying the alert")
    yield
    stage.apus("resume", "chat")


RETRY_QUEUES = ("apus.retry.1s", "apus.retry.3s", "apus.retry.10s")
# The alerts, the labels that they must have, and the fault.
FAULTS = [
    (("ApusAbsent",), {}, no_targets),
    (("ApusDown",), {}, stopped_api),
    (("ApusLedgerImbalance",), {"app": "chat"}, forged_ledger),
    (("ApusDeadLettersGrowing",), {}, wrong_event),
    (("ApusRegistryFailing",), {"check": "registry"}, missing_registry),
    (("ApusFreshnessBurnsFast", "ApusFreshnessBurnsSlowly", "ApusFreshnessErodes"), {}, late_backlog),
    (("ApusPoolExhausted",), {"app": "mail"}, few_streams),
    (("ApusAppSlow",), {"app": "mail"}, misbehaves("mail", rate=60, fault="delay", ms=8000)),
    (("ApusServiceSilent",), {"app": "mail"}, misbehaves("mail", fault="silence")),
    (("ApusPushesRetried",), {"app": "mail"}, answers("mail", 429, "TooManyRequests")),
    # The devices registered again since then, so none is removed.
    (("ApusTokensDying",), {"app": "mail"}, misbehaves(
        "mail", fault="answer", status=410, reason="Unregistered", timestamp=1_000, probability=0.5)),
    (("ApusRegistryAPIErrors",), {}, missing_registry),
    (("ApusKeyRefused",), {"app": "mail"}, answers("mail", 403, "InvalidProviderToken")),
    (("ApusAppPaused",), {"app": "chat"}, paused_app),
    (("ApusTokensInDoubt",), {"app": "chat"}, answers("chat", 400, "BadDeviceToken")),
    (("ApusCannotRequeue",), {"check": "requeuing"}, deleted_queues(RETRY_QUEUES, throttling=True)),
    (("ApusNotConsuming",), {"check": "source"}, deleted_queues(("apus.work",))),
    (("ApusReloadFailed",), {}, wrong_configuration),
    (("ApusOutcomesDropped",), {}, deleted_exchange),
    (("ApusWebhookFailing",), {"app": "mail"}, deaf_backend),
    (("ApusRelayBlocked", "ApusRelayLagging"), {}, relay_without_broker),
    (("ApusRelayRowsRefused",), {}, wrong_row),
    (("ApusPolicyConflict",), {}, lossy_policy),
    (("ApusAppUnreachable",), {"app": "mail"}, no_apns_for_mail),
    (("ApusConsumerPaused",), {}, no_apns),
]
