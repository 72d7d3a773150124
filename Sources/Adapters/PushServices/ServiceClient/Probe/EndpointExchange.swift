internal import Crypto
internal import EventLoop

/// Sends single requests, each over a connection of its own: for rare ones, such as the management of channels.
public enum EndpointExchange {
    /// How a request ended that had no answer.
    public enum Failure: Error, Sendable, CustomStringConvertible {
        /// It was certainly not sent.
        case notSent(ServiceError)
        /// The request was sent, and its outcome is unknown.
        case ambiguous(String)

        /// The problem.
        public var description: String {
            switch self {
            case .notSent(let error): error.description
            case .ambiguous(let reason): "the request was sent, and its outcome is unknown: \(reason)"
            }
        }
    }

    /// Sends a request to the endpoint of a route, with the route's authorization.
    ///
    /// - Parameters:
    ///   - request: the request; the header `authorization` is added.
    ///   - route: where to.
    ///   - timeoutSeconds: how long it may take, once it is connected.
    /// - Returns: the answer, with any status.
    /// - Throws: `Failure`.
    public static func send(
        _ request: EndpointRequest, over route: ServiceRoute, timeoutSeconds: Double
    ) async throws(Failure) -> EndpointAnswer {
        var request = request
        switch route.authorizer.authorization() {
        case .ready(let authorization):
            request.headers.append(("authorization", String(decoding: authorization.headerValue, as: UTF8.self)))
        case .pending: throw .notSent(ServiceError(.keyUnreadable, "there is no authorization yet"))
        case .unavailable(let reason), .refused(let reason): throw .notSent(ServiceError(.keyUnreadable, reason))
        }
        let report = try await attempt(route, request, timeoutSeconds: timeoutSeconds)
        guard let answer = report.answer else { throw .ambiguous("the answer is missing") }
        return answer
    }

    /// Connects, sends the request if there is one, and closes the connection.
    static func attempt(
        _ route: ServiceRoute, _ request: EndpointRequest?, timeoutSeconds: Double
    ) async throws(Failure) -> EndpointAttempt.Report {
        let context: TLSContext
        do throws(ServiceError) { context = try route.makeContext() } catch { throw .notSent(error) }
        let loop: EventLoop
        do throws(EventLoopError) {
            loop = try EventLoop(name: "push-probe")
        } catch {
            throw .notSent(ServiceError(.systemFailed, "there is no thread to connect with: \(error)"))
        }
        defer { loop.stopAndJoin() }
        let result: Result<EndpointAttempt.Report, Failure> = await withCheckedContinuation { continuation in
            let (host, port) = route.nextHop
            AddressResolver.resolve(host: host, port: port) { answer in
                loop.submit {
                    switch answer {
                    case .success(let found):
                        let addresses = route.admitted(found)
                        guard !addresses.isEmpty || found.isEmpty else {
                            let failure = Failure.notSent(noAdmittedAddress(route))
                            return continuation.resume(returning: .failure(failure))
                        }
                        EndpointAttempt(
                            route: route, context: context, request: request, timeoutSeconds: timeoutSeconds, loop: loop
                        ) { continuation.resume(returning: $0) }.connect(to: addresses)
                    case .failure(let error):
                        let hint = ConnectionHint.resolution(isOfProxy: route.proxy != nil)
                        let failure = Failure.notSent(ServiceError(error.code, "\(error.message); \(hint)"))
                        continuation.resume(returning: .failure(failure))
                    }
                }
            }
        }
        return try result.get()
    }

    private static func noAdmittedAddress(_ route: ServiceRoute) -> ServiceError {
        let hint = ConnectionHint.noAdmittedAddress
        return ServiceError(.connectFailed, "\(route.endpoint): \(hint.reason); \(hint.advice)")
    }
}

/// A single request to a push service that is no push to a device.
public struct EndpointRequest: Sendable {
    /// The method, for example `GET`.
    public var method: String
    /// The path.
    public var path: String
    /// The header fields, names in lower case.
    public var headers: [(name: StaticString, value: String)]
    /// The body; empty for none.
    public var body: [UInt8]

    /// Describes a request.
    public init(method: String, path: String, headers: [(name: StaticString, value: String)], body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// The answer to an `EndpointRequest`.
public struct EndpointAnswer: Sendable {
    /// The HTTP status.
    public internal(set) var status = 0
    /// The header `apns-channel-id`.
    public internal(set) var channelID: String?
    /// The header `retry-after`, in seconds.
    public internal(set) var retryAfterSeconds: Int?
    /// The body, at most `bodyBytesMaximum` bytes of it.
    public internal(set) var body: [UInt8] = []

    /// The longest body that is read: ten thousand channel identifiers need less.
    public static let bodyBytesMaximum = 1 << 20

    mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: name, as: UTF8.self) {
        case ":status": status = Int(text) ?? 0
        case "apns-channel-id": channelID = text
        case "retry-after": retryAfterSeconds = Int(text)
        default: break
        }
    }

    /// Takes a part of the body in.
    ///
    /// - Returns: whether there was room for all of it.
    mutating func add(body bytes: UnsafeRawBufferPointer) -> Bool {
        let room = Self.bodyBytesMaximum - body.count
        body.append(contentsOf: bytes.prefix(room))
        return bytes.count <= room
    }
}
