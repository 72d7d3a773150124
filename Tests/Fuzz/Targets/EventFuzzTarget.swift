import ChangeEvents
import Dispatch
import DispatchCore
import Essentials
import EventLoop
import Messages
import Metrics
import Notifications
import Predicates
import PushTestKit
import RegistryCore
import StructuredLogging
import Synchronization

@testable import AMQP
@testable import ChangeQueue
@testable import Dispatcher

/// Sends messages through the pipeline of a worker: each part is the body of one, and the choices are its properties,
/// its headers, the answers of the push service, and what the broker says to each copy.
///
/// Each delivery must be settled once, and not before the broker has its copies. Requeued messages are delivered again,
/// as a retry queue does, for a few rounds. The books must balance at the end.
struct EventFuzzTarget: FuzzTarget {
    private static let messagesMaximum = 6
    private static let roundsMaximum = 5
    private static let secondsMaximum = 20
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    private static let identity = "us-east-1:85f3a6d0-5b1e-4c2d-8f6a-0e9d7c6b5a41"

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        var input = input
        let messages = input.parts.prefix(Self.messagesMaximum).map { Self.message($0, &input) }
        let classes = messages.map { _ in input.choice([DeliveryClass.interactive, .interactive, .bulk]) }
        let isRedelivered = input.choice([false, true])
        // The headers of a worker count only on what was published to the default exchange.
        let exchange = input.choice(["apus.changes", ""])
        let world = FuzzWorld(input)
        guard let loop = try? EventLoop(name: "fuzz-event") else { throw FuzzFailure("there is no thread") }
        defer {
            loop.stopAndJoin()
            world.release()
        }
        let pipeline = try Self.start(world, loop).get()
        // The pipeline and what brings it its answers hold each other.
        defer { Self.onLoop(loop) { pipeline.value.inbox = nil } }
        world.deliver(zip(messages, classes).map { ($0, $1) }, exchange: exchange, isRedelivered: isRedelivered)
        for _ in 0..<Self.roundsMaximum {
            try settle(world)
            let requeued = world.takeQueued()
            guard !requeued.isEmpty else { break }
            world.clock.advance(milliseconds: 900_000)
            world.deliver(requeued.map { ($0, $1) })
        }
        try settle(world)
        let pushCounts = Self.onLoop(loop) { pipeline.value.machine.dispatch.pushCounts }
        try promise(pushCounts.allSatisfy(\.isBalanced), "the books do not balance: \(pushCounts)")
        try promise(
            pushCounts.allSatisfy { $0.inFlight == 0 }, "pushes of settled deliveries are in flight: \(pushCounts)")
    }

    private func settle(_ world: FuzzWorld) throws(FuzzFailure) {
        let isSettled = world.waitUntilSettled(seconds: Self.secondsMaximum)
        if let failure = world.failure { throw FuzzFailure(failure) }
        try promise(isSettled, "a delivery was not settled within \(Self.secondsMaximum) s")
    }

    // MARK: The worker

    private static func onLoop<Value: Sendable>(_ loop: EventLoop, _ work: @escaping @Sendable () -> Value) -> Value {
        let answer = Answer<Value>()
        loop.submit { answer.set(work()) }
        return answer.wait()
    }

    private static func start(_ world: FuzzWorld, _ loop: EventLoop) -> Result<LoopBound<Pipeline>, FuzzFailure> {
        onLoop(loop) {
            let registry = InMemoryRegistry()
            do { try fill(registry) } catch { return .failure(FuzzFailure("the registry refuses \(error)")) }
            let metrics = MetricsRegistry()
            let client = RegistryClient(
                loop: loop, registry: registry, limits: configuration.limits, logger: .silent,
                metrics: RegistryMetrics(metrics), nowMilliseconds: { world.clock.nowMilliseconds })
            let parts = PipelineParts(
                source: world, publisher: world, transport: world, registryReads: [client], registryWrites: client,
                now: { world.clock.nowGoingOn })
            let pipeline = LoopBound(
                Pipeline(
                    loop: loop, configuration: configuration, parts: parts, metrics: metrics,
                    health: PipelineHealth(), logger: .silent),
                to: loop)
            let inbox = PipelineInbox(pipeline)
            world.loop.withLock { $0 = loop }
            world.transportHandler.withLock { $0 = inbox }
            world.publishHandler.withLock { $0 = inbox }
            pipeline.value.start(inbox: inbox)
            return .success(pipeline)
        }
    }

    /// The tables of the examples, whose changes are events.
    static let sources = TableSources([
        TableSource(
            table: "public.songs", recordType: "Song", key: ["id", "released"],
            changes: Set(TableSource.Change.allCases)),
        TableSource(
            table: "customers", recordType: "Song", columns: ["email", "joined"],
            types: [ByteText("joined"): .moment(.days), ByteText("email"): .decimal(scale: nil)]),
    ])

    private static let configuration: PipelineConfiguration = {
        let delaysMilliseconds: [Int64] = [1_000, 60_000, 900_000]
        var limits = DispatchLimits()
        limits.devicesPerPageMaximum = 2
        limits.devicesPerBulkPageMaximum = 2
        limits.fanOutThresholdDevices = 3
        limits.devicesPerChunkMaximum = 2
        var configuration = PipelineConfiguration(
            apps: ["chat", "mail"].enumerated().map { index, name in
                let route = AppRoute(
                    index: index, name: name, bundleID: "com.example.\(name)", productionRoute: 2 * index,
                    sandboxRoute: 2 * index + 1, courierRoute: 4 + index)
                return .init(route: route, identityPoolIDs: index == 0 ? [pool] : [])
            },
            retryPolicy: RetryPolicy(
                delaysMilliseconds: delaysMilliseconds, attemptsMaximum: 3, ageMaximumMilliseconds: 3_600_000,
                serverErrorDelayMilliseconds: 0),
            queues: DispatchQueues(
                retry: Dictionary(uniqueKeysWithValues: delaysMilliseconds.map { ($0, "apus.retry.\($0)") }),
                fanout: FuzzWorld.fanOutQueue, deadLetter: FuzzWorld.deadLetterQueue),
            limits: limits)
        configuration.repeatDelayNanoseconds = 1
        configuration.sources = sources
        return configuration
    }()

    /// Five devices of one identity and user, all subscribed to what the examples are about.
    private static func fill(_ registry: InMemoryRegistry) throws {
        for index in 0..<5 {
            let platform = [Platform.apns, .apnsSandbox, .courier, .gcm, .apns][index]
            // Google's have no blanks.
            let name = platform == .gcm ? "token-of-device-\(index)" : "token of device \(index)"
            guard let token = DeviceToken(bytes: Array(name.utf8)) else { continue }
            let device = Device(
                deviceID: "device-\(index)", platform: platform, token: token,
                app: index == 4 ? "mail" : "chat", identityPoolID: pool, identityID: identity, userID: "user-1729",
                registeredAtMilliseconds: 0)
            try registry.upsert([device])
            try registry.subscribe(device.deviceID, toDataset: "settings")
            try registry.subscribe(device.deviceID, toTopic: "catalogue")
        }
        let conditions = ["TRUEPREDICATE", "price <= 20", "artist = \"Mei Chen\"", "tags CONTAINS \"live\""]
        for (index, condition) in conditions.enumerated() {
            var subscription = RecordSubscription(
                key: SubscriptionKey(app: "chat", owner: .user("user-1729"), subscriptionID: "s\(index)"),
                recordType: index == 0 ? nil : "Song", predicate: try Predicate(parsing: condition),
                savedAtMilliseconds: 0)
            if index == 0 { (subscription.kind, subscription.database) = (.database, .private) }
            subscription.firesOnce = index == 1
            subscription.notification.alertBody = "{artist} costs {price}"
            subscription.notification.shouldBadge = index == 2
            subscription.notification.additionalFields = ["artist", "price"]
            _ = try registry.save([subscription])
        }
    }

    // MARK: Messages

    private static func message(_ body: [UInt8], _ input: inout FuzzInput) -> Message {
        var properties = MessageProperties()
        properties.contentType = input.choice(["application/cloudevents+json", "application/json", nil, "text/plain"])
        properties.expiration = input.choice([nil, "0", "60000", "-1", "9223372036854775807", "99999999999999999999"])
        properties.type = input.choice([nil, "dataset.changed", "push.requested", "record.created", "x"])
        properties.messageID = input.choice([nil, "1", ""])
        properties.appID = input.choice([nil, "backend"])
        properties.contentEncoding = input.choice([nil, "utf-8", "gzip"])
        if input.byte() > 0 { properties.timestampSeconds = UInt64(bitPattern: input.integer()) }
        return Message(properties: properties, headers: headers(&input), body: body)
    }

    private static let headerNames = [
        RetryHeader.attempt, RetryHeader.firstSeenMilliseconds, RetryHeader.publishedMilliseconds,
        RetryHeader.heldMilliseconds, RetryHeader.unreadableHeaders, RetryHeader.expiresAtMilliseconds,
        RetryHeader.cursor, RetryHeader.cursorSubscription,
        RetryHeader.fanOut, RetryHeader.chunk, RetryHeader.chunkDevices, RetryHeader.through,
        RetryHeader.throughSubscription, RetryHeader.subscriptions, RetryHeader.notifiesOrigin,
        RetryHeader.devices, RetryHeader.originalExchange, RetryHeader.originalRoutingKey,
        RetryHeader.reason, RetryHeader.detail, "ce-type", "ce-id", "ce-source", "ce-specversion", "ce-time",
        "cloudEvents:type", "x-timestamp-ms", "x-death", "x-delivery-count", "x-first-death-queue", "x-own",
        "id", "type",
    ]

    /// Up to seven headers, among them all that mean something to a worker.
    static func headers(_ input: inout FuzzInput) -> [MessageHeader] {
        (0..<Int(input.byte() % 8)).map { _ in
            MessageHeader(input.choice(headerNames), headerValue(&input, depth: 0))
        }
    }

    private static func headerValue(_ input: inout FuzzInput, depth: Int) -> HeaderValue {
        switch input.byte() % 14 {
        case 1: return .boolean(input.byte() != 0)
        case 2:
            let values = [
                "device-0", "device-4", "", "1.0", "2026-01-31T12:00:00Z", "push.requested", "record.created",
            ]
            return .string(input.choice(values))
        case 3: return .string(String(decoding: input.shortBytes(), as: UTF8.self))
        case 4: return .timestamp(UInt64(bitPattern: input.integer()))
        case 5: return .bytes(input.shortBytes())
        case 6: return .uint64(UInt64(bitPattern: input.integer()))
        case 7: return .float64(Double(bitPattern: UInt64(bitPattern: input.integer())))
        case 8: return .int32(Int32(truncatingIfNeeded: input.integer()))
        case 9 where depth < 3:
            return .array((0..<Int(input.byte() % 4)).map { _ in headerValue(&input, depth: depth + 1) })
        case 10 where depth < 3:
            return .table([MessageHeader("count", headerValue(&input, depth: depth + 1))])
        case 11: return .rawString(input.shortBytes())
        case 12: return .void
        case 13: return .decimal(scale: input.byte(), value: UInt32(truncatingIfNeeded: input.integer()))
        default: return .int64(input.integer())
        }
    }
}

/// Carries a value from one thread to another that waits for it.
private final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ value: Value) {
        self.value.withLock { $0 = value }
        isThere.signal()
    }

    func wait() -> Value {
        while true {
            isThere.wait()
            if let value = value.withLock({ $0 }) { return value }
        }
    }
}
