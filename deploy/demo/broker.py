"""A RabbitMQ node of the demo's own: data, ports, name, cookie and port mapper are private."""

import json
import os
import secrets
import socket

import pika

from processes import DemoFailure, Process, free_ports, wait_until

OUTCOMES = "apus.outcomes.demo"
PROGRAM = os.path.join(os.environ.get("APUS_RABBITMQ_PROGRAMS", "/usr/lib/rabbitmq/bin"), "rabbitmq-server")


class Broker:
    """Starts the node, and tells how many messages its queues hold."""

    def __init__(self, folder, plugins=(), configuration="", with_management=False):
        if not os.access(PROGRAM, os.X_OK):
            raise DemoFailure(f"{PROGRAM} is missing: run deploy/bin/install-packages demo")
        self._folder = os.path.join(folder, "rabbitmq")
        self.port, self._management_port, distribution, mapper = free_ports(4)
        self._has_management = with_management
        for name in ("home", "data", "log", "conf.d", "generated"):
            os.makedirs(os.path.join(self._folder, name), mode=0o700)
        self._plugins = [*plugins, *(["rabbitmq_management"] if with_management else [])]
        self._environment = self._make_environment(distribution, mapper)
        self._mapper = Process(
            "epmd", ["epmd", "-port", str(mapper), "-address", "127.0.0.1"], self._folder, self._environment)
        self.node = None
        self.start(configuration)

    def start(self, configuration=""):
        """Starts the node with more lines of its configuration, at first and after `kill`."""
        self._write_files(configuration)
        # The start script replaces itself with the Erlang machine, so that the pid is the node's.
        self.node = Process("node", [PROGRAM], self._folder, self._environment)

    @property
    def url(self):
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    @property
    def management_url(self):
        """The address of the management API, if the node was started with it."""
        return f"http://127.0.0.1:{self._management_port}"

    def wait(self):
        """Waits until the node accepts connections."""
        wait_until(self._accepts, 90, self.node, "accepting connections")

    def connect(self):
        """A new connection of the client library."""
        return pika.BlockingConnection(pika.URLParameters(self.url + "?heartbeat=60"))

    def depths(self, queues):
        """The messages that wait in each queue; those that a consumer holds are not counted."""
        connection = self.connect()
        try:
            channel = connection.channel()
            return {name: channel.queue_declare(name, passive=True).method.message_count for name in queues}
        finally:
            connection.close()

    def message_ids(self, queue):
        """The message ids in a queue, one for each message; the messages stay there."""
        connection = self.connect()
        try:
            channel = connection.channel()
            identifiers = []
            while True:
                method, properties, _ = channel.basic_get(queue)
                if method is None:
                    return identifiers
                identifiers.append(properties.message_id)
        finally:
            connection.close()

    def bind_outcomes(self):
        """Makes the queue of a backend that wants to hear of everything."""
        connection = self.connect()
        try:
            channel = connection.channel()
            channel.queue_declare(OUTCOMES, durable=True, arguments={"x-queue-type": "quorum"})
            channel.queue_bind(OUTCOMES, "apus.outcomes", "#")
        finally:
            connection.close()

    def take_outcomes(self):
        """The bodies of all outcomes, which are taken away."""
        connection = self.connect()
        try:
            channel = connection.channel()
            channel.basic_qos(prefetch_count=1_000)
            bodies = []
            for method, _, body in channel.consume(OUTCOMES, inactivity_timeout=1):
                if method is None:
                    return bodies
                bodies.append(json.loads(body))
                channel.basic_ack(method.delivery_tag)
            return bodies
        finally:
            connection.close()

    def kill(self):
        """Ends the node at once; its data stays."""
        self.node.kill()
        os.unlink(self.node.log_path)

    def stop(self):
        """Ends the node and its port mapper."""
        # Its data is thrown away, so there is nothing that an orderly end would save.
        self.node.kill()
        self._mapper.kill()

    def _accepts(self):
        if "completed with" not in self.node.log():
            return False
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _write_files(self, configuration):
        listener = f"listeners.tcp.default = 127.0.0.1:{self.port}\ndisk_free_limit.absolute = 10MB\n"
        if self._has_management:
            listener += f"management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {self._management_port}\n"
        self._write("rabbitmq.conf", listener + configuration, 0o600)
        self._write("enabled_plugins", f"[{','.join(self._plugins)}].\n", 0o600)

    def _write(self, name, text, mode):
        path = os.path.join(self._folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, mode)

    def _make_environment(self, distribution, mapper):
        folder = self._folder
        self._write("home/.erlang.cookie", secrets.token_hex(16), 0o400)
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            "HOME": f"{folder}/home",
            "detached": "true",
            "ERL_EPMD_PORT": str(mapper),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"apus-demo-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq.conf",
            "RABBITMQ_CONFIG_FILES": f"{folder}/conf.d",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{folder}/advanced.config",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/rabbitmq-env.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/enabled_plugins",
            "RABBITMQ_GENERATED_CONFIG_DIR": f"{folder}/generated",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
        }
