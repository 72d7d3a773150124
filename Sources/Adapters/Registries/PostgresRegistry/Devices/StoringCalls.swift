import Notifications
import PostgreSQL
import RegistryCore
import RegistrySQL

/// The statements that write, each for any number of rows.
enum StoringCalls {
    // MARK: Names

    /// A table of names with numbers in their place.
    enum NameTable: String {
        case app
        case pool = "identity_pool"
        case identity
        case datasetName = "dataset_name"
    }

    /// Adds the names that a table does not have, in one order so that two transactions do not wait for each other.
    static func addNames(_ names: [String], to table: NameTable) -> Call {
        // Existing rows are left out first, because ON CONFLICT alone uses up a number for each.
        Call(
            """
            INSERT INTO apus.\(table.rawValue) (name)
            SELECT DISTINCT r.name FROM unnest($1::text[]) r(name)
            WHERE NOT EXISTS (SELECT 1 FROM apus.\(table.rawValue) x WHERE x.name = r.name) ORDER BY r.name
            ON CONFLICT (name) DO NOTHING
            """, [.texts(names)])
    }

    /// The numbers of names: index in the list from 1, number.
    static func numbers(of names: [String], in table: NameTable) -> Call {
        Call(
            """
            SELECT r.k, x.id::bigint FROM unnest($1::text[]) WITH ORDINALITY r(name, k)
            JOIN apus.\(table.rawValue) x ON x.name = r.name
            """, [.texts(names)])
    }

    /// The numbers of identities, which cannot be erased until the transaction ends.
    static func numbersOfLockedIdentities(_ names: [String]) -> Call {
        Call(
            """
            SELECT r.k, x.id FROM unnest($1::text[]) WITH ORDINALITY r(name, k)
            JOIN apus.identity x ON x.name = r.name ORDER BY x.id FOR KEY SHARE OF x
            """, [.texts(names)])
    }

    // MARK: Locks

    /// Makes others wait who change the datasets of these identities.
    static func lockIdentities(_ names: [String]) -> Call {
        Call(
            """
            SELECT n.id FROM apus.identity n WHERE n.id IN (
                SELECT x.id FROM unnest($1::text[]) r(name) JOIN apus.identity x ON x.name = r.name)
            ORDER BY n.id FOR NO KEY UPDATE
            """, [.texts(names)])
    }

    /// Makes others wait who change the datasets of the identity that a device has.
    static func lockIdentity(of deviceID: String) -> Call {
        Call(
            """
            SELECT n.id FROM apus.identity n
            WHERE n.id = (SELECT d.identity FROM apus.device d WHERE d.device_id = $1::text) FOR NO KEY UPDATE
            """, [.text(deviceID)])
    }

    /// Reads a device, and makes others wait who change it.
    static func lockDevice(_ deviceID: String) -> Call {
        Call(
            """
            SELECT \(StoredDevice.columns) FROM apus.device d WHERE d.device_id = $1::text FOR NO KEY UPDATE
            """, [.text(deviceID)])
    }

    /// Reads the devices that have one of the identifiers, or one of the addresses in its app, and makes others wait.
    static func lockDevices(_ devices: [Device]) -> Call {
        Call(
            """
            SELECT \(StoredDevice.columns) FROM apus.device d WHERE d.id IN (
                SELECT x.id FROM unnest($1::text[]) r(name) JOIN apus.device x ON x.device_id = r.name
                UNION
                SELECT x.id FROM unnest($2::bytea[], $3::text[]) r(token, app)
                JOIN apus.app a ON a.name = r.app JOIN apus.device x ON x.token = r.token AND x.app = a.id)
            ORDER BY d.id FOR UPDATE
            """,
            [
                .texts(devices.map(\.deviceID)),
                .byteLists(devices.map { AddressKey($0.token, $0.platform).bytes }), .texts(devices.map(\.app)),
            ])
    }

    // MARK: Subscriptions

    /// Makes datasets known, and subscribes the devices that wait for datasets to come.
    ///
    /// The names have been added and the identities are locked.
    ///
    /// - Parameters:
    ///   - keys: the datasets.
    ///   - limit: how many may be known of an identity; nil for any number.
    /// - Returns: the statement.
    static func addDatasets(_ keys: [DatasetKey], limit: Int? = nil) -> Call {
        let joining = Call(
            """
            INSERT INTO apus.dataset_subscription (identity, dataset_name, device, joined)
            SELECT u.identity, x.dataset_name, u.device, u.joined FROM added x
            JOIN apus.dataset_subscription u ON u.identity = x.identity AND u.dataset_name = \(Schema.futureDatasets)
            JOIN apus.device d ON d.id = u.device AND d.identity_pool = x.identity_pool
            ON CONFLICT DO NOTHING
            """)
        let checking = limit.map { limit in
            """
            , joined AS (\(joining.sql))
            SELECT \(QuotaCalls.refusal(.datasetsPerOwner, limit)) FROM (
                SELECT x.identity, count(*) AS number FROM added x GROUP BY x.identity) a
            WHERE a.number + (SELECT count(*) FROM apus.dataset k WHERE k.identity = a.identity) > \(limit)
            """
        }
        return Call(
            """
            WITH added AS (
                INSERT INTO apus.dataset (identity, identity_pool, dataset_name)
                SELECT DISTINCT n.id, p.id, s.id FROM unnest($1::text[], $2::text[], $3::text[]) r(pool, identity, name)
                JOIN apus.identity_pool p ON p.name = r.pool JOIN apus.identity n ON n.name = r.identity
                JOIN apus.dataset_name s ON s.name = r.name
                ON CONFLICT DO NOTHING RETURNING identity, identity_pool, dataset_name)
            \(checking ?? joining.sql)
            """,
            [
                .texts(keys.map(\.identityPoolID)), .texts(keys.map(\.identityID)), .texts(keys.map(\.datasetName)),
            ])
    }

    /// Subscribes devices to datasets that are known; a device without an identity is left out.
    ///
    /// - Parameters:
    ///   - list: the devices and the names of the datasets.
    ///   - limit: how many a device may subscribe to; nil for any number.
    /// - Returns: the statement.
    static func addDatasetSubscriptions(_ list: [DeviceSubscription], limit: Int? = nil) -> Call {
        QuotaCalls.adding(
            Call(.addDatasetSubscriptions(list)), returning: "device, dataset_name", of: "device",
            counted: "dataset_name <> \(Schema.futureDatasets)",
            before: """
                SELECT count(*) FROM apus.dataset_subscription u
                WHERE u.device = a.device AND u.dataset_name <> \(Schema.futureDatasets)
                """, .datasetsPerOwner, limit: limit)
    }

    /// Subscribes devices to topics of their apps, which have been added.
    ///
    /// - Parameters:
    ///   - list: the devices and the names of the topics.
    ///   - limit: how many a device may subscribe to; nil for any number.
    /// - Returns: the statement.
    static func addTopicSubscriptions(_ list: [DeviceSubscription], limit: Int?) -> Call {
        QuotaCalls.adding(
            Call(.addTopicSubscriptions(list)), returning: "u.device", of: "device",
            before: "SELECT count(*) FROM apus.topic_subscription x WHERE x.device = a.device AND x.source & 1 <> 0",
            .topicsPerOwner, limit: limit)
    }

    // MARK: Topics

    /// Adds a topic to the app of a device, unless it has it.
    static func addTopic(_ name: String, ofAppOf deviceID: String) -> Call {
        Call(
            """
            INSERT INTO apus.topic (name, app)
            SELECT $1::text, d.app FROM apus.device d WHERE d.device_id = $2::text
                AND NOT EXISTS (SELECT 1 FROM apus.topic t WHERE t.name = $1::text AND t.app = d.app)
            ON CONFLICT DO NOTHING
            """, [.text(name), .text(deviceID)])
    }

    /// Subscribes users to topics that have been added, and gives these to the users' devices.
    ///
    /// - Parameters:
    ///   - list: the users, apps and topics.
    ///   - limit: how many a user may have in an app; nil for any number.
    /// - Returns: the statements.
    static func addTopicUsers(_ list: [TopicUser], limit: Int? = nil) -> [Call] {
        let parameters: [Parameter] = [
            .texts(list.map(\.userID)), .texts(list.map(\.app)), .texts(list.map(\.topic)),
        ]
        let topics = """
            unnest($1::text[], $2::text[], $3::text[]) r(user_id, app, topic)
            JOIN apus.app a ON a.name = r.app JOIN apus.topic t ON t.app = a.id AND t.name = r.topic
            """
        let insertion = Call(
            """
            INSERT INTO apus.topic_user (user_id, topic) SELECT DISTINCT r.user_id, t.id FROM \(topics)
            ON CONFLICT DO NOTHING
            """, parameters)
        return [
            QuotaCalls.adding(
                insertion, returning: "user_id, (SELECT t.app FROM apus.topic t WHERE t.id = topic_user.topic) AS app",
                of: "user_id, app",
                before: """
                    SELECT count(*) FROM apus.topic_user u JOIN apus.topic t ON t.id = u.topic
                    WHERE u.user_id = a.user_id AND t.app = a.app
                    """, .topicsPerOwner, limit: limit),
            Call(
                """
                WITH own AS MATERIALIZED (
                    SELECT d.id, d.user_id, d.app FROM apus.device d WHERE d.id IN (
                        SELECT x.id FROM unnest($1::text[]) r(name) JOIN apus.device x ON x.user_id = r.name)
                    ORDER BY d.id FOR NO KEY UPDATE)
                INSERT INTO apus.topic_subscription AS u (topic, device, source)
                SELECT DISTINCT t.id, d.id, 2 FROM \(topics) JOIN own d ON d.user_id = r.user_id AND d.app = a.id
                ON CONFLICT (topic, device) DO UPDATE SET source = u.source | 2 WHERE u.source & 2 = 0
                """, parameters),
        ]
    }
}
