/// The questions that `resolve` asks, one for each kind of audience.
///
/// `CROSS JOIN` keeps SQLite to the written order: from the probes to their devices, each by an index whose entries are
/// in the order of the device's row. So a page ends and goes on anywhere without sorting or counting.
struct AudienceQueries {
    /// Devices that subscribed to a dataset: name = identity; then pool, dataset, row to go on after, and the fan-out
    /// that memberships have to be older than.
    let datasetSubscribers: AudienceQuery
    /// Devices that subscribed to datasets to come, for a dataset that is not known: the same probes.
    let futureSubscribers: AudienceQuery
    /// Devices of an identity: name = identity; then app, row to go on after, and that fan-out.
    let identityDevices: AudienceQuery
    /// Devices of a user: name = user; then app, row to go on after, and that fan-out.
    let userDevices: AudienceQuery
    /// Devices that subscribed to a topic: name = topic; then app, row to go on after, and that fan-out.
    let topicSubscribers: AudienceQuery
    /// A device by its identifier, of an app.
    let deviceOfApp: AudienceQuery
    /// A device by its identifier, of whatever app.
    let device: AudienceQuery
    /// A device by its token, of an app.
    let tokenOfApp: AudienceQuery
    /// Whether a dataset is not known: name = identity; then pool, dataset.
    let unknownDataset: AudienceQuery
    /// Whether a device subscribed to a dataset: device, identity, pool, dataset.
    let isDatasetSubscriber: AudienceQuery
    /// Whether a device subscribed to a topic: name = topic; then device, app.
    let isTopicSubscriber: AudienceQuery

    /// Creates the questions; nothing is prepared yet.
    init(connection: Connection) {
        func query(
            _ name: AudienceQuery.Name, _ numbers: [String], _ columns: String, _ from: String
        ) -> AudienceQuery {
            AudienceQuery(name: name, numbers: numbers, columns: columns, from: from, connection: connection)
        }
        let recipient = ", " + RecipientRow.columns
        let deviceAndIdentity = ", " + DeviceRow.columns + ", n.name"
        let identity = "LEFT JOIN identity n ON n.id = d.identity"
        let isUnknown = """
            NOT EXISTS (SELECT 1 FROM dataset k WHERE k.identity = n.id AND k.identity_pool = r.pool
            AND k.dataset_name = r.dataset)
            """
        func subscribers(_ dataset: String, where condition: String) -> AudienceQuery {
            query(
                .text, ["pool", "dataset", "after", "as_of"], recipient,
                """
                CROSS JOIN identity n ON n.name = r.name
                CROSS JOIN dataset_subscription u
                    ON u.identity = n.id AND u.dataset_name = \(dataset) AND u.device > r.after AND u.joined < r.as_of
                CROSS JOIN device d ON d.id = u.device AND d.identity_pool = r.pool
                WHERE \(condition)
                """)
        }
        datasetSubscribers = subscribers("r.dataset", where: "1")
        futureSubscribers = subscribers("\(Schema.futureDatasets)", where: isUnknown)
        func devices(_ from: String) -> AudienceQuery {
            query(.text, ["app", "after", "as_of"], ", " + RecipientRow.columnsOfKnownApp, from)
        }
        let isLater = "d.app = r.app AND d.id > r.after AND d.joined < r.as_of"
        identityDevices = devices(
            "CROSS JOIN identity n ON n.name = r.name CROSS JOIN device d ON d.identity = n.id AND \(isLater)")
        userDevices = devices("CROSS JOIN device d ON d.user_id = r.name AND \(isLater)")
        topicSubscribers = devices(
            """
            CROSS JOIN topic t ON t.name = r.name AND t.app = r.app
            CROSS JOIN topic_subscription u ON u.topic = t.id AND u.device > r.after AND u.joined < r.as_of
            CROSS JOIN device d ON d.id = u.device
            """)
        deviceOfApp = query(
            .text, ["app"], deviceAndIdentity,
            "CROSS JOIN device d ON d.device_id = r.name AND d.app = r.app \(identity)")
        self.device = query(.text, [], deviceAndIdentity, "CROSS JOIN device d ON d.device_id = r.name \(identity)")
        tokenOfApp = query(
            .bytes, ["app"], deviceAndIdentity, "CROSS JOIN device d ON d.token = r.name AND d.app = r.app \(identity)")
        unknownDataset = query(
            .text, ["pool", "dataset"], "",
            """
            WHERE r.name IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM identity n CROSS JOIN dataset k ON k.identity = n.id AND k.identity_pool = r.pool
                    AND k.dataset_name = r.dataset
                WHERE n.name = r.name)
            """)
        isDatasetSubscriber = query(
            .none, ["device", "identity", "pool", "dataset"], "",
            """
            CROSS JOIN identity n ON n.id = r.identity
            CROSS JOIN dataset_subscription u ON u.identity = n.id AND u.device = r.device AND u.dataset_name
                = CASE WHEN \(isUnknown) THEN \(Schema.futureDatasets) ELSE r.dataset END
            """)
        isTopicSubscriber = query(
            .text, ["device", "app"], "",
            """
            CROSS JOIN topic t ON t.name = r.name AND t.app = r.app
            CROSS JOIN topic_subscription u ON u.topic = t.id AND u.device = r.device
            """)
    }
}
