import Crypto
import TOML

extension Configuration {
    /// An app's way to APNs: `[app.apns]`.
    public struct APNs: Hashable, Sendable {
        /// The PEM file with the signing key from Apple's developer account (`AuthKey_….p8`).
        public var keyFile: String
        /// The key's identifier: ten capital letters and digits.
        public var keyID: String
        /// The identifier of the team that the key belongs to: ten capital letters and digits.
        public var teamID: String
        /// The server for devices of both environments, or nil for Apple's host of each device's environment.
        public var endpoint: HostPort?
        /// The port of Apple's servers, where `endpoint` names no other: 443 or 2197.
        public var port: UInt16
        /// The URL of the HTTP proxy to go through, or nil.
        public var proxy: Secret?
        /// A PEM file with an extra trust anchor, for a simulator, or nil.
        public var caFile: String?
        /// How many connections a worker keeps to each environment, 1 to 64.
        public var connections: Int
        /// How many connections a worker opens to each environment under pressure, 1 to 64.
        public var connectionsMaximum: Int
    }
}

extension ConfigurationKey {
    static let appKeyFile = ConfigurationKey(
        section: "app.apns", name: "key_file", kind: .string, standard: nil, example: .string("AuthKey_ABC123DEFG.p8"),
        summary: "Signing key from Apple's developer account, PEM.")
    static let appKeyID = ConfigurationKey(
        section: "app.apns", name: "key_id", kind: .string, standard: nil, example: .string("ABC123DEFG"),
        summary: "Identifier of the key, also in its file's name.",
        details: "Ten capital letters and digits.")
    static let appTeamID = ConfigurationKey(
        section: "app.apns", name: "team_id", kind: .string, standard: nil, example: .string("DEF123GHIJ"),
        summary: "Identifier of the team that owns the key.",
        details: "Ten capital letters and digits.")
    static let appEndpoint = ConfigurationKey(
        section: "app.apns", name: "endpoint", kind: .string, standard: .string(""),
        summary: "Another server for all of the app's pushes, HOST:PORT.",
        details: "For 'apus simulate'.")
    static let appPort = ConfigurationKey(
        section: "app.apns", name: "port", kind: .integer(1...65_535), standard: .integer(443),
        summary: "Port of Apple's servers.",
        details: "443, or 2197 where a firewall tells pushes apart by the port.")
    static let appProxy = ConfigurationKey(
        section: "app.apns", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        summary: "HTTP proxy on the way to APNs.",
        details: """
            http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, special characters as %XX. It must allow CONNECT to \
            the endpoint's port.
            """)
    static let appCAFile = ConfigurationKey(
        section: "app.apns", name: "ca_file", kind: .string, standard: .string(""),
        summary: "Extra trust anchor, PEM, for the simulator.")
    static let appConnections = ConfigurationKey(
        section: "app.apns", name: "connections", kind: .integer(1...64), standard: .integer(2),
        summary: "Connections kept to each of Apple's environments, one before the first push.")
    static let appConnectionsMaximum = ConfigurationKey(
        section: "app.apns", name: "connections_max", kind: .integer(1...64), standard: .integer(16),
        summary: "Most connections to each environment.",
        details: "Opened while pushes wait for streams or flow-control windows, closed when fewer suffice.")

    /// The keys of `[app.apns]`.
    static let apns = [
        appKeyFile, appKeyID, appTeamID, appEndpoint, appPort, appProxy, appCAFile, appConnections,
        appConnectionsMaximum,
    ]
}

extension ConfigurationReader {
    private static let identifierRemedy = "give ten capital letters and digits, as shown in Apple's developer account"

    /// Reads `[app.apns]`; nil if the app `usesOthers` and says nothing of Apple's.
    mutating func readAPNs(app index: Int, usesOthers: Bool) -> Configuration.APNs? {
        let isGiven = [ConfigurationKey.appKeyFile, .appKeyID, .appTeamID].contains {
            values[$0.path(app: index)] != nil
        }
        guard isGiven || !usesOthers else { return nil }
        let keyFile = resolved(text(.appKeyFile, app: index), of: .appKeyFile, app: index)
        if let keyFile, checksFile(of: .appKeyFile) { checkKeyFile(keyFile, app: index) }
        return Configuration.APNs(
            keyFile: keyFile ?? "", keyID: readIdentifier(.appKeyID, app: index),
            teamID: readIdentifier(.appTeamID, app: index), endpoint: readEndpoint(.appEndpoint, app: index),
            port: UInt16(clamping: integer(.appPort, app: index)), proxy: readProxy(.appProxy, app: index),
            caFile: readCertificateFile(.appCAFile, app: index), connections: integer(.appConnections, app: index),
            connectionsMaximum: integer(.appConnectionsMaximum, app: index))
    }

    private mutating func readIdentifier(_ key: ConfigurationKey, app index: Int) -> String {
        let identifier = text(key, app: index)
        let isRight = identifier.utf8.count == 10 && identifier.allSatisfy { "A"..."Z" ~= $0 || "0"..."9" ~= $0 }
        if values[key.path(app: index)] != nil, !isRight {
            fail(key, app: index, "\(identifier.quoted) is invalid", Self.identifierRemedy)
        }
        return identifier
    }

    private mutating func checkKeyFile(_ path: String, app index: Int) {
        let download = "name the file AuthKey_….p8 from Apple's developer account"
        do throws(ConfigurationFile.Failure) {
            let bytes = try ConfigurationFile.read(path)
            guard !bytes.isEmpty else { return fail(.appKeyFile, app: index, "\(path) is empty", download) }
            do throws(CryptoError) {
                _ = try ES256PrivateKey(pem: bytes)
            } catch {
                fail(.appKeyFile, app: index, "\(path): \(error.message)", download)
            }
            warnOfReaders(.appKeyFile, app: index, path)
        } catch { fail(.appKeyFile, app: index, reading: path, error) }
    }
}
