import Essentials
import HTTPServer
import RegistryCore

/// Authenticates requests of the CloudKit API, and checks their permissions.
struct CloudKitAdmission: Sendable {
    typealias Work = @Sendable (CloudKitSender, RegistryContext) throws(CloudKitError) -> HTTPResponse

    private let apps: [RegistryAPIApp]
    private let gate: TokenGate
    private let verifier: ServerKeyVerifier
    private let courierAddress: CourierAddress
    private let nowMilliseconds: @Sendable () -> Int64

    init(
        configuration: RegistryServerConfiguration, credentials: CredentialGuard, courierAddress: CourierAddress,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        apps = configuration.apps
        gate = TokenGate(credentials: credentials)
        verifier = ServerKeyVerifier(keys: configuration.serverKeys)
        self.courierAddress = courierAddress
        self.nowMilliseconds = nowMilliseconds
    }

    /// Lets a request through whose sender is known.
    ///
    /// - Parameters:
    ///   - request: the received request.
    ///   - writes: whether it changes something.
    ///   - work: the request's work on the registry's thread.
    /// - Returns: the work, or why it is not done.
    func admit(_ request: HTTPRequest, writes: Bool, _ work: @escaping Work) -> Admission {
        do throws(CloudKitError) {
            switch try CloudKitCredential(request) {
            case .nothing: throw CloudKitError(gate.missing(request))
            case .token(let digest):
                let first = RegistryStep.reading { context in
                    do throws(CloudKitError) {
                        let sender = try sender(digest, request, writes: writes, context)
                        return .last(writes: writes, from: context) { Self.answer(work, sender, $0) }
                    } catch {
                        return .answered(error.response())
                    }
                }
                return .admitted(as: gate.credential(digest, request), first)
            case .signature:
                let (credential, sender) = try signer(of: request, writes: writes)
                return .admitted(as: credential, .last(writes: writes) { Self.answer(work, sender, $0) })
            }
        } catch {
            return .answered(error.response())
        }
    }

    /// Decides whether a long body is read; a signature covers the body, so that of it only the name of its key counts.
    func admitBody(of request: HTTPRequest) -> BodyAdmission {
        do throws(CloudKitError) {
            switch try CloudKitCredential(request) {
            case .nothing: throw CloudKitError(gate.missing(request))
            case .token(let digest): return gate.admitBody(digest, request) { CloudKitError($0).response() }
            case .signature:
                if verifier.hasKey(of: request) { return .allowed }
                _ = try signer(of: request, writes: false)
                return .allowed
            }
        } catch {
            return .refused(error.response())
        }
    }

    private static func answer(_ work: Work, _ sender: CloudKitSender, _ context: RegistryContext) -> HTTPResponse {
        do throws(CloudKitError) {
            return try work(sender, context)
        } catch {
            return error.response()
        }
    }

    private func sender(
        _ digest: [UInt8], _ request: HTTPRequest, writes: Bool, _ context: RegistryContext
    ) throws(CloudKitError) -> CloudKitSender {
        do throws(TokenRefusal) {
            return CloudKitSender(try gate.open(digest, request, for: writes ? .write : .read, context))
        } catch {
            throw CloudKitError(error)
        }
    }

    private func signer(
        of request: HTTPRequest, writes: Bool
    ) throws(CloudKitError) -> (credential: String, sender: CloudKitSender) {
        let key: ServerKey
        do throws(CloudKitError) {
            key = try verifier.verify(request, nowMilliseconds: nowMilliseconds())
        } catch {
            guard let wait = gate.credentials.authenticationFailed(request, "no such server key or signature") else {
                throw error
            }
            throw CloudKitError(TokenRefusal.unknownTooOften(retryAfterSeconds: wait))
        }
        let credential = "server key \(key.identifier)"
        if let wait = gate.credentials.take(credential) {
            throw CloudKitError(TokenRefusal.tooMany(retryAfterSeconds: wait))
        }
        guard !writes || key.permission == .write else {
            throw CloudKitError(.accessDenied, "The server key may only read.")
        }
        return (credential, CloudKitSender(key))
    }

    /// The call of a request with a known sender.
    ///
    /// - Throws: `CloudKitError` if there is no such container, or if the sender may not use it, or for no such user.
    func call(
        _ request: HTTPRequest, _ values: PathValues, _ sender: CloudKitSender, _ context: RegistryContext
    ) throws(CloudKitError) -> CloudKitCall {
        let container = values["container"]
        guard let app = apps.first(where: { "iCloud.\($0.bundleID)".hasBytes(of: container) }),
            sender.app == nil || sender.app == app.name
        else {
            throw CloudKitError(
                .notFound,
                "There is no container \"\(container.prefix(256))\", or the token or the key is not for its app.")
        }
        guard ["development", "production"].contains(values["environment"]) else {
            throw CloudKitError(.notFound, "The environment is development or production.")
        }
        return CloudKitCall(
            app: app.name, userID: try user(of: request, values, sender), request: request, values: values,
            context: context, courierAddress: courierAddress)
    }

    private func user(
        of request: HTTPRequest, _ values: PathValues, _ sender: CloudKitSender
    ) throws(CloudKitError) -> String {
        let named = Set(request.target.queryItems.filter { $0.name == "ckWebAuthToken" }.map { Array($0.value.utf8) })
        if let userID = sender.userID {
            guard named.isEmpty else {
                throw CloudKitError(
                    .badRequest,
                    "A request that a server key signs is on behalf of the key's user: its query is not "
                        + "signed, so it cannot name another with ckWebAuthToken.")
            }
            guard values.values["database"] ?? "public" == "public" else {
                throw CloudKitError(.accessDenied, "A server key reaches the public database only.")
            }
            return userID
        }
        guard named.count <= 1 else {
            throw CloudKitError(.badRequest, "The request names several users in ckWebAuthToken; it needs one.")
        }
        guard let user = named.first, !user.isEmpty else {
            throw CloudKitError(
                .authenticationRequired, "The user is missing: give its name as ckWebAuthToken.")
        }
        return String(decoding: user, as: UTF8.self)
    }
}

/// The credential of a CloudKit request.
enum CloudKitCredential {
    /// A bearer token, by its digest.
    case token(digest: [UInt8])
    /// A signature of a server-to-server key.
    case signature
    /// No credential.
    case nothing

    /// Reads the credential of a request, from the header `Authorization` and the query's `ckAPIToken`.
    ///
    /// - Throws: `CloudKitError` if it has several that differ, because a proxy may check one of them and this server
    ///   another.
    init(_ request: HTTPRequest) throws(CloudKitError) {
        let scheme = "bearer "
        let fields = request.fields.filter { $0.name == "authorization" }.map(\.value)
        let headers = fields.filter { $0.prefix(scheme.count).lowercased() == scheme }.map { field in
            String(field.dropFirst(scheme.count).drop { $0 == " " })
        }
        let items = request.target.queryItems.filter { $0.name == "ckAPIToken" }.map(\.value)
        let tokens = Set((headers + items).filter { !$0.isEmpty }.map { Array($0.utf8) })
        guard tokens.count <= 1, fields.count <= 1 else {
            throw CloudKitError(
                .badRequest, "The request has several tokens, in Authorization or ckAPIToken; it needs one.")
        }
        if ServerKeyVerifier.isSigned(request) {
            guard tokens.isEmpty else {
                throw CloudKitError(
                    .badRequest, "The request has a token and a signature of a server key; it needs one of them.")
            }
            self = .signature
        } else if let token = tokens.first {
            self = .token(digest: BearerToken.digest(of: String(decoding: token, as: UTF8.self)))
        } else {
            self = .nothing
        }
    }
}

/// The sender of a CloudKit request: the holder of a token, or of a server key.
struct CloudKitSender: Sendable {
    /// The only app that it may use; nil for all.
    let app: String?
    /// On whose behalf all its requests are; nil if each says so itself.
    let userID: String?

    init(_ token: APIToken) {
        app = token.app
        userID = nil
    }

    init(_ key: ServerKey) {
        app = key.app
        userID = key.userID
    }
}
