import CPostgres
import Glibc

/// The address and the login of a database: a parsed URL, with the parts that may be shown.
///
/// The URL holds a password, and libpq quotes text that it cannot read. So the shape is checked here first, and a URL
/// that is refused is not quoted.
public struct ServerAddress: Sendable {
    /// A keyword of libpq and its value.
    typealias Option = (keyword: String, value: String)

    /// libpq's keywords and their values.
    let options: [Option]
    /// The options for each server that the URL names, tried in this order.
    ///
    /// libpq would try them by itself, but wait forever for one that does not answer: in the non-blocking form
    /// `connect_timeout` is the caller's task (PostgreSQL, "Database Connection Control Functions").
    let candidates: [[Option]]
    /// Whether the URL, or the environment, says itself which kind of server it wants.
    public let choosesServer: Bool
    /// Whether it wants one that can only be read.
    public let wantsStandby: Bool
    /// Host, port and database, without user and password, for messages.
    public let description: String

    /// Whether a password is written in the URL.
    public var holdsPassword: Bool { options.contains { $0.keyword == "password" || $0.keyword == "sslpassword" } }
    /// Whether the server is on this machine.
    public var isLocal: Bool {
        let hosts = options.filter { $0.keyword == "host" || $0.keyword == "hostaddr" }
            .flatMap { $0.value.split(separator: ",") }
        return hosts.allSatisfy { host in
            host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
                || host.hasPrefix("127.")
        }
    }
    /// Whether the server has to show a certificate for its name (libpq's `sslmode=verify-full`).
    public var verifiesServer: Bool { options.contains { $0.keyword == "sslmode" && $0.value == "verify-full" } }

    /// The options for libpq unless the URL sets them: our name, and the limits for vanished peers.
    private static let defaults = [
        ("application_name", "apus"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
        ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
    ]

    /// Reads a URL (PostgreSQL, "Connection URIs").
    ///
    /// - Parameter url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE`.
    /// - Throws: `ServerAddressFault`, which does not quote the URL.
    public init(url: String) throws(ServerAddressFault) {
        guard Self.isWellFormed(url) else { throw .unreadable }
        var message: UnsafeMutablePointer<CChar>?
        guard let parsed = PQconninfoParse(url, &message) else {
            PQfreemem(message)
            throw Self.unknownParameter(of: url).map { .unknownParameter($0) } ?? .unreadable
        }
        defer { PQconninfoFree(parsed) }
        var options: [Option] = []
        var option = parsed
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { options.append((String(cString: keyword), String(cString: value))) }
            option += 1
        }
        for (keyword, value) in Self.defaults where !options.contains(where: { $0.keyword == keyword }) {
            options.append((keyword, value))
        }
        if let anchors = Self.standardAnchors(options) { options.append(("sslrootcert", anchors)) }
        // The texts of all answers are read as UTF-8, whatever the environment sets.
        options.removeAll { $0.keyword == "client_encoding" }
        options.append(("client_encoding", "UTF8"))
        self.options = options
        candidates = Self.candidates(options)
        let wanted =
            options.first { $0.keyword == "target_session_attrs" }?.value
            ?? getenv("PGTARGETSESSIONATTRS").map { String(cString: $0) }
        choosesServer = wanted != nil
        wantsStandby = wanted.map { ["read-only", "standby", "prefer-standby"].contains($0) } ?? false
        let database = options.first { $0.keyword == "dbname" }.map { "/\($0.value)" } ?? ""
        let servers = Self.separate(options).map { Self.hostAndPort($0) }
        description = "postgresql://\(servers.joined(separator: ","))\(database)"
    }

    /// The system's trust anchors, for a URL that wants a certificate verified and names no anchors; nil for another.
    ///
    /// libpq looks only into the user's home, where a service has none (PostgreSQL, "SSL Support"). The file that
    /// `PGSSLROOTCERT` names, or the one in the user's home, takes precedence.
    private static func standardAnchors(_ options: [Option]) -> String? {
        func value(_ keyword: String) -> String? { options.first { $0.keyword == keyword }?.value }
        guard ["verify-ca", "verify-full"].contains(value("sslmode")), value("sslrootcert") == nil,
            getenv("PGSSLROOTCERT") == nil
        else { return nil }
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        let isAccessible = { access($0, R_OK) == 0 }
        let system = "/etc/ssl/certs/ca-certificates.crt"
        return !isAccessible(home + "/.postgresql/root.crt") && isAccessible(system) ? system : nil
    }

    /// Host and port of one server, for messages.
    static func hostAndPort(_ options: [Option]) -> String {
        func value(_ keyword: String) -> String? { options.first { $0.keyword == keyword }?.value }
        return (value("host") ?? value("hostaddr") ?? "local socket") + (value("port").map { ":\($0)" } ?? "")
    }

    private static func candidates(_ options: [Option]) -> [[Option]] {
        // This one asks for a second round if there is no standby, which only libpq can make.
        let needsAll = options.contains { $0.keyword == "target_session_attrs" && $0.value == "prefer-standby" }
        return needsAll ? [options] : separate(options)
    }

    /// Takes lists of hosts and ports apart (PostgreSQL, "Specifying Multiple Hosts"); lists that do not fit together
    /// are left to libpq, which says so.
    private static func separate(_ options: [Option]) -> [[Option]] {
        var lists: [String: [String]] = [:]
        for option in options where ["host", "hostaddr", "port"].contains(option.keyword) {
            lists[option.keyword] =
                option.value.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        }
        let count = max(lists["host"]?.count ?? 1, lists["hostaddr"]?.count ?? 1)
        guard count > 1, lists.values.allSatisfy({ $0.count == count || $0.count == 1 }) else { return [options] }
        return (0..<count).map { index in
            options.compactMap { option in
                guard let list = lists[option.keyword] else { return option }
                let value = list[list.count == 1 ? 0 : index]
                return value.isEmpty ? nil : (option.keyword, value)
            }
        }
    }

    /// Whether every part is where it seems to be, so that no part of a password can pass for a host or a port.
    private static func isWellFormed(_ url: String) -> Bool {
        guard let scheme = ["postgresql://", "postgres://"].first(where: { url.hasPrefix($0) }),
            url.utf8.allSatisfy({ $0 > 32 && $0 != 127 })
        else { return false }
        let rest = url.utf8.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let path = rest.dropFirst(authority.count).prefix { $0 != UInt8(ascii: "?") }
        let at = UInt8(ascii: "@")
        guard authority.count(where: { $0 == at }) <= 1, !path.contains(at), !path.contains(UInt8(ascii: "#"))
        else { return false }
        let hosts = authority.lastIndex(of: at).map { authority[authority.index(after: $0)...] } ?? authority[...]
        return hosts.split(separator: UInt8(ascii: ",")).allSatisfy { isHost(Substring($0)) }
    }

    /// Whether this is `HOST`, `HOST:PORT`, `:PORT` or one with an IPv6 address in brackets.
    private static func isHost(_ text: Substring) -> Bool {
        var rest = text
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return false }
            rest = text[text.index(after: end)...]
        } else {
            rest = text.drop { $0 != ":" }
        }
        return rest.isEmpty || (rest.hasPrefix(":") && rest.dropFirst().utf8.allSatisfy { (48...57).contains($0) })
    }

    /// The parameter of a URL that other clients know and libpq does not; nil if there is none.
    ///
    /// Only what can be no part of a password is quoted: a word before an equals sign, in a query without an at sign.
    private static func unknownParameter(of url: String) -> String? {
        let query = url.drop { $0 != "?" }.dropFirst()
        guard !query.contains("@"), !query.contains("?") else { return nil }
        var known: Set<String> = ["ssl"]
        guard let defaults = PQconndefaults() else { return nil }
        defer { PQconninfoFree(defaults) }
        var option = defaults
        while let keyword = option.pointee.keyword {
            known.insert(String(cString: keyword))
            option += 1
        }
        let names = query.split(separator: "&").filter { $0.contains("=") }.map { String($0.prefix { $0 != "=" }) }
        return names.first { name in
            !known.contains(name) && (1...40).contains(name.utf8.count)
                && name.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "_") }
        }
    }
}

/// Why a URL leads to no server; nothing of the URL is quoted that may be a part of a password.
public enum ServerAddressFault: Error {
    /// It is no URL of a database.
    case unreadable
    /// It has a parameter that libpq does not know.
    case unknownParameter(String)
}
