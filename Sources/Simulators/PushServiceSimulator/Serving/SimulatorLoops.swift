import Crypto
import EventLoop
public import HTTPServer

/// The part of a push service that decides on one loop.
public protocol SimulatedService: AnyObject, SendableMetatype {
    /// The connections of the loop.
    var server: SimulatorServer { get }
    /// Makes what decides about the requests of one connection.
    func makeHandler() -> any RequestHandler
}

/// The properties of a push service on a connection.
public struct ServiceTraits: Sendable {
    /// The headers that it looks at.
    var headerNames: HeaderNames
    /// The most bytes of a body that are kept, one more than its largest limit.
    var bodyBytesMaximum: Int
    /// How many requests may be open at once before the sender has shown who it is; nil for as many as after.
    var unauthenticatedStreamsMaximum: UInt32?
    /// How a reason looks in a GOAWAY.
    var goAwayDebugData: @Sendable (String) -> [UInt8]

    /// Describes a service.
    ///
    /// - Parameters:
    ///   - headerNames: the headers that it looks at.
    ///   - bodyBytesMaximum: the most bytes of a body that are kept, one more than its largest limit.
    ///   - unauthenticatedStreamsMaximum: how many requests may be open at once before the sender has shown who it is;
    ///     nil for as many as after.
    ///   - goAwayDebugData: how a reason looks in a GOAWAY.
    public init(
        headerNames: HeaderNames, bodyBytesMaximum: Int, unauthenticatedStreamsMaximum: UInt32? = nil,
        goAwayDebugData: @escaping @Sendable (String) -> [UInt8]
    ) {
        self.headerNames = headerNames
        self.bodyBytesMaximum = bodyBytesMaximum
        self.unauthenticatedStreamsMaximum = unauthenticatedStreamsMaximum
        self.goAwayDebugData = goAwayDebugData
    }
}

/// The common state of a simulator's loops.
struct ServingParts: Sendable {
    let configuration: ServingConfiguration
    let traits: ServiceTraits
    let tls: TLSContext
    /// The certificate for another name, for connections that are to be shown it.
    let foreignTLS: TLSContext
    let recordFile: RecordFile?
    let progress: SimulatorProgress
    let faults: FaultBook
}

/// The threads of a simulator, the connections that are dealt out to them, and what they share.
public final class SimulatorLoops<Service: SimulatedService>: Sendable {
    /// The port that is listened on.
    public let port: UInt16
    /// The certificate that clients have to trust, in PEM.
    public let trustAnchorPEM: String
    /// The faults, which may change at any time.
    public var faults: FaultBook { parts.faults }

    private let parts: ServingParts
    private let loops: [EventLoop]
    private let services: [LoopBound<Service>]

    /// Starts the threads, and listens on the first of them.
    ///
    /// - Parameters:
    ///   - configuration: the simulator's properties.
    ///   - traits: the properties of the push service.
    ///   - name: the name of the threads.
    ///   - progress: the number of answers, which several simulators may share.
    ///   - listens: whether it listens; if not, `port` is 0, and requests come by `submit` alone.
    ///   - makeService: makes the part of the service on a loop; called on it.
    /// - Throws: `SimulatorError` if a value is out of range, the record file cannot be written or the address cannot
    ///   be listened on; `CryptoError` and `EventLoopError` if the system refuses.
    public init(
        _ configuration: ServingConfiguration, traits: ServiceTraits, name: String,
        progress: SimulatorProgress = SimulatorProgress(), listens: Bool = true,
        makeService: @escaping @Sendable (sending SimulatorServer) -> sending Service
    ) async throws {
        try configuration.validate()
        let now = configuration.wallClockMilliseconds() / 1_000
        let identity = try configuration.servingIdentity()
        let foreign = try ServerIdentity.selfSigned(
            names: ["somebody-else.example"], notBeforeSeconds: now - 86_400,
            notAfterSeconds: now + ServingConfiguration.identitySeconds)
        let parts = ServingParts(
            configuration: configuration, traits: traits,
            tls: try TLSContext.server(identity, applicationProtocols: ["h2"]),
            foreignTLS: try TLSContext.server(foreign, applicationProtocols: ["h2"]),
            recordFile: try configuration.recordFile.map { path in
                try RecordFile(path: path, appends: configuration.appendsRecords)
            }, progress: progress, faults: FaultBook(configuration.faults, seed: configuration.faultSeed))
        let loops = try (0..<configuration.loopCount).map { index in try EventLoop(name: "\(name)-\(index)") }
        var services: [LoopBound<Service>] = []
        for (index, loop) in loops.enumerated() {
            services.append(
                try await loop.run {
                    LoopBound(makeService(SimulatorServer(parts: parts, loop: loop, loopIndex: index)), to: loop)
                })
        }
        do {
            port = listens ? try await Self.listen(services) : 0
        } catch {
            for loop in loops { loop.stopAndJoin() }
            throw SimulatorError(
                .listenFailed, "cannot listen on \(configuration.host):\(configuration.port): \(error)")
        }
        trustAnchorPEM = identity.certificateChainPEM
        self.parts = parts
        self.loops = loops
        self.services = services
    }

    /// Lets the first loop accept, and deals the connections out to all.
    private static func listen(_ services: [LoopBound<Service>]) async throws -> UInt16 {
        let first = services[0]
        return try await first.loop.run {
            var next = 0
            return try first.value.server.listen { socket in
                let service = services[next % services.count]
                next += 1
                if service.loop === first.loop {
                    serve(socket, service)
                } else {
                    service.loop.submit { serve(socket, service) }
                }
            }
        }
    }

    private static func serve(_ socket: Int32, _ service: LoopBound<Service>) {
        service.value.server.serve(socket, handler: service.value.makeHandler())
    }

    /// Asks each loop's part of the service, one after the other.
    ///
    /// - Throws: the error of `body`; `CancellationError` after `stop()`.
    public func map<Result: Sendable>(
        _ body: @escaping @Sendable (Service) throws -> Result
    ) async throws -> [Result] {
        var results: [Result] = []
        for service in services { results.append(try await service.loop.run { try body(service.value) }) }
        return results
    }

    /// Has the first loop's part of the service do something.
    public func submit(_ body: @escaping @Sendable (Service) -> Void) {
        let first = services[0]
        first.loop.submit { body(first.value) }
    }

    /// Waits until as many requests have been answered since the start.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - deadlineSeconds: after how long the wait is a failure; only there to end a hang.
    /// - Throws: `SimulatorError` with the code `deadlinePassed`.
    public func waitForAnswers(_ count: Int, deadlineSeconds: Int) async throws {
        let loop = services[0].loop
        let reached = await parts.progress.wait(forCount: count) { giveUp in
            loop.submit {
                loop.schedule(afterNanoseconds: UInt64(deadlineSeconds) * 1_000_000_000, handler: giveUp)
            }
        }
        guard !reached else { return }
        throw SimulatorError(
            .deadlinePassed, "fewer than \(count) requests were answered within \(deadlineSeconds) seconds")
    }

    /// Serves HTTP/1.1 beside the loops, whose requests are handed to their services.
    ///
    /// - Parameters:
    ///   - configuration: the properties of the server.
    ///   - handler: answers the requests.
    /// - Returns: the running server.
    /// - Throws: `SimulatorError` (`listenFailed`), after the loops have ended.
    public func serveHTTP1(
        _ configuration: HTTPServerConfiguration, _ handler: any HTTPHandler
    ) async throws -> HTTPServer {
        do throws(HTTPServerError) {
            return try HTTPServer(configuration: configuration, handler: handler)
        } catch {
            try await close()
            join()
            throw SimulatorError(.listenFailed, "cannot listen for HTTP/1.1: \(error)")
        }
    }

    /// Closes all connections and writes the last records.
    public func close() async throws { _ = try await map { $0.server.stop() } }

    /// Ends the threads.
    public func join() { for loop in loops { loop.stopAndJoin() } }
}
