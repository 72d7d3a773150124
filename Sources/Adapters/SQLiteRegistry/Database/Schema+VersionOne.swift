extension Schema {
    /// The first schema.
    ///
    /// Names that repeat (apps, pools, identities, dataset names) are rows of their own, so that the tables which grow
    /// with the devices hold small numbers. `dataset_subscription` is ordered as the look-up of an event reads it; the
    /// views show everything by name for whoever opens the file with sqlite3.
    static let versionOne = """
        CREATE TABLE platform (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        INSERT INTO platform (id, name) VALUES (0, 'APNS'), (1, 'APNS_SANDBOX'), (2, 'GCM');
        CREATE TABLE app (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE identity_pool (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE identity (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE dataset_name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        INSERT INTO dataset_name (id, name) VALUES (0, '*');

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
            CHECK ((identity IS NULL) = (identity_pool IS NULL))
        );
        CREATE UNIQUE INDEX device_by_token ON device (token, app);
        CREATE INDEX device_by_identity ON device (identity, app) WHERE identity IS NOT NULL;
        CREATE INDEX device_by_user ON device (user_id, app) WHERE user_id IS NOT NULL;

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
            PRIMARY KEY (topic, device)
        ) WITHOUT ROWID;
        CREATE INDEX topic_subscription_by_device ON topic_subscription (device);

        CREATE VIEW registered_device AS
            SELECT d.device_id, p.name AS platform, hex(d.token) AS token, a.name AS app, o.name AS identity_pool,
                n.name AS identity, d.user_id, datetime(d.registered_at / 1000, 'unixepoch') AS registered_at
            FROM device d
            JOIN platform p ON p.id = d.platform
            JOIN app a ON a.id = d.app
            LEFT JOIN identity_pool o ON o.id = d.identity_pool
            LEFT JOIN identity n ON n.id = d.identity;
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
        """
}
