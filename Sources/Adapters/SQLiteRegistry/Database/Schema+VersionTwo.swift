extension Schema {
    /// The second schema: subscriptions to records, badges, users' topics, and what the API keeps.
    ///
    /// A subscription is one row that says everything, so that saving and following them touch one table. Its row is
    /// never used again (`AUTOINCREMENT`), because workers name subscriptions by it. Whatever happens to a
    /// subscription, by whatever way (a device that is removed takes its own along), stands in `subscription_log`,
    /// which workers follow; it keeps the last million entries, and who is further behind reads everything anew.
    static let versionTwo = """
        ALTER TABLE device ADD COLUMN badge INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE device ADD COLUMN badge_events BLOB NOT NULL DEFAULT x'';

        ALTER TABLE topic_subscription ADD COLUMN source INTEGER NOT NULL DEFAULT 1;
        CREATE TABLE topic_user (
            user_id TEXT NOT NULL,
            topic INTEGER NOT NULL REFERENCES topic,
            PRIMARY KEY (user_id, topic)
        ) WITHOUT ROWID;
        CREATE INDEX topic_user_by_topic ON topic_user (topic);

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
            CHECK ((user_id IS NULL) <> (device IS NULL))
        );
        CREATE UNIQUE INDEX subscription_of_user ON subscription (user_id, app, subscription_id)
            WHERE user_id IS NOT NULL;
        CREATE UNIQUE INDEX subscription_of_device ON subscription (device, subscription_id) WHERE device IS NOT NULL;
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

        CREATE TABLE api_token (
            name TEXT PRIMARY KEY,
            digest BLOB NOT NULL,
            app TEXT,
            permission TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE pool_configuration (identity_pool TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;

        CREATE VIEW saved_subscription AS
            SELECT s.id, a.name AS app, s.user_id, d.device_id, s.subscription_id, s.record_type, s.fires_on,
                s.fires_once, s.notification, datetime(s.saved_at / 1000, 'unixepoch') AS saved_at
            FROM subscription s
            JOIN app a ON a.id = s.app
            LEFT JOIN device d ON d.id = s.device;
        """
}
