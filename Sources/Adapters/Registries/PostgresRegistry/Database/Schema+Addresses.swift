extension Schema {
    /// The migration 3: addresses that have no room in `device.token` (`AddressKey`), and a view that reads them all.
    ///
    /// `push_keys` are those of a Web Push subscription, the public key and the authentication secret. The view is
    /// replaced in place, because a view that is dropped and created loses the permissions of its readers.
    static let addresses = """
        CREATE TABLE device_address (
            device bigint PRIMARY KEY REFERENCES device ON DELETE CASCADE,
            address bytea NOT NULL CHECK (length(address) BETWEEN 1 AND 2048),
            push_keys bytea NOT NULL CHECK (length(push_keys) IN (0, 81)),
            expires_at bigint
        );
        CREATE OR REPLACE VIEW registered_device AS
            SELECT d.device_id,
                CASE
                    WHEN d.platform = 2 AND get_byte(d.token, 0) IN (3, 19) THEN 'ADM'
                    WHEN d.platform = 2 AND get_byte(d.token, 0) = 20 THEN 'WEB_PUSH'
                    ELSE p.name
                END AS platform,
                CASE
                    WHEN d.platform <> 2 THEN encode(d.token, 'hex')
                    WHEN x.address IS NOT NULL THEN encode(x.address, 'escape')
                    WHEN get_byte(d.token, 0) IN (2, 3) THEN encode(substring(d.token FROM 2), 'escape')
                    ELSE encode(d.token, 'escape')
                END AS token,
                a.name AS app, o.name AS identity_pool, n.name AS identity, d.user_id,
                to_timestamp(d.registered_at / 1000.0) AS registered_at,
                to_timestamp(x.expires_at / 1000.0) AS expires_at
            FROM device d
            JOIN platform p ON p.id = d.platform
            JOIN app a ON a.id = d.app
            LEFT JOIN identity_pool o ON o.id = d.identity_pool
            LEFT JOIN identity n ON n.id = d.identity
            LEFT JOIN device_address x ON x.device = d.id AND d.platform = 2
                AND get_byte(d.token, 0) BETWEEN 17 AND 20
        """

    /// Undoes the migration 3; devices with keys that need it go, because programs before cannot reach them.
    static let addressesUndone = """
        DELETE FROM device WHERE platform = 2 AND get_byte(token, 0) BETWEEN 1 AND 20;
        DROP VIEW registered_device;
        DROP TABLE device_address;
        \(registeredDeviceBefore)
        """
}
