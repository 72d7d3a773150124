import ChangeEvents
import Foundation
import PredicateIndex
import RegistryCore
import SQLiteRegistry

/// The stores: devices in SQLite, and the index of record subscriptions.
extension CurvesScenario {
    private static let lookUps = Scale.of(100_000, small: 1_000)
    private static let batch = 100
    private static let changes = Scale.of(20_000, small: 500)
    private static let lot = 50

    /// Shows the cost of looking up, storing and importing a device, with 10⁴ devices and more.
    func showDevices() async throws {
        var lookUp = Curve.Series(name: "SQLite")
        var size = Curve.Series(name: "SQLite")
        var imported = Curve.Series(name: "SQLite")
        for count in Scale.of([10_000, 100_000, 1_000_000, 3_000_000], small: [1_000, 5_000]) + farEnd {
            let figures = try await devices(count)
            let x = Double(count)
            lookUp.points.append(.init(x: x, y: figures.lookUpMicroseconds))
            size.points.append(.init(x: x, y: figures.bytesPerDevice))
            imported.points.append(.init(x: x, y: figures.importedPerSecond))
        }
        try show(
            Curve(
                name: "devices-lookup", title: "Looking up one device of many, in batches of 100", xTitle: "devices",
                yTitle: "time a look-up, µs", series: [lookUp]))
        try show(
            Curve(
                name: "devices-size", title: "Size of the registry's file for each device", xTitle: "devices",
                yTitle: "size, B", series: [size]))
        try show(
            Curve(
                name: "devices-import", title: "Importing devices into an empty registry", xTitle: "devices",
                yTitle: "devices, 1/s", series: [imported]))
    }

    /// The figures of a registry.
    struct DeviceFigures {
        var lookUpMicroseconds: Double
        var bytesPerDevice: Double
        var importedPerSecond: Double
    }

    /// Makes a registry of so many devices, measures it, and removes it.
    func devices(_ count: Int) async throws -> DeviceFigures {
        let name = "devices-\(count).db"
        let path = bench.folder + "/" + name
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let lines = ContinuousClock.now
        try await bench.importDevices(count, into: name) { $0 }
        let seconds = lines.duration(to: .now).seconds
        let bytes = ["", "-wal"].reduce(0.0) { sum, end in
            let size = try? FileManager.default.attributesOfItem(atPath: path + end)[.size] as? NSNumber
            return sum + (size?.doubleValue ?? 0)
        }
        let registry = try SQLiteRegistry.open(path: path, mode: .readWrite)
        _ = try lookUp(in: registry, of: count)
        let microseconds = try lookUp(in: registry, of: count)
        return DeviceFigures(
            lookUpMicroseconds: microseconds, bytesPerDevice: bytes / Double(count),
            importedPerSecond: Double(count) / seconds)
    }

    /// The processor time of looking up devices from all over a registry.
    private func lookUp(in registry: SQLiteRegistry, of count: Int) throws -> Double {
        let cpu = ProcessorTime.ownMicroseconds()
        for round in 0..<Self.lookUps / Self.batch {
            let requests = (0..<Self.batch).map { index in
                let device = ((round * Self.batch + index) &* 7_368_787) % count
                return AudienceRequest(audience: .dataset(RegisteredDevice.dataset(device)))
            }
            _ = try registry.resolve(requests, limit: 250)
        }
        return (ProcessorTime.ownMicroseconds() - cpu) / Double(Self.lookUps)
    }

    /// Shows the cost of the index of subscriptions, with 10⁴ to 10⁷ different predicates of eight shapes.
    func showSubscriptions() throws {
        var match = Curve.Series(name: "a change in lots of \(Self.lot)")
        var size = Curve.Series(name: "index")
        var start = Curve.Series(name: "index")
        for count in Scale.of([10_000, 100_000, 1_000_000, 10_000_000], small: [1_000, 5_000]) {
            var run = try MatchingRun(.uniform, 8, 0, count: count)
            _ = run.matchTogether(Self.changes, lot: Self.lot)
            let x = Double(count)
            match.points.append(.init(x: x, y: run.matchTogether(Self.changes, lot: Self.lot).median))
            size.points.append(.init(x: x, y: Double(run.index.memoryBytes) / 1_048_576))
            start.points.append(.init(x: x, y: x / run.addedPerSecond))
        }
        try show(
            Curve(
                name: "subscriptions-match", title: "Matching a change against subscriptions",
                xTitle: "different predicates", yTitle: "time a change, µs", series: [match]))
        try show(
            Curve(
                name: "subscriptions-memory", title: "Memory of the index of subscriptions",
                xTitle: "different predicates", yTitle: "memory, MiB", series: [size]))
        try show(
            Curve(
                name: "subscriptions-start", title: "Building the index of subscriptions",
                xTitle: "different predicates", yTitle: "time, s", series: [start]))
    }
}
