extension Schema {
    /// The migration 6: outcomes of the pushes of events, for a while (`OutcomeHistoryRegistry`), and those that wait
    /// for RabbitMQ (`OutcomeOutboxRegistry`).
    ///
    /// Numbers grow, so the oldest outcomes have the smallest ones.
    static let eventHistory = """
        CREATE TABLE event_outcome (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            outcome TEXT NOT NULL UNIQUE,
            event TEXT NOT NULL,
            kept_at INTEGER NOT NULL,
            body BLOB NOT NULL
        );
        CREATE INDEX event_outcome_by_event ON event_outcome (event);
        CREATE TABLE waiting_outcome (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            taken_at INTEGER NOT NULL DEFAULT 0,
            routing_key TEXT NOT NULL,
            envelope TEXT NOT NULL,
            body BLOB NOT NULL
        );
        """

    /// Undoes the migration 6; the history goes.
    static let eventHistoryUndone = "DROP TABLE event_outcome; DROP TABLE waiting_outcome;"
}
