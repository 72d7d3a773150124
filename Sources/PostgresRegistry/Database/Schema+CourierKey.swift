extension Schema {
    /// The key by which the servers recognise what they handed out: one row, from when it is first asked for.
    static let courierKey = """
        SET LOCAL search_path = \(name);
        CREATE TABLE courier_key (
            id integer PRIMARY KEY CHECK (id = 1),
            bytes bytea NOT NULL CHECK (octet_length(bytes) = 32)
        );
        """
}
