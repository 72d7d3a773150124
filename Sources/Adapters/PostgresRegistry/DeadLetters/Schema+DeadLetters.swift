extension Schema {
    /// Dead letters that were collected.
    ///
    /// Numbers are the order of the letters. Properties and headers are in `envelope` as JSON.
    static let deadLetters = """
        SET LOCAL search_path = \(name);
        CREATE TABLE dead_letter (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id text COLLATE "C" NOT NULL UNIQUE,
            reason text COLLATE "C" NOT NULL,
            detail text COLLATE "C",
            app text COLLATE "C",
            event_source text COLLATE "C",
            event_id text COLLATE "C",
            event_type text COLLATE "C",
            attempts bigint,
            first_seen_at bigint,
            dead_lettered_at bigint NOT NULL,
            body_bytes bigint NOT NULL,
            envelope text COLLATE "C" NOT NULL,
            body bytea NOT NULL
        );
        CREATE INDEX dead_letter_by_reason ON dead_letter (reason, app, dead_lettered_at);
        CREATE INDEX dead_letter_by_event ON dead_letter (event_id) WHERE event_id IS NOT NULL;
        """
}
