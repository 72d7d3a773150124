public import Notifications
public import RegistryCore

extension RegistryTransfer where Self: SQLStore {
    /// The datasets that the registry knows.
    public func knownDatasets(after key: DatasetKey?, limit: Int) throws(RegistryError) -> [DatasetKey] {
        let last = (key?.identityID ?? "", key?.identityPoolID ?? "", key?.datasetName ?? "")
        return try ask(
            """
            SELECT n.name, p.name, s.name FROM \(table: "identity") n CROSS JOIN \(table: "dataset") k
            CROSS JOIN \(table: "identity_pool") p CROSS JOIN \(table: "dataset_name") s
            WHERE k.identity = n.id AND p.id = k.identity_pool AND s.id = k.dataset_name AND n.name >= \(last.0)
                AND (n.name, p.name, s.name) > (\(last.0), \(last.1), \(last.2))
            ORDER BY n.name, p.name, s.name LIMIT \(Int64(max(limit, 0)))
            """
        ) { DatasetKey(identityPoolID: $0.text(1), identityID: $0.text(0), datasetName: $0.text(2)) }
    }

    /// The users' subscriptions to topics.
    public func topicUsers(after last: TopicUser?, limit: Int) throws(RegistryError) -> [TopicUser] {
        let last = (last?.userID ?? "", last?.app ?? "", last?.topic ?? "")
        return try ask(
            """
            SELECT x.user_id, a.name, t.name
            FROM \(table: "topic_user") x CROSS JOIN \(table: "topic") t CROSS JOIN \(table: "app") a
            WHERE t.id = x.topic AND a.id = t.app AND x.user_id >= \(last.0)
                AND (x.user_id, a.name, t.name) > (\(last.0), \(last.1), \(last.2))
            ORDER BY x.user_id, a.name, t.name LIMIT \(Int64(max(limit, 0)))
            """
        ) { TopicUser(userID: $0.text(0), app: $0.text(1), topic: $0.text(2)) }
    }

    /// All configurations of identity pools.
    public func poolConfigurations() throws(RegistryError) -> [PoolConfiguration] {
        try ask("SELECT identity_pool, content FROM \(table: "pool_configuration") ORDER BY identity_pool") {
            PoolConfiguration(identityPoolID: $0.text(0), json: $0.bytes(1))
        }
    }
}
