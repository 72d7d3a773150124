import PushTestKit

/// The effect of one push service's trouble on the pushes of the same app to another service.
///
/// Every fifth event of a full queue is for a device of the service that is in trouble.
///
/// Each time a new worker empties a queue like it, after the same with both services well. The way to each service is
/// the limit, so that only what the services share in the worker could make them slow each other.
struct BulkheadScenario {
    /// The two push services of the app.
    private enum Service: String {
        case apns, fcm

        var other: Service { self == .apns ? .fcm : .apns }

        /// Two connections, 1 600 pushes a second.
        var simulatorArguments: [String] {
            switch self {
            case .apns: ["--trusting", "--first-streams", "40", "--max-streams", "40", "--latency", "50"]
            case .fcm: ["--trusting", "--latency", "125"]
            }
        }
    }

    private struct Trouble {
        let name: String
        /// The service that is in trouble.
        let service: Service
        let fault: String
    }

    private static let allTroubles = [
        Trouble(name: "unanswered", service: .fcm, fault: #"{"fault":"silence"}"#),
        Trouble(
            name: "throttled", service: .fcm,
            fault: #"{"fault":"answer","status":429,"reason":"RATE_LIMIT_EXCEEDED"}"#),
        Trouble(
            name: "account_refused", service: .fcm,
            fault: #"{"fault":"answer","on":"oauth","status":400,"reason":"account_not_found"}"#),
        Trouble(name: "unanswered", service: .apns, fault: #"{"fault":"silence"}"#),
    ]
    /// With small counts one of each service: the others differ in their faults alone.
    private static let troubles = Scale.of(allTroubles, small: [allTroubles[1], allTroubles[3]])
    /// How many events the service has that is well.
    private static let events = Scale.of(8_000, small: 400)
    private static let eventsBetween = 400
    private static let otherEventsBetween = 100

    let bench: Workbench
    let report: Report

    func run() async throws {
        let services: [Service] = [.fcm, .apns]
        let count = (services.count + Self.troubles.count) * Self.events
        try await bench.importDevices(count, into: "bulkheads.db") { $0 }
        try await bench.importLines(count, intoRegistry: bench.registryURL("bulkheads.db")) {
            RegisteredDevice.androidLine(count + $0, identity: count + $0)
        }
        var first = 0
        func next() -> Devices {
            defer { first += Self.events }
            return Devices(first: first, androids: count)
        }
        for service in services {
            let reference = try await pushedPerSecond(service.other, beside: service, fault: "", next())
            for trouble in Self.troubles where trouble.service == service {
                let beside = try await pushedPerSecond(service.other, beside: service, fault: trouble.fault, next())
                report.add(
                    "pushes_per_second_\(service.other.rawValue)_beside_\(service.rawValue)_\(trouble.name)", beside,
                    "1/s", reference: reference, budget: .ratioAtLeast(0.9))
            }
        }
    }

    /// Where the iPhones and Androids of a run begin.
    private struct Devices {
        var first: Int
        var androids: Int

        func number(_ index: Int, of service: Service) -> Int { first + index + (service == .fcm ? androids : 0) }
    }

    /// Fills a queue with events for both services, and lets a new worker empty it.
    ///
    /// - Parameters:
    ///   - well: the service that is well.
    ///   - other: the other one.
    ///   - fault: the fault of the other one; none if it is empty.
    ///   - devices: the devices, each of which gets an event once.
    /// - Returns: how many pushes the service that is well had in a second.
    /// - Throws: `BenchmarkFailure` if a process does not start or does not get on.
    private func pushedPerSecond(
        _ well: Service, beside other: Service, fault: String, _ devices: Devices
    ) async throws -> Double {
        let file = try bench.write("bulkhead-faults.ndjson", fault)
        func arguments(_ service: Service) -> [String] {
            service.simulatorArguments + (service == other ? ["--faults", file] : [])
        }
        let apns = try await bench.startSimulator(arguments(.apns))
        defer { apns.kill() }
        let fcm = try await SimulatorProcess.startFCM(in: bench.temporary, arguments(.fcm))
        defer { fcm.kill() }
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        try configure(broker: broker.url, apns: apns.port, fcm: fcm.port)
        try await bench.apus("topology", "apply")
        try await bench.publish(Self.load(devices, well: well), to: broker)
        return try await bench.emptyQueue(
            #"app="chat",service="\#(well.rawValue)",outcome="accepted""#, eventCount: Self.events)
    }

    /// Writes `apus.toml` for an app with two connections to each service.
    private func configure(broker: String, apns: UInt16, fcm: UInt16) throws {
        var app = TestConfiguration.App(endpoint: "127.0.0.1:\(apns)")
        app.more = """
            connections = 2
            connections_max = 2
            [app.fcm]
            service_account_file = "account.json"
            endpoint = "127.0.0.1:\(fcm)"
            token_url = "https://127.0.0.1:\(fcm)/token"
            ca_file = "fcm.pem"
            connections = 2
            connections_max = 2
            """
        var configuration = TestConfiguration(brokerURLs: [broker], apps: [app])
        configuration.registryURL = bench.registryURL("bulkheads.db")
        configuration.retry = ""
        try bench.write("apus.toml", configuration.text)
    }

    /// Every fifth event is for the service that may be in trouble, in runs.
    private static func load(_ devices: Devices, well: Service) -> BenchmarkLoad {
        let period = eventsBetween + otherEventsBetween
        return BenchmarkLoad(count: events / eventsBetween * period) { index in
            let (run, position) = index.quotientAndRemainder(dividingBy: period)
            let isWell = position < eventsBetween
            let device =
                isWell ? run * eventsBetween + position : run * otherEventsBetween + position - eventsBetween
            return RegisteredDevice.message(devices.number(device, of: isWell ? well : well.other))
        }
    }
}
