public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Registers installations, subscriptions and badges with the registry's API, or with a server of yours in front of it.
///
/// An access token of the registry reaches every device of its app, so it belongs on your server and not into an app
/// that strangers can take apart. Let the app talk to your server, which knows the user, and passes the request on with
/// the registry's token: same paths, same answers.
///
/// A request that fails for a while is sent again (`RetrySettings`). All of them may be repeated.
public struct RegistrationClient: Sendable {
    /// Sends a request: `URLSession`, or a test.
    package typealias Exchange = @Sendable (URLRequest) async throws -> (Data, HTTPURLResponse?)

    /// The longest time for one answer, in seconds.
    static let answerSecondsMaximum = 30.0

    private let url: URL
    private let settings: RetrySettings
    private let accessToken: @Sendable (_ isRefused: Bool) async throws -> String
    private let exchange: Exchange
    private let pause: @Sendable (_ seconds: Double) async throws -> Void

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - url: the API's address, for example `https://push.example.com`; a path before `/v1` is kept.
    ///   - session: the session; redirections to other hosts should not be followed with the token.
    ///   - settings: how often and how soon a request is sent again.
    ///   - accessToken: returns the token for `Authorization: Bearer`. `isRefused` says that the last one was refused
    ///     (401): fetch another one. It is asked so once for a request.
    public init(
        url: URL, session: URLSession = .shared, settings: RetrySettings = RetrySettings(),
        accessToken: @escaping @Sendable (_ isRefused: Bool) async throws -> String
    ) {
        self.init(
            url: url, settings: settings, accessToken: accessToken,
            exchange: { request in
                let (body, response) = try await session.data(for: request)
                return (body, response as? HTTPURLResponse)
            },
            pause: { seconds in try await Task.sleep(for: .seconds(seconds)) })
    }

    package init(
        url: URL, settings: RetrySettings, accessToken: @escaping @Sendable (_ isRefused: Bool) async throws -> String,
        exchange: @escaping Exchange, pause: @escaping @Sendable (_ seconds: Double) async throws -> Void
    ) {
        self.url = url
        self.settings = settings
        self.accessToken = accessToken
        self.exchange = exchange
        self.pause = pause
    }

    // MARK: Installations

    /// Registers an installation, or renews it: after each start, and whenever its address changes.
    ///
    /// `InstallationRegistrar` does so.
    ///
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func register(_ installation: AppInstallation, at address: DeviceAddress) async throws {
        try await send("PUT", ["devices", installation.deviceID], DeviceBody(installation, address))
    }

    /// Removes an installation with its subscriptions; one that is gone already is no error.
    ///
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func unregister(deviceID: String) async throws { try await delete(["devices", deviceID]) }

    /// Gives an installation of Apple's a further token.
    ///
    /// - Parameters:
    ///   - token: the token that the system handed out for this kind of push.
    ///   - kind: the push type: `voip`, `complication`, `fileprovider`, `liveactivity`, `location`, `pushtotalk`,
    ///     `controls` or `widgets`.
    ///   - deviceID: the installation.
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func setToken(_ token: Data, kind: String, deviceID: String) async throws {
        try await send("PUT", ["devices", deviceID, "tokens", kind], ["token": DeviceAddress.hexadecimal(token)])
    }

    /// Tells which number the app's icon shows, so that the next push counts up from there.
    ///
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func setBadge(_ badge: Int, deviceID: String) async throws {
        try await send("PUT", ["devices", deviceID, "badge"], ["badge": badge])
    }

    /// Reports that the user opened pushes, so that the backend sees how many were; each counts once.
    ///
    /// No access token is sent: the receipts and the address are the proof. A server of yours in front passes the
    /// request on as it is.
    ///
    /// - Parameters:
    ///   - receipts: `PushPayload.receipt` of each push.
    ///   - deviceID: the installation.
    ///   - address: where it is registered.
    /// - Returns: the result of each receipt, in their order.
    /// - Throws: `RegistrationError`, or `CancellationError`.
    @discardableResult
    public func reportOpened(
        _ receipts: [String], deviceID: String, at address: DeviceAddress
    ) async throws -> [OpenResult] {
        var results: [OpenResult] = []
        for body in OpenReportBody.bodies(deviceID: deviceID, address, receipts) {
            let answer = try await send("POST", ["opens"], body, isProof: true)
            // A missing result, or one that only later versions know, is no reason to report again.
            let told = (try? JSONDecoder().decode(OpenReportAnswer.self, from: answer))?.results ?? []
            results += body.receipts.indices.map { index in
                told.indices.contains(index) ? OpenResult(rawValue: told[index]) ?? .invalid : .invalid
            }
        }
        return results
    }

    // MARK: Subscriptions

    /// Subscribes an installation to a dataset of its identity.
    ///
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func subscribe(deviceID: String, toDataset dataset: String) async throws {
        try await send("PUT", ["devices", deviceID, "datasets", dataset], nil)
    }

    /// Ends the subscription to a dataset.
    ///
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func unsubscribe(deviceID: String, fromDataset dataset: String) async throws {
        try await delete(["devices", deviceID, "datasets", dataset])
    }

    /// Subscribes an installation to a topic of its app.
    ///
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func subscribe(deviceID: String, toTopic topic: String) async throws {
        try await send("PUT", ["devices", deviceID, "topics", topic], nil)
    }

    /// Ends the subscription to a topic.
    ///
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func unsubscribe(deviceID: String, fromTopic topic: String) async throws {
        try await delete(["devices", deviceID, "topics", topic])
    }

    /// Saves a subscription to records, in place of one with the same name.
    ///
    /// - Parameters:
    ///   - interest: the records, and what the pushes say.
    ///   - subscriptionID: the name, which comes back in each push (`SubscriptionNotice.subscriptionID`).
    ///   - owner: the installation or the user.
    /// - Throws: `RegistrationError`, which tells the place of an error in the predicate; or `CancellationError`.
    public func save(
        _ interest: RecordInterest, as subscriptionID: String, of owner: InterestOwner
    ) async throws {
        try await send("PUT", owner.path + ["subscriptions", subscriptionID], interest)
    }

    /// Deletes a subscription to records; one that is gone already is no error.
    ///
    /// - Throws: `RegistrationError`, or `CancellationError`.
    public func deleteSubscription(_ subscriptionID: String, of owner: InterestOwner) async throws {
        try await delete(owner.path + ["subscriptions", subscriptionID])
    }
}

extension InterestOwner {
    fileprivate var path: [String] {
        switch self {
        case .device(let deviceID): ["devices", deviceID]
        case .user(let userID, let app): ["apps", app, "users", userID]
        }
    }
}

// MARK: - Requests

extension RegistrationClient {
    private func delete(_ names: [String]) async throws {
        do {
            try await send("DELETE", names, nil)
        } catch let error as RegistrationError where error.code == .notFound {
            // An attempt whose answer was lost may have removed it.
        }
    }

    /// Sends a request until it is answered, and gives the body of the answer.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - names: the segments of the path behind `/v1`.
    ///   - body: the body, if there is one.
    ///   - isProof: whether the body proves who sends it, so that no access token is needed.
    /// - Returns: the body of the answer.
    /// - Throws: `RegistrationError`, or `CancellationError`.
    @discardableResult
    private func send(
        _ method: String, _ names: [String], _ body: (any Encodable & Sendable)?, isProof: Bool = false
    ) async throws -> Data {
        let path = "/v1/" + names.map(Self.encoded).joined(separator: "/")
        let json = try body.map { try JSONEncoder().encode($0) }
        let call = RegistrationCall(name: "\(method) \(path)", answerSecondsMaximum: Self.answerSecondsMaximum)
        guard let target = URL(string: Self.withoutSlash(url.absoluteString) + path) else {
            throw call.error(.invalid, detail: "no address can be made of \(url.absoluteString)")
        }
        var machine = RetryStateMachine(settings)
        var token = isProof ? nil : try await accessToken(call, isRefused: false)
        while true {
            let (answer, body, detail) = try await attempt(call.request(method, target, token: token, json))
            switch machine.received(answer, random: Double.random(in: 0...1)) {
            case .succeed: return body
            case .renewAccessToken:
                guard !isProof else { throw call.error(.unauthenticated, answer, detail: detail) }
                token = try await accessToken(call, isRefused: true)
            case .pause(let seconds): try await pause(seconds)
            case .fail(let code): throw call.error(code, answer, detail: detail)
            }
        }
    }

    private func accessToken(_ call: RegistrationCall, isRefused: Bool) async throws -> String {
        do {
            return try await accessToken(isRefused)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw call.error(.accessTokenMissing, detail: "\(error)")
        }
    }

    private func attempt(
        _ request: URLRequest
    ) async throws -> (answer: RetryStateMachine.Answer, body: Data, detail: String) {
        let body: Data
        let response: HTTPURLResponse?
        do {
            (body, response) = try await exchange(request)
        } catch {
            // A cancelled task is no reason to try again.
            try Task.checkCancellation()
            return (.none, Data(), error.localizedDescription)
        }
        guard let response else { return (.none, Data(), "the answer is not HTTP") }
        let problem = APIProblem(body)
        let seconds = response.value(forHTTPHeaderField: "Retry-After").flatMap(Int.init)
        return (
            .status(response.statusCode, code: problem?.code, retryAfterSeconds: seconds), body,
            problem?.detail ?? HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
        )
    }

    /// Encodes every byte but the unreserved ones (RFC 3986 §2.3), so that a slash in a name stays in it.
    private static func encoded(_ name: String) -> String {
        var unreserved = CharacterSet(charactersIn: "-._~")
        unreserved.insert(charactersIn: "a"..."z")
        unreserved.insert(charactersIn: "A"..."Z")
        unreserved.insert(charactersIn: "0"..."9")
        let text = name.addingPercentEncoding(withAllowedCharacters: unreserved) ?? name
        // Clients shorten a path by these.
        return text == "." ? "%2E" : text == ".." ? "%2E%2E" : text
    }

    private static func withoutSlash(_ text: String) -> String { text.hasSuffix("/") ? String(text.dropLast()) : text }
}

/// One request, by its name, for its error.
private struct RegistrationCall {
    let name: String
    let answerSecondsMaximum: Double

    func request(_ method: String, _ url: URL, token: String?, _ json: Data?) -> URLRequest {
        var request = URLRequest(url: url, timeoutInterval: answerSecondsMaximum)
        request.httpMethod = method
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if let json {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = json
        }
        return request
    }

    func error(
        _ code: RegistrationError.Code, _ answer: RetryStateMachine.Answer = .none, detail: String
    ) -> RegistrationError {
        guard case .status(let status, _, let seconds) = answer else {
            return RegistrationError(code: code, request: name, status: nil, detail: detail, retryAfterSeconds: nil)
        }
        return RegistrationError(code: code, request: name, status: status, detail: detail, retryAfterSeconds: seconds)
    }
}

/// The API's problem details (RFC 9457).
private struct APIProblem: Decodable {
    let code: String
    let detail: String

    init?(_ body: Data) {
        guard body.count <= FoundationReader.bytesMaximum, let found = try? JSONDecoder().decode(Self.self, from: body)
        else { return nil }
        self = found
    }
}
