import ChangeEvents
import Crypto
import Dispatch
import EventLoop
import JSON
import Messages
import Metrics
import Notifications
import RegistryCore
import StructuredLogging
import Synchronization

@testable import HTTPServer
@testable import RegistryAPI

/// Sends requests to the registry's API, all apis, over a registry in memory; each part is one request.
///
/// A request is its first line, header fields, an empty line and the body. The tokens are `write`, `read` and `chat`,
/// and requests of the Cognito api without a signature are signed. No request may be answered with an error of the
/// server, no answer may carry what the client wrote into its header fields as further lines, and an answer that
/// announces JSON must be JSON.
struct APIFuzzTarget: FuzzTarget {
    private static let requestsMaximum = 8
    private static let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
    private static let nowMilliseconds: Int64 = 1_700_000_000_000
    private static let key = AccessKey(identifier: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")

    /// The key by which the receipt in the corpus was made.
    private static let receiptKey = CourierKey(bytes: Array(repeating: 7, count: CourierKey.byteCount))

    /// The public half of the key that signed the request in the corpus.
    private static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEnrNFd4KHAyXR2Ct9ckxNZnFFQHu4
        MbELSDIDwgY6jkn5Qg4u92fSEgR9jKb3wtncIphArrxSosRef14pVlMFpg==
        -----END PUBLIC KEY-----
        """

    /// Requests run on it, one input after the other.
    private let loop: EventLoop? = try? EventLoop(name: "fuzz-api")

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        guard let loop else { throw FuzzFailure("there is no thread for the registry") }
        let failure = Mutex<FuzzFailure?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let requests = input.parts.prefix(Self.requestsMaximum).compactMap(Self.request)
        let box = Box(failure)
        loop.submit {
            do throws(FuzzFailure) {
                try Self.serve(requests, loop)
            } catch {
                box.failure.withLock { $0 = error }
            }
            isDone.signal()
        }
        isDone.wait()
        if let failure = box.failure.withLock({ $0 }) { throw failure }
    }

    private final class Box: Sendable {
        let failure: Mutex<FuzzFailure?>
        init(_ failure: consuming sending Mutex<FuzzFailure?>) { self.failure = failure }
    }

    // MARK: The server

    private static func serve(_ requests: [HTTPRequest], _ loop: EventLoop) throws(FuzzFailure) {
        var configuration = RegistryServerConfiguration(
            host: "127.0.0.1", port: 0,
            apps: [RegistryAPIApp(name: "chat", bundleID: "com.example.chat", identityPoolIDs: [pool])],
            accessKeys: [key])
        configuration.requestsPerSecondMaximum = 1_000_000
        configuration.allowedOrigins = ["https://a.example"]
        do throws(RegistryServerError) {
            configuration.serverKeys = [
                try ServerKey(
                    identifier: "server", publicKeyPEM: Array(publicKey.utf8), app: "chat", permission: .write,
                    userID: "anna")
            ]
        } catch {
            throw FuzzFailure("the server key cannot be read: \(error)")
        }
        let (registry, folder) = try FuzzRegistry.open()
        defer { withExtendedLifetime(folder) {} }
        let courierTokens = CourierTokens(.random())
        let context = LoopBound(
            RegistryContext(
                loop: loop, registry: registry, purpose: .writing,
                courier: LongPollQueue(loop: loop, waitSecondsMaximum: 0), courierTokens: courierTokens,
                health: RegistryHealth(), logger: .silent,
                nowMilliseconds: { nowMilliseconds }),
            to: loop)
        let credentials = CredentialGuard(requestsPerSecondMaximum: 1_000_000, logger: .silent)
        let apis: [any ClientAPI] = [
            NativeAPI(configuration: configuration, gate: TokenGate(credentials: credentials)),
            CloudKitAPI(
                configuration: configuration, credentials: credentials,
                courierAddress: CourierAddress(configuration), nowMilliseconds: { nowMilliseconds }),
            CognitoSyncAPI(
                configuration: configuration, credentials: credentials, nowMilliseconds: { nowMilliseconds }),
            CourierAPI(tokens: courierTokens, credentials: credentials),
            OpensAPI(
                receipts: .ofServers(with: receiptKey ?? .random()), credentials: credentials,
                nowMilliseconds: { nowMilliseconds }),
        ]
        let router = RequestRouter(
            apis: apis, lines: RequestLines(reading: RequestLine(context), writing: RequestLine(context)),
            metrics: RegistryAPIMetrics(MetricsRegistry()))
        let decoder = EventDecoder(sources: EventFuzzTarget.sources)
        for request in requests {
            if request.target.rawPath == "/v1/events" { try readEvents(of: request, decoder) }
            if case .now(let response) = router.answer(request) { try check(response, request) }
            guard let response = answer(request, apis, context.value) else { continue }
            try check(response, request)
        }
    }

    /// Answers as the router does, but at once; nil for a request without a route, or one that waits.
    private static func answer(
        _ request: HTTPRequest, _ apis: [any ClientAPI], _ context: RegistryContext
    ) -> HTTPResponse? {
        for route in apis.flatMap(\.routes) where route.method == request.method {
            guard let values = route.path.match(request.target.segments) else { continue }
            return switch route.admit(request, values) {
            case .answered(let response): response
            case .admitted(_, let step): answer(step, context)
            case .held: nil
            }
        }
        return nil
    }

    private static func answer(_ step: RegistryStep, _ context: RegistryContext) -> HTTPResponse? {
        switch step {
        case .answered(let response): response
        case .suspended: nil
        case .reading(let work), .writing(let work): answer(work(context), context)
        }
    }

    /// Reads a request to publish as the server does, and its events as a worker does.
    private static func readEvents(
        of request: HTTPRequest, _ decoder: EventDecoder
    ) throws(FuzzFailure) {
        let messages: [Message]
        do throws(NativeProblem) {
            messages = try EventRequest(
                request, tokenName: "token", nowMilliseconds: nowMilliseconds
            ).messages
        } catch {
            return try check(error.response, request)
        }
        for message in messages { _ = try? decoder.decode(message) }
    }

    private static func check(_ response: HTTPResponse, _ request: HTTPRequest) throws(FuzzFailure) {
        let what = "\(request.method) \(request.target.rawPath)"
        let body = String(decoding: response.body, as: UTF8.self)
        try promise((200..<500).contains(response.status), "\(what) is answered with \(response.status): \(body)")
        for field in response.fields {
            try promise(
                field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
                "\(what) is answered with the field \(field.name): \(field.value.debugDescription)")
        }
        guard response.fields.contains(where: { $0.name.lowercased() == "content-type" && $0.value.contains("json") })
        else { return }
        let isJSON = response.body.isEmpty || (try? JSONParser().parse(response.body)) != nil
        try promise(isJSON, "\(what) is answered with what is not JSON: \(body)")
    }

    // MARK: The requests

    private static func request(_ bytes: [UInt8]) -> HTTPRequest? {
        var rest = bytes[...]
        func line() -> String? {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return String(validating: rest[..<end], as: UTF8.self)
        }
        guard let first = line()?.split(separator: " ", maxSplits: 1), first.count == 2,
            let target = HTTPTarget(String(first[1]))
        else { return nil }
        var fields: [HTTPField] = []
        while let text = line(), !text.isEmpty {
            let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { return nil }
            fields.append(HTTPField(pair[0].lowercased(), String(pair[1].drop { $0 == " " })))
        }
        let request = HTTPRequest(
            method: String(first[0]), target: target, fields: fields, body: Array(rest), clientAddress: "192.0.2.1")
        let isToBeSigned = target.segments.first == "identitypools" && request.field("authorization") == nil
        return isToBeSigned ? signed(request) : request
    }

    /// The request as a client signs it that knows the secret.
    private static func signed(_ request: HTTPRequest) -> HTTPRequest? {
        let time = AmazonDate.text(seconds: nowMilliseconds / 1_000)
        let fields =
            request.fields.filter { $0.name != "host" && $0.name != "x-amz-date" }
            + [HTTPField("host", "example.com"), HTTPField("x-amz-date", time)]
        var request = HTTPRequest(
            method: request.method, target: request.target, fields: fields, body: request.body,
            clientAddress: request.clientAddress)
        let names = Set(fields.map(\.name).filter { $0 == "host" || $0.hasPrefix("x-amz-") }).sorted()
        let scope = "\(time.prefix(8))/us-east-1/cognito-sync/aws4_request"
        guard
            let canonical = CanonicalRequest.text(
                of: request, fieldNames: names, bodyDigest: hexadecimal(SHA256Digest.digest(request.body)))
        else { return nil }
        let text =
            "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(hexadecimal(SHA256Digest.digest(Array(canonical.utf8))))"
        var code = Array("AWS4\(key.secret)".utf8)
        for part in scope.split(separator: "/") { code = MessageAuthentication.code(of: Array(part.utf8), key: code) }
        let signature = hexadecimal(MessageAuthentication.code(of: Array(text.utf8), key: code))
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(key.identifier)/\(scope), SignedHeaders=\(names.joined(separator: ";")), "
            + "Signature=\(signature)"
        request = HTTPRequest(
            method: request.method, target: request.target,
            fields: fields + [HTTPField("authorization", authorization)],
            body: request.body, clientAddress: request.clientAddress)
        return request
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String { DeviceToken(bytes: bytes)?.hexadecimal ?? "" }
}
