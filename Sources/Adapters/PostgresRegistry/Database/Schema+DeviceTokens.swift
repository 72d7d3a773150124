extension Schema {
    /// The tokens that devices have beside their alert tokens.
    ///
    /// `app` is the device's, so that an index can tell whose a token is.
    static let deviceTokens = """
        SET LOCAL search_path = \(name);
        CREATE TABLE device_token (
            device bigint NOT NULL REFERENCES device ON DELETE CASCADE,
            kind text COLLATE "C" NOT NULL,
            token bytea NOT NULL CHECK (octet_length(token) BETWEEN 1 AND 256),
            app integer NOT NULL,
            registered_at bigint NOT NULL,
            PRIMARY KEY (device, kind),
            UNIQUE (token, app, kind)
        );
        CREATE INDEX device_token_by_kind ON device_token (app, kind);
        CREATE VIEW registered_token AS
            SELECT d.device_id, a.name AS app, t.kind, encode(t.token, 'hex') AS token,
                to_timestamp(t.registered_at / 1000.0) AS registered_at
            FROM device_token t
            JOIN device d ON d.id = t.device
            JOIN app a ON a.id = t.app;
        """
}
