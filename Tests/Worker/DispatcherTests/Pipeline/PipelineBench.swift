import Dispatch
import DispatchCore
import Dispatcher
import Essentials
import EventLoop
import Foundation
import Messages
import Metrics
import Notifications
import PushTestKit
import RegistryCore
import StructuredLogging
import Synchronization

@testable import SQLiteRegistry

/// A pipeline between a broker in memory and a scripted transport, with a real registry in a temporary folder.
final class PipelineBench: Sendable {
    let broker = FakeBroker()
    let transport: FakeTransport
    let clock = ManualClocks()
    let dispatch: Dispatch
    let loop: EventLoop
    let metrics = MetricsRegistry()
    private let folder: URL
    private let registryReads: [RegistryClient]
    private let registryWrites: RegistryClient

    /// Makes the parts and starts the pipeline.
    ///
    /// - Parameters:
    ///   - transport: the transport that answers the pushes.
    ///   - registry: the registry; nil for a real one in the folder.
    ///   - apps: the names of the apps; the routes of the n-th are 2n and 2n + 1.
    ///   - delaysMilliseconds: the retry ladder.
    ///   - ageMaximumMilliseconds: how old an event may become.
    ///   - limits: the bounds.
    ///   - timeGoesOn: whether time passes by itself, so that later retries happen; if not, it passes as the test says,
    ///     however slow the machine is.
    ///   - logger: takes the log.
    /// - Throws: the error of a part that cannot be made.
    init(
        transport: FakeTransport, registry: sending InMemoryRegistry? = nil, apps: [String] = ["chat"],
        delaysMilliseconds: [Int64] = [1_000, 60_000], ageMaximumMilliseconds: Int64 = 3_600_000,
        limits: DispatchLimits = DispatchLimits(), timeGoesOn: Bool = true, logger: Logger = .silent
    ) throws {
        self.transport = transport
        // In memory where that can be had: these tests write much, and are not about the disk.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let base =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        folder = base.appendingPathComponent("apus-pipeline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        loop = try EventLoop(name: "dispatch")
        let configuration = PipelineConfiguration(
            apps: apps.enumerated().map { index, name in
                let route = AppRoute(
                    index: index, name: name, bundleID: "com.example.\(name)", productionRoute: 2 * index,
                    sandboxRoute: 2 * index + 1, courierRoute: 2 * apps.count + index)
                return .init(route: route, identityPoolIDs: ["us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"])
            },
            retryPolicy: RetryPolicy(
                delaysMilliseconds: delaysMilliseconds, attemptsMaximum: 3,
                ageMaximumMilliseconds: ageMaximumMilliseconds, serverErrorDelayMilliseconds: 0),
            queues: DispatchQueues(
                retry: Dictionary(uniqueKeysWithValues: delaysMilliseconds.map { ($0, Self.retryQueue($0)) }),
                fanout: "apus.fanout", deadLetter: "apus.dead-letter"),
            limits: limits)
        let clock = clock
        let instruments = RegistryMetrics(metrics)
        func client(_ name: String, _ registry: sending any PipelineRegistry) throws -> RegistryClient {
            RegistryClient(
                loop: try EventLoop(name: name), registry: registry, limits: limits, logger: logger,
                metrics: instruments, nowMilliseconds: { clock.nowMilliseconds })
        }
        let path = folder.path + "/registry.db"
        if let registry {
            // A registry in memory has one owner.
            registryWrites = try client("registry", registry)
            registryReads = [registryWrites]
        } else {
            registryReads = try (1...limits.batchesAskedMaximum).map { number in
                try client(
                    "registry-reads-\(number)",
                    SQLiteRegistry.open(path: path, mode: .create, busyTimeoutMilliseconds: 50))
            }
            registryWrites = try client(
                "registry-writes", SQLiteRegistry.open(path: path, mode: .readWrite, busyTimeoutMilliseconds: 50))
        }
        let parts = PipelineParts(
            source: broker, publisher: broker, transport: transport, registryReads: registryReads,
            registryWrites: registryWrites, now: { timeGoesOn ? clock.nowGoingOn : clock.now })
        dispatch = Dispatch(
            loop: loop, configuration: configuration, parts: parts, metrics: metrics, logger: logger)
        dispatch.start()
    }

    /// The name of the retry queue of a delay.
    static func retryQueue(_ delayMilliseconds: Int64) -> String {
        delayMilliseconds == 60_000 ? "apus.retry.1m" : "apus.retry.\(delayMilliseconds / 1_000)s"
    }

    /// An event that asks for a push to the token of its number, or to so many from there on.
    static func push(
        _ number: Int, tokenCount: Int = 1, app: String = "chat", options: String = "{}"
    ) -> Message {
        let tokens = (number..<number + tokenCount).map { number in
            TestDevices.token(number, filler: "0")
        }
        return TestEvents.message(
            TestEvents.pushRequested("\(app)-\(number)", to: .tokens(tokens), app: app, options: options))
    }

    static func device(_ name: String, identity: String, pool: String) -> Device {
        guard let token = DeviceToken(bytes: Array(name.utf8)) else { preconditionFailure("a name is a valid token") }
        return Device(
            deviceID: name, platform: .apns, token: token, app: "chat", identityPoolID: pool, identityID: identity,
            registeredAtMilliseconds: 0)
    }

    /// Another connection to the registry, as a command or the API has one.
    func registry() throws -> SQLiteRegistry {
        try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readWrite)
    }

    /// A connection to the registry's file, like that of `sqlite3`.
    func connection() throws -> Connection {
        try Connection(path: folder.path + "/registry.db", mode: .readWrite, busyTimeoutMilliseconds: 5_000)
    }

    /// Registers devices through a connection of its own, as an operator's command does.
    func register(_ devices: [Device], dataset: String) throws {
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readWrite)
        try registry.upsert(devices)
        for device in devices { try registry.subscribe(device.deviceID, toDataset: dataset) }
    }

    /// Registers many devices in one transaction, as an import does.
    func registerAtOnce(_ devices: [Device], dataset: String) throws {
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readWrite)
        try registry.register(devices.map { DeviceRegistration(device: $0, datasetNames: [dataset]) })
    }

    /// Subscribes a device to the datasets that its identity gets later.
    func subscribeToFutureDatasets(_ deviceID: String) throws {
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readWrite)
        _ = try registry.subscribeToAllDatasets(deviceID, names: nil, includingFuture: true)
    }

    /// Lets the registry write nothing, as on a disk that is very slow, until the answer is signalled.
    func holdWrites() -> DispatchSemaphore { hold(registryWrites) }

    /// Lets the registry answer no look-up until the answer is signalled; `settledLoop` waits for that, too.
    func holdLookUps() -> DispatchSemaphore { hold(registryReads[0]) }

    private func hold(_ client: RegistryClient) -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        client.loop.submit { gate.wait() }
        return gate
    }

    /// Takes the write lock of the registry, as a long import does, so that datasets cannot be recorded.
    func lockRegistry() throws -> RegistryLock { try RegistryLock(path: folder.path + "/registry.db") }

    /// Waits until the loops have worked off everything that was submitted to them before, and what came of it.
    func settledLoop() async {
        // The pipeline reads the subscriptions before it consumes.
        await broker.wait { $0.isConsuming }
        // A batch that is asked for is answered on a loop of the registry's; what follows from it may be asked again.
        guard (try? await loop.run {}) != nil else { return }
        let loops = [loop] + registryReads.map(\.loop) + [registryWrites.loop]
        await withCheckedContinuation { continuation in
            Self.pass(20 * loops.count, through: loops, then: continuation)
        }
        _ = try? await loop.run {}
    }

    /// Passes through the loops in turns, from loop to loop, whatever keeps the threads of the tests busy.
    private static func pass(_ count: Int, through loops: [EventLoop], then end: CheckedContinuation<Void, Never>) {
        guard count > 0 else { return end.resume() }
        loops[count % loops.count].submit { pass(count - 1, through: loops, then: end) }
    }

    /// Turns the loop, after a step of the test, until a condition is true.
    ///
    /// - Parameters:
    ///   - awaited: the awaited state in words, for the error.
    ///   - step: the test's step before each turn of the loop.
    ///   - condition: looks.
    /// - Throws: `DeadlineExceeded` if the condition never becomes true.
    func turn(_ awaited: String, step: () -> Void, until condition: () -> Bool) async throws {
        try await eventually(awaited) {
            if condition() { return true }
            step()
            await settledLoop()
            return condition()
        }
    }

    /// Waits until the health has the problems that a test expects.
    func waitForHealth(_ isExpected: ([String]) -> Bool) async throws {
        try await eventually("the expected problems") {
            await settledLoop()
            return dispatch.health.problems
        } until: {
            isExpected($0)
        }
    }

    func stop() {
        loop.stopAndJoin()
        for client in registryReads { client.loop.stopAndJoin() }
        registryWrites.loop.stopAndJoin()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// Which routes of a scripted transport are taken away at the moment.
final class RouteSwitch: Sendable {
    private let routes = Mutex<Set<Int>>([])

    /// Whether a route has been taken away.
    func isOff(_ route: Int) -> Bool { routes.withLock { $0.contains(route) } }

    /// Takes routes away.
    func turnOff(_ taken: [Int]) { routes.withLock { $0.formUnion(taken) } }

    /// Gives them back.
    func turnOn(_ given: [Int]) { routes.withLock { $0.subtract(given) } }
}
