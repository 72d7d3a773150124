extension Schema {
    /// What clients of CloudKit Web Services saved, in their own words.
    ///
    /// The server keeps long ones apart, so that whoever does not ask for them does not read them.
    static let cloudKitDictionaries = """
        SET LOCAL search_path = \(name);
        ALTER TABLE subscription ADD COLUMN cloudkit_json text;
        """
}
