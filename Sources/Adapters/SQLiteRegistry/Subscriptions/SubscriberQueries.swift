import PushCore

/// The questions that `resolveSubscribers` asks; subscriptions of users and of devices are asked for apart, each in the
/// order of the devices' rows without sorting.
struct SubscriberQueries {
    /// The devices of a user's subscription: row of the subscription, row of the device to go on after, and the fan-out
    /// that the device's membership has to be older than.
    let devicesOfUsers: AudienceQuery
    /// The device of a device's own subscription: the same probes.
    let devicesThemselves: AudienceQuery
    /// One device of a user's subscription: name = the device's identifier; row of the subscription.
    let oneDeviceOfUsers: AudienceQuery
    /// The device of a device's own subscription, if it is that one: the same probes.
    let oneDeviceItself: AudienceQuery
    /// Whose subscriptions push to a device: name = the device's identifier.
    let owners: AudienceQuery
    /// The silent subscriptions of a user that fire always: name = the user; app, the first row, the row to end before.
    let silentOfUsers: AudienceQuery
    /// The silent subscriptions of a device that fire always: row of the device, app, the first row, the row to end
    /// before.
    let silentThemselves: AudienceQuery

    /// Creates the questions; nothing is prepared yet.
    init(connection: Connection) {
        let columns = ", \(RecipientRow.columns), \(SubscriptionDecoder.columns(app: "s.app"))"
        func query(
            _ name: AudienceQuery.Name, _ numbers: [String], _ owner: String, _ condition: String
        ) -> AudienceQuery {
            AudienceQuery(
                name: name, numbers: numbers, columns: columns,
                from: """
                    CROSS JOIN subscription s ON s.id = r.subscription
                    \(SQLiteRegistry.deviceJoin)
                    CROSS JOIN device d ON d.app = s.app AND \(owner) AND \(condition)
                    """,
                connection: connection)
        }
        let isUsers = "d.user_id = s.user_id"
        let isOwn = "d.id = s.device"
        let isLater = "d.id > r.after AND d.joined < r.as_of"
        devicesOfUsers = query(.none, ["subscription", "after", "as_of"], isUsers, isLater)
        devicesThemselves = query(.none, ["subscription", "after", "as_of"], isOwn, isLater)
        oneDeviceOfUsers = query(.text, ["subscription"], isUsers, "d.device_id = r.name")
        oneDeviceItself = query(.text, ["subscription"], isOwn, "d.device_id = r.name")
        owners = AudienceQuery(
            name: .text, numbers: [], columns: ", d.id, d.app, d.user_id",
            from: "CROSS JOIN device d ON d.device_id = r.name", connection: connection)
        func silent(
            _ name: AudienceQuery.Name, _ numbers: [String], _ owner: String, by index: String
        ) -> AudienceQuery {
            AudienceQuery(
                name: name, numbers: numbers + ["app", "first_row", "below"], columns: ", t.id",
                from: """
                    CROSS JOIN subscription t INDEXED BY \(index) ON \(owner) AND t.app = r.app
                        AND t.is_silent AND NOT t.fires_once AND t.fired_event IS NULL
                        AND t.id >= r.first_row AND t.id < r.below
                    """,
                connection: connection)
        }
        silentOfUsers = silent(.text, [], "t.user_id = r.name", by: "subscription_of_user")
        silentThemselves = silent(.none, ["device"], "t.device = r.device", by: "subscription_of_device")
    }
}
