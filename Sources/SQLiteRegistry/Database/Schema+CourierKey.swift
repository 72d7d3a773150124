extension Schema {
    /// The key by which the servers recognise what they handed out: one row, from when it is first asked for.
    static let courierKey = """
        CREATE TABLE courier_key (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            bytes BLOB NOT NULL CHECK (length(bytes) = 32)
        );
        """
}
