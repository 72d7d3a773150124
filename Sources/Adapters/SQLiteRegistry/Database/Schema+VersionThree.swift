extension Schema {
    /// The third schema: large fan-outs, and since when each device is in an audience.
    ///
    /// `joined` is the number of the newest fan-out at the moment when a device came to its identity, user and app, or
    /// to its dataset or topic; a fan-out serves those whose `joined` is smaller than its own number. Numbers are never
    /// used again (`AUTOINCREMENT`). A chunk is a row from when it is planned until its fan-out is done.
    static let versionThree = """
        ALTER TABLE device ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE dataset_subscription ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE topic_subscription ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;

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

    /// The number of the newest fan-out, for statements that write who joins an audience; 0 if there was none.
    static let newestFanOut = "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'fan_out')"
}
