import ChangeEvents
import Essentials
import HTTPServer
import JSON
import Notifications
import RegistryCore

/// One request of the native API, whose sender is known, carried out on the registry's thread.
struct NativeHandler {
    /// The longest list in one body.
    static let listMaximum = 1_000

    /// The sender's token and its permissions.
    let token: APIToken
    let apps: [RegistryAPIApp]
    let request: HTTPRequest
    let values: PathValues
    let context: RegistryContext

    // MARK: Access

    /// A device that the token is for; one of another app is treated as one that there is not.
    func device() throws(NativeProblem) -> Device {
        let deviceID = values["deviceId"]
        let device = try using { (registry) throws(RegistryError) in try registry.device(deviceID) }
        guard let device, token.app == nil || token.app == device.app else {
            throw NativeProblem(.notFound, "There is no device \"\(deviceID.prefix(256))\".")
        }
        return device
    }

    /// An app that there is and that the token is for.
    func requireApp(_ name: String) throws(NativeProblem) -> RegistryAPIApp {
        guard let app = apps.first(where: { $0.name.hasBytes(of: name) }), token.app == nil || token.app == app.name
        else {
            throw NativeProblem(.notFound, "There is no app \"\(name.prefix(256))\", or the token is not for it.")
        }
        return app
    }

    /// For what concerns all apps.
    func requireAllApps() throws(NativeProblem) {
        guard token.app == nil else {
            throw NativeProblem(.forbidden, "The token is for one app, and this concerns all of them.")
        }
    }

    // MARK: Reading and answering

    /// The members of the body.
    func body(_ names: [String]) throws(NativeProblem) -> NativeBody {
        try NativeBody.requireJSON(request)
        return try NativeBody(request.body, names: names, parser: context.parser)
    }

    /// The name after which a list goes on; nil for its beginning.
    func nameAfter() throws(NativeProblem) -> String? {
        guard let name = request.query("after") else { return nil }
        guard TextRule.name.isFollowed(by: name) else { throw Self.noPosition }
        return name
    }

    /// The error of a position that no page has returned.
    static let noPosition = NativeProblem(.invalid, "after is not what 'next' of a page says.")

    /// How many entries of a list are asked for.
    func limit() throws(NativeProblem) -> Int {
        guard let text = request.query("limit") else { return 100 }
        guard let limit = Int64(digits: text), (1...Int64(Self.listMaximum)).contains(limit) else {
            throw NativeProblem(.invalid, "limit is a whole number from 1 to \(Self.listMaximum).")
        }
        return Int(limit)
    }

    /// Uses the registry; its failures become problems, and the server's own are logged.
    func using<Value>(
        _ body: (any ServedRegistry) throws(RegistryError) -> Value
    ) throws(NativeProblem) -> Value {
        do throws(RegistryError) {
            return try context.using(body)
        } catch {
            throw NativeProblem(error)
        }
    }

    /// An answer with a JSON object.
    static func json(_ status: Int = 200, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return .content(status, type: "application/json", writer.bytes)
    }

    /// How many bytes of entries an answer has about: it ends with the entry that reaches this.
    private static let pageBytesMaximum = 1_048_576

    /// An answer with some entries of a list, and what to go on after if there are more.
    ///
    /// - Parameters:
    ///   - name: the member that holds the entries.
    ///   - entries: the entries; more of them than the limit tell that there is another page.
    ///   - limit: how many the client asked for.
    ///   - hasMore: whether there are more than these.
    ///   - next: makes the next page's `after` from the last entry of this one.
    ///   - write: writes an entry.
    /// - Returns: the answer.
    static func page<Entry>(
        _ name: StaticString, _ entries: [Entry], limit: Int, hasMore: Bool = false, next: (Entry) -> String,
        write: (Entry, inout JSONWriter) -> Void
    ) -> HTTPResponse {
        json { writer in
            var count = 0
            writer.array(name) { writer in
                while count < min(entries.count, limit), writer.bytes.count < pageBytesMaximum {
                    write(entries[count], &writer)
                    count += 1
                }
            }
            guard count > 0, hasMore || count < entries.count else { return }
            writer.member("next", next(entries[count - 1]))
        }
    }

    /// The answer without content after a successful change.
    static let done = HTTPResponse(status: 204)
}

/// The tokens that a device has beside its alert token.
extension NativeHandler {
    /// `putToken`.
    func putToken() throws(NativeProblem) -> HTTPResponse {
        let kind = try tokenKind(values["kind"])
        let device = try device()
        let digits = try body(["token"]).required("token")
        let further = FurtherToken(
            deviceID: device.deviceID, kind: kind, token: try deviceToken(digits, .apns),
            registeredAtMilliseconds: context.nowMilliseconds)
        do throws(RegistryError) {
            try RegistryRules.check(further, of: device)
        } catch {
            // The token is well-formed, but the device cannot have it.
            throw NativeProblem(.conflict, error.message)
        }
        try using { (registry) throws(RegistryError) in try registry.saveTokens([further]) }
        return Self.done
    }

    /// `deleteToken`.
    func deleteToken() throws(NativeProblem) -> HTTPResponse {
        let kind = try tokenKind(values["kind"])
        let device = try device()
        _ = try using { (registry) throws(RegistryError) in try registry.removeToken(kind, of: device.deviceID) }
        return Self.done
    }

    /// The member `tokens` of a device that is registered.
    func tokens(of body: NativeBody) throws(NativeProblem) -> [TokenKind: DeviceToken] {
        var tokens: [TokenKind: DeviceToken] = [:]
        for (name, digits) in try body.texts("tokens") {
            let kind = try tokenKind(name)
            tokens[kind] = try deviceToken(digits, .apns, member: "tokens.\(kind.rawValue)")
        }
        return tokens
    }

    private func tokenKind(_ name: String) throws(NativeProblem) -> TokenKind {
        guard let kind = TokenKind(rawValue: name), kind != .alert else {
            let kinds = TokenKind.further.map(\.rawValue).joined(separator: ", ")
            throw NativeProblem(
                .invalid, "\"\(name.prefix(64))\" is no kind of token beside the device's own; kinds are: \(kinds).")
        }
        return kind
    }
}
