import RegistryCore

/// The statements that write topics and who subscribes to them.
///
/// A row of `topic_subscription` says by whose wish a device has a topic: bit 1 is the device's own, bit 2 its user's.
extension StoringCalls {
    /// Adds the topics that an app does not have.
    static func addTopics(_ list: [(name: String, app: String)]) -> Call {
        Call(
            """
            INSERT INTO apus.topic (name, app)
            SELECT DISTINCT r.name, a.id FROM unnest($1::text[], $2::text[]) r(name, app)
            JOIN apus.app a ON a.name = r.app
            WHERE NOT EXISTS (SELECT 1 FROM apus.topic t WHERE t.name = r.name AND t.app = a.id) ORDER BY 1, 2
            ON CONFLICT DO NOTHING
            """, [.texts(list.map(\.name)), .texts(list.map(\.app))])
    }

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

    /// Subscribes devices to topics of their apps, which have been added.
    ///
    /// - Parameters:
    ///   - list: the devices and the names of the topics.
    ///   - limit: how many a device may subscribe to; nil for any number.
    /// - Returns: the statement.
    static func addTopicSubscriptions(_ list: [(deviceID: String, name: String)], limit: Int? = nil) -> Call {
        let insertion = Call(
            """
            INSERT INTO apus.topic_subscription AS u (topic, device, source)
            SELECT DISTINCT t.id, d.id, 1 FROM unnest($1::text[], $2::text[]) r(device, name)
            JOIN apus.device d ON d.device_id = r.device JOIN apus.topic t ON t.name = r.name AND t.app = d.app
            ON CONFLICT (topic, device) DO UPDATE SET source = u.source | 1 WHERE u.source & 1 = 0
            """, [.texts(list.map(\.deviceID)), .texts(list.map(\.name))])
        return QuotaCalls.adding(
            insertion, returning: "u.device", of: "device",
            before: "SELECT count(*) FROM apus.topic_subscription x WHERE x.device = a.device AND x.source & 1 <> 0",
            .topicsPerOwner, limit: limit)
    }

    /// Ends a device's own wish for a topic, as two statements: the first changes a row if there was such a wish.
    static func removeTopicSubscription(_ deviceID: String, _ topic: String) -> [Call] {
        let parameters: [Parameter] = [.text(deviceID), .text(topic)]
        let row = """
            d.device_id = $1::text AND t.name = $2::text AND t.app = d.app AND u.topic = t.id AND u.device = d.id
            """
        return [
            Call(
                """
                UPDATE apus.topic_subscription u SET source = u.source & ~1 FROM apus.device d, apus.topic t
                WHERE \(row) AND u.source & 1 <> 0
                """, parameters),
            Call(
                """
                DELETE FROM apus.topic_subscription u USING apus.device d, apus.topic t
                WHERE \(row) AND u.source = 0
                """, parameters),
        ]
    }

    // MARK: Users

    /// Gives devices the topics that their users have in their apps.
    static func inherit(_ deviceIDs: [String]) -> Call {
        Call(
            """
            INSERT INTO apus.topic_subscription AS u (topic, device, source)
            SELECT t.id, d.id, 2 FROM unnest($1::text[]) r(device)
            JOIN apus.device d ON d.device_id = r.device JOIN apus.topic_user x ON x.user_id = d.user_id
            JOIN apus.topic t ON t.id = x.topic AND t.app = d.app
            ON CONFLICT (topic, device) DO UPDATE SET source = u.source | 2
            """, [.texts(deviceIDs)])
    }

    /// Takes from devices the topics of the users that they had.
    static func disinherit(_ rows: [Int64]) -> [Call] {
        [
            Call(
                """
                UPDATE apus.topic_subscription SET source = source & ~2 WHERE device = ANY ($1::bigint[])
                    AND source & 2 <> 0
                """, [.integers(rows)]),
            Call(
                "DELETE FROM apus.topic_subscription WHERE device = ANY ($1::bigint[]) AND source = 0",
                [.integers(rows)]),
        ]
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

    /// Ends a user's subscription to a topic.
    static func removeTopicUser(_ userID: String, app: String, topic: String) -> Call {
        Call(
            """
            DELETE FROM apus.topic_user u USING apus.app a, apus.topic t
            WHERE u.user_id = $1::text AND a.name = $2::text AND t.app = a.id AND t.name = $3::text AND u.topic = t.id
            """, [.text(userID), .text(app), .text(topic)])
    }

    /// Takes a topic from the devices of a user, unless they wish it themselves.
    static func removeTopicFromDevices(ofUser userID: String, app: String, topic: String) -> [Call] {
        let parameters: [Parameter] = [.text(userID), .text(app), .text(topic)]
        let row = """
            d.user_id = $1::text AND a.name = $2::text AND t.app = a.id AND t.name = $3::text
            AND d.app = a.id AND u.topic = t.id AND u.device = d.id
            """
        return [
            Call(
                """
                UPDATE apus.topic_subscription u SET source = u.source & ~2
                FROM apus.device d, apus.app a, apus.topic t WHERE \(row)
                """, parameters),
            Call(
                """
                DELETE FROM apus.topic_subscription u USING apus.device d, apus.app a, apus.topic t
                WHERE \(row) AND u.source = 0
                """, parameters),
        ]
    }
}
