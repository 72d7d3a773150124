extension Schema {
    /// The migration 5: the events whose pushes have ended (`EventMemoryRegistry`).
    ///
    /// - `event` and `rest` are the halves of `EventIdentity`, `content` is a digest of 32 bits.
    /// - `ended_at` counts seconds since 2020 (`EventMemoryRules.epochMilliseconds`).
    /// - No index by age: events are forgotten by ranges of keys, and the table is the larger part of many registries.
    static let eventMemory = """
        CREATE TABLE event_memory (
            event INTEGER PRIMARY KEY,
            rest INTEGER NOT NULL,
            ended_at INTEGER NOT NULL,
            content INTEGER NOT NULL
        );
        """

    /// Undoes the migration 5; an event that comes again is then pushed again.
    static let eventMemoryUndone = "DROP TABLE event_memory;"
}
