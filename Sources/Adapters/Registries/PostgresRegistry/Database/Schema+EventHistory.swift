extension Schema {
    /// The migration 6: outcomes of the pushes of events, for a while (`OutcomeHistoryRegistry`), and those that wait
    /// for RabbitMQ (`OutcomeOutboxRegistry`).
    ///
    /// Numbers grow, so the oldest outcomes have the smallest ones.
    static let eventHistory = """
        CREATE TABLE event_outcome (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            outcome text COLLATE "C" NOT NULL UNIQUE,
            event text COLLATE "C" NOT NULL,
            kept_at bigint NOT NULL,
            body bytea NOT NULL
        );
        CREATE INDEX event_outcome_by_event ON event_outcome (event);
        CREATE TABLE waiting_outcome (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            taken_at bigint NOT NULL DEFAULT 0,
            routing_key text COLLATE "C" NOT NULL,
            envelope text NOT NULL,
            body bytea NOT NULL
        );
        """

    /// Undoes the migration 6; the history goes.
    static let eventHistoryUndone = "DROP TABLE event_outcome; DROP TABLE waiting_outcome;"
}
