extension Schema {
    /// Dead letters that were collected.
    ///
    /// Numbers are never used again (`AUTOINCREMENT`): they are the order of the letters. Properties and headers are in
    /// `envelope` as JSON. The body comes last, so that a listing does not read it.
    static let deadLetters = """
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
}
