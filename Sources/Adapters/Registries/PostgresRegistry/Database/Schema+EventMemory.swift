extension Schema {
    /// The migration 5: the events whose pushes have ended (`EventMemoryRegistry`), a block in each row.
    ///
    /// - `number` grows in the order of commit, `ended_at` is in milliseconds since 1970.
    /// - `total` is how many events there have been, with those of the row.
    /// - `events` is up to 4,000 bytes (`EventMemoryBlock`), which stay in the row, two rows a page.
    static let eventMemory = """
        CREATE TABLE event_memory (
            number bigint PRIMARY KEY,
            ended_at bigint NOT NULL,
            total bigint NOT NULL,
            events bytea NOT NULL
        );
        ALTER TABLE event_memory ALTER COLUMN events SET STORAGE PLAIN;
        """

    /// Undoes the migration 5; an event that comes again is then pushed again.
    static let eventMemoryUndone = "DROP TABLE event_memory;"
}
