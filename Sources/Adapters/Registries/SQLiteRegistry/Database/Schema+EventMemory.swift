extension Schema {
    /// The migration 5: the events whose pushes have ended (`EventMemoryRegistry`), a block in each row.
    ///
    /// - `number` grows in the order of commit, `ended_at` is in milliseconds since 1970.
    /// - `total` is how many events there have been, with those of the row.
    /// - `events` is up to 4,000 bytes (`EventMemoryBlock`), so that a row fits in a page.
    static let eventMemory = """
        CREATE TABLE event_memory (
            number INTEGER PRIMARY KEY,
            ended_at INTEGER NOT NULL,
            total INTEGER NOT NULL,
            events BLOB NOT NULL
        );
        """

    /// Undoes the migration 5; an event that comes again is then pushed again.
    static let eventMemoryUndone = "DROP TABLE event_memory;"
}
