extension Schema {
    /// The fourth schema: clients that fetch their notifications.
    ///
    /// `asked_at` tells, to the day, when such a device last asked. Messages wait in the order of their rows.
    static let versionFour = """
        INSERT INTO platform (id, name) VALUES (3, 'WEB');
        ALTER TABLE device ADD COLUMN asked_at INTEGER NOT NULL DEFAULT 0;
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
        """
}
