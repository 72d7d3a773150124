extension BenchmarkDocuments {
    /// A row of the table of capacity: what a worker, a device or a subscription takes.
    private struct Unit {
        var text: String
        var figure: String
        var unit = ""
    }

    private static let units = [
        Unit(
            text: "events a second of one worker, one device each, SQLite",
            figure: "events_per_second_worker_one_to_one"),
        Unit(
            text: "the same with PostgreSQL on the same two cores", figure: "events_per_second_worker_postgresql"),
        Unit(text: "processor time of such an event", figure: "cpu_per_push_worker_one_to_one", unit: " µs"),
        Unit(
            text: "pushes a second of one worker, an event to a million devices",
            figure: "pushes_per_second_large_fan_out"),
        Unit(
            text: "processor time of a push, an event to 100 000 devices",
            figure: "cpu_per_push_peers_100000_devices_sqlite_apus", unit: " µs"),
        Unit(
            text: "events a second that one work queue takes in", figure: "events_per_second_published_1_work_queue"),
        Unit(
            text: "memory of a worker, a million devices, a thousand pushes in flight",
            figure: "resident_memory_1000000_devices_1000_in_flight", unit: " MiB"),
        Unit(
            text: "memory of ten million different predicates, in each worker",
            figure: "curve_subscriptions_memory_index_from_10k_to_10M", unit: " MiB"),
        Unit(
            text: "start of a worker with ten million subscriptions in PostgreSQL",
            figure: "seconds_to_read_10000000_subscriptions_postgresql", unit: " s"),
        Unit(text: "a device in SQLite", figure: "curve_devices_size_SQLite_from_10k_to_3M", unit: " B"),
        Unit(text: "registrations a second by `apus device import`", figure: "devices_per_second_import_1000000"),
        Unit(text: "subscriptions saved a second, SQLite", figure: "subscriptions_saved_per_second_sqlite_1000000"),
        Unit(text: "subscriptions saved a second, PostgreSQL", figure: "subscriptions_saved_per_second_postgresql"),
    ]

    /// Writes the table of the resources of each worker, device and subscription.
    static func capacity(_ results: [BenchmarkResult]) throws(BenchmarkFailure) -> String {
        let newest = try newest(results.filter { result in units.contains { $0.figure == result.name } })
        var text = "| \(newest.date), \(newest.machine) | measured |\n|---|--:|\n"
        for unit in units {
            text += "| \(unit.text) | \(number(try result(unit.figure, in: results).value))\(unit.unit) |\n"
        }
        return text + brokers(results)
    }

    /// Writes the table of an event's cost with each measured version of RabbitMQ.
    private static func brokers(_ results: [BenchmarkResult]) -> String {
        let figures = BrokersScenario.Figure.allCases
        let versions = results.compactMap { BrokersScenario.Figure.eventsPublished.version(in: $0.name) }
        guard !versions.isEmpty else { return "" }
        var text = "\n| RabbitMQ | \(figures.map(\.title).joined(separator: " | ")) |\n"
        text += "|---|\(figures.map { _ in "--:|" }.joined())\n"
        for version in versions {
            let cells = figures.map { figure in
                results.first { $0.name == figure.name(of: version) }.map { "\(number($0.value))" } ?? ""
            }
            text += "| \(version) | \(cells.joined(separator: " | ")) |\n"
        }
        return text
    }
}
