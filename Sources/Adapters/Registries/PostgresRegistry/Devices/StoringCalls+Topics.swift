import RegistryCore

/// The statements that write topics and who subscribes to them.
///
/// A row of `topic_subscription` says by whose wish a device has a topic: bit 1 is the device's own, bit 2 its user's.
extension StoringCalls {
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
