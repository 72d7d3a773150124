import ChangeEvents
public import Notifications
import TOML

extension Configuration {
    /// An app that gets pushes: one `[[app]]`.
    public struct App: Hashable, Sendable {
        /// The name by which devices, events and metrics refer to it; 1 to 64 letters, digits, `.`, `-`, `_`; distinct.
        public var name: String
        /// The bundle identifier, which is the topic of its pushes.
        public var bundleID: String
        /// The Cognito identity pools whose dataset changes are this app's; distinct over all apps.
        public var identityPools: [String]
        /// The outcomes of its pushes that its backend wants.
        public var outcomes: OutcomeSelection
        /// Whether pushes of campaigns carry a receipt, with which devices report that they were opened.
        public var reportsOpens: Bool
        /// How it reaches APNs; nil if it does not.
        public var apns: APNs?
        /// How it reaches FCM; nil if it does not.
        public var fcm: FCM?
        /// How it reaches ADM; nil if it does not.
        public var adm: ADM?
        /// How it reaches browsers; nil if it does not.
        public var webPush: AppWebPush?
        /// How its backend is told of pushes over HTTP; nil if it is not.
        public var webhook: Webhook?

        /// Whether its pushes go through a push service; each app has clients that fetch their notifications.
        public func uses(_ service: PushService) -> Bool {
            switch service {
            case .apns: apns != nil
            case .fcm: fcm != nil
            case .adm: adm != nil
            case .webPush: webPush != nil
            case .courier: true
            }
        }

        /// Its proxies, whose URLs may hold passwords.
        var proxies: [Secret] { [apns?.proxy, fcm?.proxy, adm?.proxy].compactMap(\.self) }

        /// Its other secrets; the URL of the webhook may hold one.
        var secrets: [String] {
            [adm?.clientSecret.revealed, webhook?.url].compactMap(\.self) + (webhook?.secrets ?? []).map(\.revealed)
        }
    }
}

extension ConfigurationKey {
    static let appName = ConfigurationKey(
        section: "app", name: "name", kind: .string, standard: nil, example: .string("chat"),
        summary: "Name in devices, events and metrics.",
        details: "1 to 64 letters, digits, '.', '-', '_'.")
    static let appBundleID = ConfigurationKey(
        section: "app", name: "bundle_id", kind: .string, standard: nil, example: .string("com.example.chat"),
        summary: "Bundle identifier, the topic of its pushes.")
    static let appIdentityPools = ConfigurationKey(
        section: "app", name: "identity_pools", kind: .strings, standard: texts([]),
        example: texts(["us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"]),
        summary: "Cognito identity pools whose dataset changes belong to the app.")
}

extension ConfigurationReader {
    /// Reads the apps, and refuses what two of them claim.
    mutating func readApps() -> [Configuration.App] {
        var apps: [Configuration.App] = []
        var names: [String: Int] = [:]
        var pools: [String: Int] = [:]
        for index in 0..<(counts["app"] ?? 0) {
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
        let others = [ConfigurationKey.fcmServiceAccountFile, .admClientID, .appWebPushKeyFile]
        let usesOthers = others.contains { isGiven($0, app: index) }
        return Configuration.App(
            name: name, bundleID: bundleID, identityPools: pools, outcomes: outcomes,
            reportsOpens: boolean(.appOpens, app: index),
            apns: readAPNs(app: index, usesOthers: usesOthers), fcm: readFCM(app: index), adm: readADM(app: index),
            webPush: readAppWebPush(app: index), webhook: readWebhook(app: index, outcomes: outcomes))
    }
}
