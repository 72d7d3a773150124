extension Schema {
    /// The tables of a registry.
    static let tables = [
        names, devices, memberships, subscriptions, fanOuts, courier, deadLetters, access, views,
    ]
    .joined(separator: "\n")

    /// Names that repeat (apps, pools, identities, dataset names) are rows of their own, so that the tables which grow
    /// with the devices hold small numbers.
    private static let names = """
        CREATE TABLE platform (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        INSERT INTO platform (id, name) VALUES (0, 'APNS'), (1, 'APNS_SANDBOX'), (2, 'GCM'), (3, 'WEB');
        CREATE TABLE app (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE identity_pool (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE identity (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE dataset_name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        INSERT INTO dataset_name (id, name) VALUES (0, '*');
        """

    /// Devices, and the tokens that they have beside their alert tokens.
    ///
    /// - `joined` is the number of the newest fan-out when a device came to its identity, user and app, or to its
    ///   dataset or topic; a fan-out serves those whose `joined` is smaller than its own number.
    /// - `asked_at` tells, to the day, when a client that fetches its notifications last asked.
    /// - `app` of a token is the device's, so that an index can tell whose a token is.
    private static let devices = """
        CREATE TABLE device (
            id INTEGER PRIMARY KEY,
            device_id TEXT NOT NULL UNIQUE,
            platform INTEGER NOT NULL REFERENCES platform,
            token BLOB NOT NULL CHECK (length(token) BETWEEN 1 AND 256),
            app INTEGER NOT NULL REFERENCES app,
            identity_pool INTEGER REFERENCES identity_pool,
            identity INTEGER REFERENCES identity,
            user_id TEXT,
            registered_at INTEGER NOT NULL,
            badge INTEGER NOT NULL DEFAULT 0,
            badge_events BLOB NOT NULL DEFAULT x'',
            joined INTEGER NOT NULL DEFAULT 0,
            asked_at INTEGER NOT NULL DEFAULT 0,
            CHECK ((identity IS NULL) = (identity_pool IS NULL))
        );
        CREATE UNIQUE INDEX device_by_token ON device (token, app);
        CREATE INDEX device_by_identity ON device (identity, app) WHERE identity IS NOT NULL;
        CREATE INDEX device_by_user ON device (user_id, app) WHERE user_id IS NOT NULL;

        CREATE TABLE device_token (
            device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
            kind TEXT NOT NULL,
            token BLOB NOT NULL CHECK (length(token) BETWEEN 1 AND 256),
            app INTEGER NOT NULL REFERENCES app,
            registered_at INTEGER NOT NULL,
            PRIMARY KEY (device, kind)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX device_token_by_token ON device_token (token, app, kind);
        CREATE INDEX device_token_by_kind ON device_token (app, kind);
        """

    /// The subscriptions of devices and users; `dataset_subscription` is ordered as the look-up of an event reads it.
    private static let memberships = """
        CREATE TABLE dataset (
            identity INTEGER NOT NULL REFERENCES identity,
            identity_pool INTEGER NOT NULL REFERENCES identity_pool,
            dataset_name INTEGER NOT NULL REFERENCES dataset_name,
            PRIMARY KEY (identity, identity_pool, dataset_name)
        ) WITHOUT ROWID;

        CREATE TABLE dataset_subscription (
            identity INTEGER NOT NULL REFERENCES identity,
            dataset_name INTEGER NOT NULL REFERENCES dataset_name,
            device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
            joined INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (identity, dataset_name, device)
        ) WITHOUT ROWID;
        CREATE INDEX dataset_subscription_by_device ON dataset_subscription (device);

        CREATE TABLE topic (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            app INTEGER NOT NULL REFERENCES app,
            UNIQUE (name, app)
        );
        CREATE TABLE topic_subscription (
            topic INTEGER NOT NULL REFERENCES topic,
            device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
            source INTEGER NOT NULL DEFAULT 1,
            joined INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (topic, device)
        ) WITHOUT ROWID;
        CREATE INDEX topic_subscription_by_device ON topic_subscription (device);
        CREATE TABLE topic_user (
            user_id TEXT NOT NULL,
            topic INTEGER NOT NULL REFERENCES topic,
            PRIMARY KEY (user_id, topic)
        ) WITHOUT ROWID;
        CREATE INDEX topic_user_by_topic ON topic_user (topic);
        """

    /// Subscriptions to records: one row says everything, so that saving and following them touch one table.
    ///
    /// - A row's number is never used again (`AUTOINCREMENT`), because workers name subscriptions by it.
    /// - `cloudkit_json`, the dictionary of clients of CloudKit Web Services, is the last column, so SQLite does not
    ///   read it for a query without it.
    /// - Triggers write each change of a subscription to `subscription_log`, also when a device takes its subscriptions
    ///   along. Workers follow this log. It keeps the last million entries; a worker further behind reads all
    ///   subscriptions again.
    /// - `app_usage` is what each app keeps, so that its quota is looked up and not counted. Saving adds to it, once
    ///   for all of a transaction. The trigger takes away, because a subscription ends in many ways.
    private static let subscriptions = """
        CREATE TABLE subscription (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            app INTEGER NOT NULL REFERENCES app,
            user_id TEXT,
            device INTEGER REFERENCES device ON DELETE CASCADE,
            subscription_id TEXT NOT NULL,
            kind INTEGER NOT NULL,
            database INTEGER NOT NULL,
            zone TEXT,
            record_type TEXT,
            predicate BLOB NOT NULL,
            fires_on INTEGER NOT NULL,
            fires_once INTEGER NOT NULL,
            notification TEXT NOT NULL,
            is_silent INTEGER NOT NULL,
            saved_at INTEGER NOT NULL,
            fired_event BLOB,
            fired_at INTEGER,
            cloudkit_json TEXT,
            CHECK ((user_id IS NULL) <> (device IS NULL))
        );
        CREATE UNIQUE INDEX subscription_of_user ON subscription (user_id, app, subscription_id)
            WHERE user_id IS NOT NULL;
        CREATE UNIQUE INDEX subscription_of_device ON subscription (device, subscription_id) WHERE device IS NOT NULL;
        CREATE INDEX subscription_by_type ON subscription (app, record_type, fired_event) WHERE fired_event IS NULL;
        CREATE INDEX subscription_fired ON subscription (fired_event) WHERE fired_event IS NOT NULL;

        CREATE TABLE subscription_log (id INTEGER PRIMARY KEY AUTOINCREMENT, subscription INTEGER NOT NULL);
        CREATE TRIGGER subscription_inserted AFTER INSERT ON subscription BEGIN
            INSERT INTO subscription_log (subscription) VALUES (new.id);
        END;
        CREATE TRIGGER subscription_updated AFTER UPDATE ON subscription BEGIN
            INSERT INTO subscription_log (subscription) VALUES (new.id);
        END;
        CREATE TRIGGER subscription_deleted AFTER DELETE ON subscription BEGIN
            INSERT INTO subscription_log (subscription) VALUES (old.id);
        END;
        CREATE TRIGGER subscription_log_trimmed AFTER INSERT ON subscription_log BEGIN
            DELETE FROM subscription_log WHERE id <= new.id - 1000000;
        END;

        CREATE TABLE app_usage (
            app INTEGER PRIMARY KEY REFERENCES app,
            subscriptions INTEGER NOT NULL,
            bytes INTEGER NOT NULL
        );
        CREATE TRIGGER subscription_given_back AFTER DELETE ON subscription BEGIN
            UPDATE app_usage SET subscriptions = subscriptions - 1, bytes = bytes - (\(subscriptionBytes("old")))
            WHERE app = old.app;
        END;
        """

    /// Large fan-outs, whose numbers are never used again (`AUTOINCREMENT`); a chunk is a row from when it is planned
    /// until its fan-out is done.
    private static let fanOuts = """
        CREATE TABLE fan_out (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            event BLOB NOT NULL UNIQUE,
            event_source TEXT NOT NULL,
            event_id TEXT NOT NULL,
            event_type TEXT NOT NULL,
            app TEXT,
            state TEXT NOT NULL,
            newest_subscription INTEGER NOT NULL,
            position INTEGER,
            position_subscription INTEGER,
            is_whole INTEGER NOT NULL DEFAULT 0,
            chunks_planned INTEGER NOT NULL DEFAULT 0,
            chunks_published INTEGER NOT NULL DEFAULT 0,
            chunks_served INTEGER NOT NULL DEFAULT 0,
            chunks_cancelled INTEGER NOT NULL DEFAULT 0,
            devices_planned INTEGER NOT NULL DEFAULT 0,
            planner INTEGER NOT NULL,
            planner_until INTEGER NOT NULL,
            begun_at INTEGER NOT NULL,
            changed_at INTEGER NOT NULL
        );
        CREATE INDEX fan_out_by_change ON fan_out (changed_at);
        CREATE TABLE fan_out_chunk (
            fan_out INTEGER NOT NULL REFERENCES fan_out ON DELETE CASCADE,
            number INTEGER NOT NULL,
            after_position INTEGER,
            after_subscription INTEGER,
            through_position INTEGER,
            through_subscription INTEGER,
            subscriptions BLOB,
            devices INTEGER NOT NULL,
            is_ended INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (fan_out, number)
        ) WITHOUT ROWID;
        """

    /// The notifications that clients fetch, which wait in the order of their rows, and the key by which the servers
    /// recognise what they handed out: one row, from when it is first asked for.
    private static let courier = """
        CREATE TABLE courier_message (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            device INTEGER NOT NULL REFERENCES device ON DELETE CASCADE,
            push BLOB NOT NULL,
            collapse_id TEXT,
            expires_at INTEGER NOT NULL,
            payload BLOB NOT NULL,
            UNIQUE (device, push)
        );
        CREATE INDEX courier_message_by_device ON courier_message (device);
        CREATE INDEX courier_message_by_expiry ON courier_message (expires_at);
        CREATE TABLE courier_key (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            bytes BLOB NOT NULL CHECK (length(bytes) = 32)
        );
        """

    /// Dead letters that were collected.
    ///
    /// Numbers are never used again (`AUTOINCREMENT`): they are the order of the letters. Properties and headers are in
    /// `envelope` as JSON. The body comes last, so that a listing does not read it.
    private static let deadLetters = """
        CREATE TABLE dead_letter (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            reason TEXT NOT NULL,
            detail TEXT,
            app TEXT,
            event_source TEXT,
            event_id TEXT,
            event_type TEXT,
            attempts INTEGER,
            first_seen_at INTEGER,
            dead_lettered_at INTEGER NOT NULL,
            body_bytes INTEGER NOT NULL,
            envelope TEXT NOT NULL,
            body BLOB NOT NULL
        );
        CREATE INDEX dead_letter_by_reason ON dead_letter (reason, app, dead_lettered_at);
        CREATE INDEX dead_letter_by_event ON dead_letter (event_id) WHERE event_id IS NOT NULL;
        """

    /// The tokens of the API, and its configurations of identity pools.
    private static let access = """
        CREATE TABLE api_token (
            name TEXT PRIMARY KEY,
            digest BLOB NOT NULL,
            app TEXT,
            permission TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE pool_configuration (identity_pool TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
        """

    /// The newest report of each process, and what operators did; numbers are never used again (`AUTOINCREMENT`).
    static let operations = """
        CREATE TABLE worker_report (
            id TEXT PRIMARY KEY,
            reported_at INTEGER NOT NULL,
            content BLOB NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE audit_entry (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            user_name TEXT NOT NULL,
            user_role TEXT NOT NULL,
            address TEXT NOT NULL,
            process TEXT NOT NULL,
            action TEXT NOT NULL,
            target TEXT NOT NULL,
            selected INTEGER NOT NULL,
            state TEXT NOT NULL,
            done INTEGER NOT NULL,
            refused INTEGER NOT NULL,
            detail TEXT,
            changed_at INTEGER NOT NULL
        );
        CREATE TABLE pause (
            app TEXT PRIMARY KEY,
            reason TEXT NOT NULL,
            user_name TEXT NOT NULL,
            at INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// The view of devices before the migration 3.
    static let registeredDeviceBefore = """
        CREATE VIEW registered_device AS
            SELECT d.device_id, p.name AS platform, hex(d.token) AS token, a.name AS app, o.name AS identity_pool,
                n.name AS identity, d.user_id, datetime(d.registered_at / 1000, 'unixepoch') AS registered_at
            FROM device d
            JOIN platform p ON p.id = d.platform
            JOIN app a ON a.id = d.app
            LEFT JOIN identity_pool o ON o.id = d.identity_pool
            LEFT JOIN identity n ON n.id = d.identity;
        """

    /// Views with names in place of numbers, for people who open the file with sqlite3.
    private static let views = """
        \(registeredDeviceBefore)
        CREATE VIEW subscribed_dataset AS
            SELECT d.device_id, n.name AS identity, s.name AS dataset
            FROM dataset_subscription u
            JOIN device d ON d.id = u.device
            JOIN identity n ON n.id = u.identity
            JOIN dataset_name s ON s.id = u.dataset_name;
        CREATE VIEW subscribed_topic AS
            SELECT d.device_id, a.name AS app, t.name AS topic
            FROM topic_subscription u
            JOIN device d ON d.id = u.device
            JOIN topic t ON t.id = u.topic
            JOIN app a ON a.id = t.app;
        CREATE VIEW saved_subscription AS
            SELECT s.id, a.name AS app, s.user_id, d.device_id, s.subscription_id, s.record_type, s.fires_on,
                s.fires_once, s.notification, datetime(s.saved_at / 1000, 'unixepoch') AS saved_at
            FROM subscription s
            JOIN app a ON a.id = s.app
            LEFT JOIN device d ON d.id = s.device;
        CREATE VIEW registered_token AS
            SELECT d.device_id, a.name AS app, t.kind, hex(t.token) AS token,
                datetime(t.registered_at / 1000, 'unixepoch') AS registered_at
            FROM device_token t
            JOIN device d ON d.id = t.device
            JOIN app a ON a.id = t.app;
        """
}
