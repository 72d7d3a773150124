extension Schema {
    /// The tokens that devices have beside their alert tokens.
    ///
    /// `app` is the device's, so that an index can tell whose a token is.
    static let deviceTokens = """
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
        CREATE VIEW registered_token AS
            SELECT d.device_id, a.name AS app, t.kind, hex(t.token) AS token,
                datetime(t.registered_at / 1000, 'unixepoch') AS registered_at
            FROM device_token t
            JOIN device d ON d.id = t.device
            JOIN app a ON a.id = t.app;
        """
}
