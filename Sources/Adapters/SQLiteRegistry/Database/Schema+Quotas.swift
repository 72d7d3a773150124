extension Schema {
    /// What each app keeps, so that its quota is looked up and not counted.
    ///
    /// Whoever saves a subscription adds to it, once for all of a transaction. The trigger takes away, because a
    /// subscription ends in many ways: with its device, for example.
    static let quotas = """
        CREATE TABLE app_usage (
            app INTEGER PRIMARY KEY REFERENCES app,
            subscriptions INTEGER NOT NULL,
            bytes INTEGER NOT NULL
        );
        INSERT INTO app_usage (app, subscriptions, bytes)
            SELECT s.app, count(*), sum(\(subscriptionBytes("s"))) FROM subscription s GROUP BY s.app;
        CREATE TRIGGER subscription_given_back AFTER DELETE ON subscription BEGIN
            UPDATE app_usage SET subscriptions = subscriptions - 1, bytes = bytes - (\(subscriptionBytes("old")))
            WHERE app = old.app;
        END;
        """

    /// What a row of `subscription` counts against quotas, as `RecordSubscription.storedBytes` says.
    static func subscriptionBytes(_ row: String) -> String {
        "length(\(row).predicate) + length(CAST(\(row).notification AS BLOB)) "
            + "+ coalesce(length(CAST(\(row).cloudkit_json AS BLOB)), 0)"
    }
}
