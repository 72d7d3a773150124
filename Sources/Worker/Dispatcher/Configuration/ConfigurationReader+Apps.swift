import APNsTransport
import Crypto
import Notifications
import PushCore
import ServiceClient

extension ConfigurationReader {
    private static let identifierRemedy = "give ten capital letters and digits, as shown in Apple's developer account"

    /// Reads the apps, and refuses what two of them claim.
    mutating func readApps() -> [Configuration.App] {
        var apps: [Configuration.App] = []
        var names: [String: Int] = [:]
        var pools: [String: Int] = [:]
        for index in 0..<appCount {
            let app = readApp(index)
            if !app.name.isEmpty, let other = names.updateValue(index, forKey: app.name) {
                fail(
                    .appName, app: index, "app \(other) has the name \"\(app.name)\" as well",
                    "give each app its own name")
            }
            for pool in app.identityPools {
                if let other = pools.updateValue(index, forKey: pool) {
                    let repetition = other == index ? "is listed twice" : "also belongs to app \(other)"
                    fail(.appIdentityPools, app: index, "\"\(pool)\" \(repetition)", "list a pool once, in one app")
                }
            }
            apps.append(app)
        }
        return apps
    }

    private mutating func readApp(_ index: Int) -> Configuration.App {
        let name = text(.appName, app: index)
        if !name.isEmpty, let requirement = TextRule.app.requirement(brokenBy: name) {
            fail(.appName, app: index, "\(name.quoted) is invalid", "it must be \(requirement)")
        }
        let bundleID = text(.appBundleID, app: index)
        if !bundleID.isEmpty, !Self.isName(bundleID, allowing: ".-", countMaximum: 255) {
            fail(
                .appBundleID, app: index, "\(bundleID.quoted) is invalid",
                "a bundle identifier is letters, digits, '.', '-', for example com.example.chat")
        }
        let pools = texts(.appIdentityPools, app: index)
        for pool in pools {
            guard let requirement = TextRule.identity.requirement(brokenBy: pool) else { continue }
            fail(.appIdentityPools, app: index, "\(pool.quoted) is invalid", "it must be \(requirement)")
        }
        let outcomes = readOutcomes(app: index)
        return Configuration.App(
            name: name, bundleID: bundleID, identityPools: pools, outcomes: outcomes,
            reportsOpens: boolean(.appOpens, app: index),
            apns: readAPNs(app: index), fcm: readFCM(app: index), adm: readADM(app: index),
            webPush: readAppWebPush(app: index), webhook: readWebhook(app: index, outcomes: outcomes))
    }

    /// Reads what the app's backend wants to hear of its pushes.
    private mutating func readOutcomes(app index: Int) -> OutcomeSelection {
        var selection: OutcomeSelection = []
        for word in texts(.appOutcomes, app: index) {
            if let kind = OutcomeKind(rawValue: word) {
                selection.formUnion(kind.selection)
            } else if word == "all" {
                selection = .all
            } else {
                fail(
                    .appOutcomes, app: index, "\(word.quoted) is no outcome",
                    "give any of \(OutcomeKind.listing), or \"all\"")
            }
        }
        return selection
    }

    /// Reads `[app.apns]`; nil if the app uses another push service and says nothing of Apple's.
    private mutating func readAPNs(app index: Int) -> Configuration.APNs? {
        let isGiven = [ConfigurationKey.appKeyFile, .appKeyID, .appTeamID].contains {
            values[$0.path(app: index)] != nil
        }
        let usesOthers = usesFCM(app: index) || usesADM(app: index) || usesWebPush(app: index)
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

    /// Reads the server that a push service is replaced by, if any.
    mutating func readEndpoint(_ key: ConfigurationKey, app index: Int) -> HostPort? {
        let text = text(key, app: index)
        guard !text.isEmpty else { return nil }
        var rest = text
        var defaultPort: UInt16?
        if text.hasPrefix("https://") {
            rest.removeFirst("https://".count)
            defaultPort = 443
            if rest.hasSuffix("/") { rest.removeLast() }
        }
        let endpoint = HostPort(rest, defaultPort: defaultPort)
        if endpoint == nil || endpoint?.port == 0 {
            fail(
                key, app: index, "\(text.quoted) is invalid",
                "write HOST:PORT or https://HOST:PORT, or \"\" for the push service's own (TLS is always used)")
        }
        return endpoint
    }

    /// Reads the proxy on the way to a push service, if any.
    mutating func readProxy(_ key: ConfigurationKey, app index: Int? = nil) -> Secret? {
        let url = text(key, app: index)
        guard !url.isEmpty else { return nil }
        do throws(ServiceError) {
            _ = try HTTPProxy(url: url)
        } catch {
            fail(key, app: index, error.message, "check each part of it")
        }
        if url.contains("@"), case .file(let path, _) = origin(of: key, app: index),
            ConfigurationFile.isReadableByOthers(path)
        {
            warn(
                key, app: index, "other users can read \(path), which holds the proxy's password",
                "run 'chmod 600 \(path)'")
        }
        return Secret(url)
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
            if ConfigurationFile.isReadableByOthers(path) {
                warn(.appKeyFile, app: index, "other users can read \(path)", "run 'chmod 600 \(path)'")
            }
        } catch {
            fail(
                .appKeyFile, app: index, "cannot read \(path): \(error.message)", error.remedy,
                isTransient: error.isTransient)
        }
    }
}
