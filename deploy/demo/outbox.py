"""A backend with a database of its own, which asks for pushes inside its transactions, and the relays of its outbox."""

import math
import os

from database import Database
from processes import DemoFailure, Process, run
from workload import APP, CUSTOMER, ORDER

CLIENTS = 8
# How many of ten transactions ask by the user, how many by the device, and how many are rolled back.
BY_USER, BY_DEVICE, ROLLED_BACK = 4, 4, 2

TABLES = f"""
CREATE ROLE apus_relay LOGIN;
CREATE ROLE shop LOGIN;
CREATE TABLE customer (number bigint PRIMARY KEY, device text NOT NULL, order_count bigint NOT NULL DEFAULT 0);
CREATE TABLE orders (number bigserial PRIMARY KEY, customer bigint NOT NULL REFERENCES customer);
CREATE FUNCTION notification(number bigint) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('title', 'On its way', 'body', 'Order ' || number,
        'data', jsonb_build_object('serial', '{ORDER}' || number))
$$;
GRANT SELECT, UPDATE ON customer TO shop;
GRANT SELECT, INSERT ON orders TO shop;
GRANT USAGE ON SEQUENCE orders_number_seq TO shop;
"""

# Who writes for a customer locks its row, so that the customer's events have the order of the commits.
TRANSACTION = """\
\\set customer random(1, {customers})
BEGIN;
UPDATE customer SET order_count = order_count + 1 WHERE number = :customer;
WITH ordered AS (INSERT INTO orders (customer) VALUES (:customer) RETURNING number) {push};
{end};
"""
PUSH_TO_USER = f"""
SELECT apus_outbox.push('{APP}', ARRAY['{CUSTOMER}' || :customer], notification(number)) FROM ordered"""
PUSH_TO_DEVICE = f"""
SELECT apus_outbox.publish('push.requested', jsonb_build_object('app', '{APP}', 'deviceIds', jsonb_build_array(device),
    'notification', notification(o.number)), key => 'customer ' || c.number, id => '{ORDER}' || o.number)
FROM ordered o, customer c WHERE c.number = :customer"""


class Outbox:
    """The backend's database, its transactions by pgbench, and the relays."""

    def __init__(self, folder, command, customers, order_count, rate, relay_count):
        self._folder = folder
        self._command = command
        self._customers = customers
        self.order_count = order_count
        self._rate = rate
        self.database = Database("apus-demo-postgresql-")
        self.relays = [None] * relay_count
        self._relays_started = 0
        self._load = None
        self._loads_started = 0
        self._may_abort = False
        self._is_over = False

    def prepare(self):
        """Makes the tables, and the outbox with the rights of its roles."""
        self.database.query(TABLES)
        self.database.query(run(
            [self._command, "relay", "sql", "--relay-role", "apus_relay", "--publisher-role", "shop"], self._folder))
        rows = ", ".join(
            f"({number}, '{device.identifier}')" for number, device in enumerate(self._customers, 1))
        self.database.query(f"INSERT INTO customer VALUES {rows}")

    # The relays

    def start_relay(self, index):
        """Starts a relay, or another one after its end."""
        self._relays_started += 1
        self.relays[index] = Process(
            f"relay-{self._relays_started}",
            [self._command, "relay", "--config", os.path.join(self._folder, "apus.toml")], self._folder)

    def start_relays(self):
        for index in range(len(self.relays)):
            self.start_relay(index)

    def stop_relays(self, seconds):
        """Has them end in order; fails if one does not."""
        for relay in self.relays:
            status = relay.stop(seconds)
            if status != 0:
                raise DemoFailure(f"{relay.name} ended with status {status} instead of 0\n{relay.log_tail()}")

    # The load

    def load(self):
        """Keeps transactions coming until enough orders are committed; tells whether they are."""
        if self._is_over or self._load and self._load.is_running:
            return self._is_over
        if self._load and self._load.status != 0 and not self._may_abort:
            raise DemoFailure(f"pgbench ended with status {self._load.status}\n{self._load.log_tail()}")
        self._may_abort = False
        left = self.order_count - self.committed_count()
        if left <= 0:
            self._is_over = True
            return True
        self._loads_started += 1
        share = (BY_USER + BY_DEVICE) / (BY_USER + BY_DEVICE + ROLLED_BACK)
        clients = min(CLIENTS, left)
        self._load = Process(
            f"pgbench-{self._loads_started}",
            [*self.database.program("pgbench", "shop"), "--no-vacuum", f"--client={clients}",
             f"--transactions={math.ceil(left / share / clients)}", f"--rate={self._rate}",
             *self._script("user", PUSH_TO_USER, "COMMIT", BY_USER),
             *self._script("device", PUSH_TO_DEVICE, "COMMIT", BY_DEVICE),
             *self._script("rolled-back", PUSH_TO_USER, "ROLLBACK", ROLLED_BACK), "postgres"], self._folder)
        return False

    def kill_database(self):
        """SIGKILL to PostgreSQL; the transactions that it ends are not repeated."""
        self._may_abort = True
        self.database.kill()

    def _script(self, name, push, end, weight):
        path = os.path.join(self._folder, f"{name}.sql")
        with open(path, "w", encoding="ascii") as file:
            file.write(TRANSACTION.format(customers=len(self._customers), push=push, end=end))
        return ["--file", f"{path}@{weight}"]

    # What it holds

    def committed_count(self):
        return self._count("orders")

    def left_count(self):
        return self._count("apus_outbox.event")

    def refused_count(self):
        return self._count("apus_outbox.refused")

    def committed(self):
        """The pushes that have to arrive: the device's token and the order."""
        rows = self.database.query("SELECT number, customer FROM orders")
        return {
            (self._customers[int(customer) - 1].token, ORDER + number)
            for number, customer in (row.split("|") for row in rows)
        }

    def close(self):
        """Ends whatever still runs."""
        for process in [self._load, *self.relays]:
            if process:
                process.kill()
        self.database.close()

    def _count(self, table):
        return int(self.database.query(f"SELECT count(*) FROM {table}")[0])
