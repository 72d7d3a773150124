public import RegistryCore
import RegistrySQL

extension PostgresRegistry {
    /// Subscribes a device to a topic of its app.
    public func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) {
        try RegistryRules.checkTopic(topic)
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let found = try transaction.run([StoringCalls.lockDevice(deviceID)])[0]
            guard found.count > 0 else { throw RegistryError.noDevice(deviceID) }
            try transaction.commit([
                StoringCalls.addTopic(topic, ofAppOf: deviceID),
                StoringCalls.addTopicSubscriptions(
                    [DeviceSubscription(deviceID, to: topic)], limit: quotas[.topicsPerOwner]),
            ])
        }
    }

    /// Ends a topic subscription.
    public func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            // The user's own subscription stays.
            try transaction.commit(StoringCalls.removeTopicSubscription(deviceID, topic))[0].affectedCount > 0
        }
    }
}

extension PostgresRegistry {
    /// Subscribes all devices of a user, now and later, to a topic.
    public func subscribeUser(_ userID: String, app: String, toTopic topic: String) throws(RegistryError) {
        try addTopicUsers([TopicUser(userID: userID, app: app, topic: topic)])
    }

    /// Ends a user's subscription to a topic.
    public func unsubscribeUser(
        _ userID: String, app: String, fromTopic topic: String
    ) throws(RegistryError) -> Bool {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let answers = try transaction.commit(
                [
                    StoringCalls.lockUsers([userID], isShared: false),
                    StoringCalls.removeTopicUser(userID, app: app, topic: topic),
                ] + StoringCalls.removeTopicFromDevices(ofUser: userID, app: app, topic: topic))
            return answers[1].affectedCount > 0
        }
    }

    /// The topics of a device, sorted.
    public func topics(of deviceID: String) throws(RegistryError) -> [String] {
        let call = Call(
            """
            SELECT t.name FROM apus.device d
            JOIN apus.topic_subscription u ON u.device = d.id
            JOIN apus.topic t ON t.id = u.topic
            WHERE d.device_id = $1::text ORDER BY t.name
            """, [.text(deviceID)])
        return try ask([call])[0].map { $0.text(0) }
    }

    /// The topics of an app, by name.
    public func topics(app: String, after topic: String?, limit: Int) throws(RegistryError) -> [TopicCount] {
        let call = Call(
            """
            SELECT t.name, d.number, x.number FROM apus.topic t
            CROSS JOIN LATERAL (
                SELECT count(*) AS number FROM apus.topic_subscription u WHERE u.topic = t.id AND u.source & 1 <> 0) d
            CROSS JOIN LATERAL (SELECT count(*) AS number FROM apus.topic_user u WHERE u.topic = t.id) x
            WHERE t.app = (SELECT a.id FROM apus.app a WHERE a.name = $1::text) AND t.name > $2::text
                AND (d.number > 0 OR x.number > 0)
            ORDER BY t.name LIMIT $3::bigint
            """, [.text(app), .text(topic ?? ""), .integer(Int64(max(limit, 0)))])
        return try ask([call])[0].map { row in
            TopicCount(topic: row.text(0), devices: Int(row.integer(1)), users: Int(row.integer(2)))
        }
    }

    // MARK: Erasing

    /// Erases everything of an identity.
    public func eraseIdentity(_ identityID: String) throws(RegistryError) -> Int {
        let name = Parameter.text(identityID)
        let identity = "(SELECT n.id FROM apus.identity n WHERE n.name = $1::text)"
        let opens = try opensToSubtract(
            ofDevicesWhere: "d.identity = (SELECT n.id FROM \(table: "identity") n WHERE n.name = \(identityID))"
        ).map { Call($0) }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let answers = try transaction.commit(
                [Call("SELECT n.id FROM apus.identity n WHERE n.name = $1::text FOR UPDATE", [name])] + opens + [
                    Call("DELETE FROM apus.device WHERE identity = \(identity)", [name]),
                    Call("DELETE FROM apus.dataset_subscription WHERE identity = \(identity)", [name]),
                    Call("DELETE FROM apus.dataset WHERE identity = \(identity)", [name]),
                    Call("DELETE FROM apus.identity WHERE name = $1::text", [name]),
                ])
            return answers[1 + opens.count].affectedCount
        }
    }

    /// Erases everything of a user.
    public func eraseUser(_ userID: String) throws(RegistryError) -> Int {
        let name = Parameter.text(userID)
        let opens = try opensToSubtract(ofDevicesWhere: "d.user_id = \(userID)").map { Call($0) }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let answers = try transaction.commit(
                [
                    StoringCalls.lockUsers([userID], isShared: false),
                    Call("DELETE FROM apus.subscription WHERE user_id = $1::text", [name]),
                    Call("DELETE FROM apus.topic_user WHERE user_id = $1::text", [name]),
                ] + opens + [Call("DELETE FROM apus.device WHERE user_id = $1::text", [name])])
            return answers.last?.affectedCount ?? 0
        }
    }
}
