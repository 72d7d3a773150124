import PushCore

/// The statements that move a registry.
enum TransferCalls {
    /// The named devices with everything that is theirs.
    static func devices(_ deviceIDs: [String]) -> Call {
        devices(named: "unnest($1::text[]) r(name)", [.texts(deviceIDs)])
    }

    /// A page of the devices in their order, with everything that is theirs.
    static func devices(after deviceID: String?, limit: Int) -> Call {
        // No identifier has a NUL, so what follows one makes no difference.
        let after = String(decoding: (deviceID ?? "").utf8.prefix { $0 != 0 }, as: UTF8.self)
        let page = """
            (SELECT x.device_id AS name FROM device x WHERE x.device_id > $1::text
                ORDER BY x.device_id LIMIT $2::bigint) r
            """
        return devices(named: page, [.text(after), .integer(Int64(max(limit, 0)))])
    }

    /// Devices whose names are the rows `r(name)`.
    ///
    /// The columns of a device, badge, names of datasets, whether datasets to come are among them, topics, further
    /// tokens (kind, digits and moment with blanks between); lists are bytes, each name followed by a zero byte.
    private static func devices(named names: String, _ parameters: [Parameter]) -> Call {
        func list(_ name: String, _ from: String) -> String {
            // An empty aggregate is NULL, which reads as no name.
            "(SELECT string_agg(convert_to(\(name), 'UTF8') || '\\x00'::bytea, NULL ORDER BY \(name)) FROM \(from))"
        }
        let datasets = """
            dataset_subscription u JOIN dataset_name s ON s.id = u.dataset_name
            WHERE u.device = d.id AND u.dataset_name <> \(Schema.futureDatasets)
            """
        let topics = """
            topic_subscription u JOIN topic t ON t.id = u.topic WHERE u.device = d.id AND u.source & 1 <> 0
            """
        let token = "t.kind || ' ' || encode(t.token, 'hex') || ' ' || t.registered_at"
        return Call(
            """
            SELECT \(PostgresRegistry.deviceColumns), d.badge, \(list("s.name", datasets)),
                EXISTS (SELECT 1 FROM dataset_subscription u WHERE u.identity = d.identity
                    AND u.dataset_name = \(Schema.futureDatasets) AND u.device = d.id),
                \(list("t.name", topics)), \(list(token, "device_token t WHERE t.device = d.id"))
            FROM \(names) JOIN device d ON d.device_id = r.name \(PostgresRegistry.deviceNames)
            ORDER BY d.device_id
            """, parameters)
    }

    /// Gives devices, which are there, what their records have, and takes from them what these do not have.
    static func fill(_ records: [DeviceRecord], _ plan: RegistrationPlan) -> [Call] {
        let names = records.map(\.device.deviceID)
        let future = records.filter(\.includesFutureDatasets).map { (deviceID: $0.device.deviceID, name: "*") }
        let own = "u.device IN (SELECT d.id FROM unnest($1::text[]) r(name) JOIN device d ON d.device_id = r.name)"
        return [
            Call("DELETE FROM dataset_subscription u WHERE \(own)", [.texts(names)]),
            Call("UPDATE topic_subscription u SET source = source & ~1 WHERE \(own)", [.texts(names)]),
            Call("DELETE FROM topic_subscription u WHERE source = 0 AND \(own)", [.texts(names)]),
            StoringCalls.addDatasets(plan.learnedDatasets),
            StoringCalls.addDatasetSubscriptions(plan.datasetSubscriptions + future),
            StoringCalls.addTopics(plan.topics), StoringCalls.addTopicSubscriptions(plan.topicSubscriptions),
            Call(
                """
                UPDATE device d SET badge = r.badge FROM unnest($1::text[], $2::bigint[]) r(name, badge)
                WHERE d.device_id = r.name AND d.badge <> r.badge
                """, [.texts(names), .integers(records.map { Int64($0.badge) })]),
        ] + TokenCalls.fill(records)
    }
}
