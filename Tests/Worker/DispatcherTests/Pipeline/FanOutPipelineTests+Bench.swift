import DispatchCore
import Dispatcher
import Messages
import Notifications
import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

/// The common parts of the tests of large audiences: events, devices, and benches that plan and serve.
extension FanOutPipelineTests {
    static let chunks = "apus.fanout"

    func message(_ body: String) -> Message { TestEvents.message(body) }

    func event(_ identifier: String, body: String = "hello", app: String = "chat") -> Message {
        message(
            TestEvents.pushRequested(
                identifier, to: .topic("news"), app: app, notification: #"{"body":"\#(body)"}"#))
    }

    var limits: DispatchLimits {
        var limits = DispatchLimits()
        limits.devicesPerPageMaximum = 10
        limits.devicesPerBulkPageMaximum = 10
        limits.bulkDevicesWaitingMaximum = 0
        limits.fanOutThresholdDevices = 20
        limits.devicesPerChunkMaximum = 25
        return limits
    }

    func registration(_ name: String) throws -> DeviceRegistration {
        DeviceRegistration(
            device: Device(
                deviceID: name, platform: .apns, token: try #require(DeviceToken(bytes: Array(name.utf8))), app: "chat",
                userID: "crowd", registeredAtMilliseconds: 0), topics: ["news"])
    }

    func bench(
        _ transport: FakeTransport = FakeTransport(), devices: Int = 60, limits: DispatchLimits? = nil
    ) throws -> PipelineBench {
        let bench = try PipelineBench(transport: transport, limits: limits ?? self.limits)
        try bench.registry().register(try (0..<devices).map { try registration("device-\($0)") })
        return bench
    }

    /// A bench that has planned the chunks of an event, and whose APNs answers nothing until `answerAll`.
    func plannedBench(pushesInFlightMaximum: Int? = nil) async throws -> PipelineBench {
        var limits = limits
        if let pushesInFlightMaximum { limits.pushesInFlightMaximum = pushesInFlightMaximum }
        let bench = try bench(FakeTransport { _, _ in nil }, limits: limits)
        await plan(bench, event("1"))
        return bench
    }

    func waitForRequests(_ count: Int, _ bench: PipelineBench) async throws {
        try await eventually("\(count) requests") {
            await bench.settledLoop()
            return bench.transport.requests.count
        } until: {
            $0 >= count
        }
    }

    func answerAll(_ bench: PipelineBench) { bench.transport.answerAll(.answered(PushAnswer(status: 200))) }

    /// Answers whatever is sent, for as long as so many deliveries are not settled.
    func answerAll(_ bench: PipelineBench, whileUnacknowledged count: Int) async throws {
        try await bench.turn("an end of \(count) deliveries") {
            answerAll(bench)
        } until: {
            bench.broker.unacknowledgedCount != count
        }
    }

    func plan(
        _ bench: PipelineBench, _ message: Message, isRedelivered: Bool = false, unacknowledged count: Int = 0
    ) async {
        bench.broker.deliver([message], isRedelivered: isRedelivered)
        await bench.broker.wait { $0.unacknowledgedCount == count }
    }

    /// Registers 60 devices of each app.
    func registerCrowds(_ bench: PipelineBench, apps: [String]) throws {
        for app in apps {
            try bench.registry().register(
                try (0..<60).map { number in
                    var registration = try registration("\(app)-\(number)")
                    registration.device.app = app
                    return registration
                })
        }
    }

    func serve(_ bench: PipelineBench) async {
        bench.broker.deliverQueued(in: Self.chunks)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
    }

    func names(_ bench: PipelineBench) -> [String] {
        bench.transport.requests.map { String(decoding: $0.token.bytes, as: UTF8.self) }
    }

    func expectEachOnce(
        _ bench: PipelineBench, _ count: Int = 60, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let names = names(bench)
        #expect(names.count == count && Set(names).count == count, sourceLocation: sourceLocation)
        let ledger = try await bench.dispatch.pushCounts()[0]
        #expect(ledger.accepted == count && ledger.isBalanced, sourceLocation: sourceLocation)
    }
}
