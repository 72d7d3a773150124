extension Schema {
    /// What each app keeps, so that its quota is looked up and not counted, and a function that ends a transaction.
    ///
    /// Whoever saves subscriptions adds to it, once for all of a statement. The trigger takes away, because a
    /// subscription ends in many ways: with its device, for example. Its name comes after that of the trigger that
    /// takes the lock of the log, so all who write here have that lock, and wait for each other in one place only.
    static let quotas = """
        SET LOCAL search_path = \(name);
        CREATE TABLE app_usage (app integer PRIMARY KEY, subscriptions bigint NOT NULL, bytes bigint NOT NULL)
            WITH (fillfactor = 50);
        INSERT INTO app_usage (app, subscriptions, bytes)
            SELECT s.app, count(*), sum(\(subscriptionBytes("s"))) FROM subscription s GROUP BY s.app;
        CREATE FUNCTION give_back_subscriptions() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            UPDATE \(name).app_usage u SET subscriptions = u.subscriptions - c.number, bytes = u.bytes - c.bytes
            FROM (SELECT x.app, count(*) AS number, sum(\(subscriptionBytes("x"))) AS bytes FROM changed x
                GROUP BY x.app) c
            WHERE u.app = c.app;
            RETURN NULL;
        END $$;
        CREATE TRIGGER subscription_given_back AFTER DELETE ON subscription
            REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION give_back_subscriptions();
        CREATE FUNCTION refuse(quota text) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '%', quota USING ERRCODE = '\(quotaState)';
        END $$;
        """

    /// The SQLSTATE of what would exceed a quota; the message is the quota's name and its limit.
    static let quotaState = "AP001"

    /// What a row of `subscription` counts against quotas, as `RecordSubscription.storedBytes` says.
    static func subscriptionBytes(_ row: String) -> String {
        "octet_length(\(row).predicate) + octet_length(\(row).notification) "
            + "+ coalesce(octet_length(\(row).cloudkit_json), 0)"
    }
}
