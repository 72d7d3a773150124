extension Schema {
    /// The migration 5: the events whose pushes have ended (`EventMemoryRegistry`).
    ///
    /// - `event` and `rest` are the halves of `EventIdentity`, `content` is a digest of 32 bits.
    /// - `ended_at` counts seconds since 2020 (`EventMemoryRules.epochMilliseconds`).
    /// - No index by age: events are forgotten by ranges of keys, and the table is the larger part of many registries.
    /// - The columns stand in the order that needs no padding.
    static let eventMemory = """
        CREATE TABLE event_memory (
            event bigint PRIMARY KEY,
            rest bigint NOT NULL,
            ended_at integer NOT NULL,
            content integer NOT NULL
        );
        """

    /// Undoes the migration 5; an event that comes again is then pushed again.
    static let eventMemoryUndone = "DROP TABLE event_memory;"
}
