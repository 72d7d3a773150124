import RegistryCore

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
    /// A device by its identifier, of any app.
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

/// One kind of question, as statements that ask it for many probes at once.
///
/// The probes are a `VALUES` table with one row each, joined to the registry in the order of the probes. SQLite needs
/// the number of rows when it prepares a statement, so there is one for each power of four, prepared at its first use;
/// spare rows are NULL and match nothing.
///
/// Measured in C with 10 000 devices, in batches of 100, per event: this 2.6 µs; a statement run for each event 5.5 µs;
/// probes as JSON through `json_each` 10 µs; and 2 µs more if names of pools and datasets are joined, too, instead of
/// being known by number.
final class AudienceQuery {
    /// The content of a probe's first column.
    enum Name {
        /// No name: the query takes numbers only.
        case none
        /// A text.
        case text
        /// Bytes.
        case bytes
    }

    private static let capacities = [1, 4, 16, 64, 256]

    private let name: Name
    private let numberCount: Int
    private let select: String
    private let connection: Connection
    private var statements: [Int: (statement: Statement, boundRows: Int)] = [:]

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - name: the content of a probe's column `name`.
    ///   - numbers: the names of the columns that hold a probe's numbers.
    ///   - columns: the columns after the probe's index, beginning with a comma; may be empty.
    ///   - from: the joins with the table `r` of probes.
    ///   - connection: the connection to ask.
    init(name: Name, numbers: [String], columns: String, from: String, connection: Connection) {
        self.name = name
        numberCount = numbers.count
        let probeColumns = (["k"] + (name == .none ? [] : ["name"]) + numbers).joined(separator: ", ")
        select = "WITH r (\(probeColumns)) AS (VALUES %) SELECT r.k\(columns) FROM r \(from)"
        self.connection = connection
    }

    /// Asks for every probe of the buffer.
    ///
    /// - Parameters:
    ///   - buffer: the probes.
    ///   - row: called for each row, in the order of the probes; the row's columns begin at 1. If it answers false, the
    ///     remaining rows of that request are left out, at no cost.
    /// - Throws: `RegistryError` if the store cannot answer, or what `row` throws.
    func run(
        _ buffer: ProbeBuffer, row: (Int, Statement) throws(RegistryError) -> Bool
    ) throws(RegistryError) {
        var start = 0
        while start < buffer.probes.count {
            start = try run(buffer, from: start, row: row)
        }
    }

    /// Runs once, up to the end or to a request whose rows are not wanted any more.
    ///
    /// - Returns: the probe to go on with.
    private func run(
        _ buffer: ProbeBuffer, from start: Int, row: (Int, Statement) throws(RegistryError) -> Bool
    ) throws(RegistryError) -> Int {
        let count = buffer.probes.count - start
        let capacity = Self.capacities.first { $0 >= count } ?? ProbeBuffer.probesMaximum
        let statement = try statement(capacity)
        return try buffer.names.withUnsafeBufferPointer { bytes throws(RegistryError) -> Int in
            defer { statement.reset() }
            bind(statement, buffer.probes[start...], bytes, capacity: capacity)
            while try statement.step() {
                let index = start + Int(statement.integer(0))
                if try !row(index, statement) {
                    let request = buffer.probes[index].request
                    return buffer.probes[index...].firstIndex { $0.request != request } ?? buffer.probes.count
                }
            }
            return buffer.probes.count
        }
    }

    private func statement(_ capacity: Int) throws(RegistryError) -> Statement {
        if let known = statements[capacity] { return known.statement }
        let parameters = Array(repeating: "?", count: numberCount + (name == .none ? 0 : 1)).joined(separator: ",")
        let rows = (0..<capacity).map { "(\($0),\(parameters))" }.joined(separator: ",")
        let parts = select.split(separator: "%", maxSplits: 1)
        let statement = try Statement("\(parts[0])\(rows)\(parts[1])", connection: connection)
        statements[capacity] = (statement, 0)
        return statement
    }

    private func bind(
        _ statement: Statement, _ probes: ContiguousArray<Probe>.SubSequence, _ bytes: UnsafeBufferPointer<UInt8>,
        capacity: Int
    ) {
        var parameter: Int32 = 1
        for probe in probes {
            if name != .none {
                let part = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[probe.name]))
                statement.bindBorrowed(parameter, part, isText: name == .text)
                parameter += 1
            }
            if numberCount > 0 { statement.bind(parameter, probe.numbers.0) }
            if numberCount > 1 { statement.bind(parameter + 1, probe.numbers.1) }
            if numberCount > 2 { statement.bind(parameter + 2, probe.numbers.2) }
            if numberCount > 3 { statement.bind(parameter + 3, probe.numbers.3) }
            parameter += Int32(numberCount)
        }
        // The last run left values in rows that this one does not use.
        let parametersPerRow = numberCount + (name == .none ? 0 : 1)
        let stale = (statements[capacity]?.boundRows ?? 0) * parametersPerRow
        while parameter <= Int32(stale) {
            statement.bindNull(parameter)
            parameter += 1
        }
        statements[capacity]?.boundRows = probes.count
    }
}

/// The queries of `measure` for audiences that may be very large: they read only the rows of devices, from an index
/// alone.
///
/// Measured with 30 000 devices: an index alone takes a tenth of the time of looking at each device, if only at when it
/// joined.
struct CountingQueries {
    /// The devices of an identity: name = identity; then app, row to go on after.
    let identityDevices: AudienceQuery
    /// The devices of a user: the same for the user's name.
    let userDevices: AudienceQuery
    /// The subscribers of a topic: the same for the topic's name.
    let topicSubscribers: AudienceQuery

    /// Creates the questions; nothing is prepared yet.
    init(connection: Connection) {
        func rows(_ column: String, _ from: String) -> AudienceQuery {
            AudienceQuery(
                name: .text, numbers: ["app", "after"], columns: ", \(column)", from: from, connection: connection)
        }
        let isLater = "d.app = r.app AND d.id > r.after"
        identityDevices = rows(
            "d.id",
            "CROSS JOIN identity n ON n.name = r.name CROSS JOIN device d ON d.identity = n.id AND \(isLater)")
        userDevices = rows("d.id", "CROSS JOIN device d ON d.user_id = r.name AND \(isLater)")
        topicSubscribers = rows(
            "u.device",
            """
            CROSS JOIN topic t ON t.name = r.name AND t.app = r.app
            CROSS JOIN topic_subscription u ON u.topic = t.id AND u.device > r.after
            """)
    }
}
