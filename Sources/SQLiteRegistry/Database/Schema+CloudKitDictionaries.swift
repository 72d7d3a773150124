extension Schema {
    /// What clients of CloudKit Web Services saved, in their own words.
    ///
    /// It is the last column, so that whoever does not ask for it does not read it.
    static let cloudKitDictionaries = "ALTER TABLE subscription ADD COLUMN cloudkit_json TEXT;"
}
