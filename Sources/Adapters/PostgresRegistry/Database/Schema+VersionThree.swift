extension Schema {
    /// The third schema: clients that fetch their notifications.
    ///
    /// `asked_at` tells, to the day, when such a device last asked. Messages wait in the order of their rows.
    static let versionThree = """
        SET LOCAL search_path = \(name);
        INSERT INTO platform (id, name) VALUES (3, 'WEB');
        ALTER TABLE device DROP CONSTRAINT device_platform_check;
        ALTER TABLE device ADD CONSTRAINT device_platform_check CHECK (platform BETWEEN 0 AND 3) NOT VALID;
        ALTER TABLE device ADD COLUMN asked_at bigint NOT NULL DEFAULT 0;
        CREATE TABLE courier_message (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            device bigint NOT NULL REFERENCES device ON DELETE CASCADE,
            push bytea NOT NULL,
            collapse_id text COLLATE "C",
            expires_at bigint NOT NULL,
            payload bytea NOT NULL,
            UNIQUE (device, push)
        );
        CREATE INDEX courier_message_by_device ON courier_message (device, id);
        CREATE INDEX courier_message_by_expiry ON courier_message (expires_at);
        """
}
