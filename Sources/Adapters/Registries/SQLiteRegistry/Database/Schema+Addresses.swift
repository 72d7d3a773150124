extension Schema {
    /// The migration 3: addresses that have no room in `device.token` (`AddressKey`), and a view that reads them all.
    ///
    /// `push_keys` are those of a Web Push subscription, the public key and the authentication secret.
    static let addresses = """
        CREATE TABLE device_address (
            device INTEGER PRIMARY KEY REFERENCES device ON DELETE CASCADE,
            address BLOB NOT NULL CHECK (length(address) BETWEEN 1 AND 2048),
            push_keys BLOB NOT NULL CHECK (length(push_keys) IN (0, 81)),
            expires_at INTEGER
        );
        DROP VIEW registered_device;
        CREATE VIEW registered_device AS
            SELECT d.device_id,
                CASE
                    WHEN d.platform = 2 AND substr(d.token, 1, 1) IN (x'03', x'13') THEN 'ADM'
                    WHEN d.platform = 2 AND substr(d.token, 1, 1) = x'14' THEN 'WEB_PUSH'
                    ELSE p.name
                END AS platform,
                CASE
                    WHEN d.platform <> 2 THEN hex(d.token)
                    WHEN x.address IS NOT NULL THEN CAST(x.address AS TEXT)
                    WHEN substr(d.token, 1, 1) IN (x'02', x'03') THEN CAST(substr(d.token, 2) AS TEXT)
                    ELSE CAST(d.token AS TEXT)
                END AS token,
                a.name AS app, o.name AS identity_pool, n.name AS identity, d.user_id,
                datetime(d.registered_at / 1000, 'unixepoch') AS registered_at,
                datetime(x.expires_at / 1000, 'unixepoch') AS expires_at
            FROM device d
            JOIN platform p ON p.id = d.platform
            JOIN app a ON a.id = d.app
            LEFT JOIN identity_pool o ON o.id = d.identity_pool
            LEFT JOIN identity n ON n.id = d.identity
            LEFT JOIN device_address x ON x.device = d.id AND d.platform = 2
                AND substr(d.token, 1, 1) BETWEEN x'11' AND x'14';
        """

    /// Undoes the migration 3; devices with keys that need it go, because programs before cannot reach them.
    static let addressesUndone = """
        DELETE FROM device WHERE platform = 2 AND substr(token, 1, 1) BETWEEN x'01' AND x'14';
        DROP VIEW registered_device;
        DROP TABLE device_address;
        \(registeredDeviceBefore)
        """
}
