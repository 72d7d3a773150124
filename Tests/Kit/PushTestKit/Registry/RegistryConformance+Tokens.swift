import Notifications
import RegistryCore

extension RegistryConformance {
    static let tokenChecks = [
        RegistryConformance("A device has a token of each kind beside its alert token") { registry in
            try registry.upsert([try device("a"), try device("b")])
            let tokens = try TokenKind.further.map { try token("a", $0, [0x10, UInt8($0.rawValue.utf8.count)]) }
            try registry.saveTokens(tokens)
            try expect(try registry.tokens(of: ["b", "none", "a", "a"]), is: [[], [], tokens, tokens], "tokens")
            let renewed = try token("a", .voip, [0x11], registeredAt: 5)
            try registry.saveTokens([try token("a", .voip, [0x12]), renewed])
            try expect(try registry.tokens(of: ["a"])[0].filter { $0.kind == .voip }, is: [renewed], "renewed")
            try expect(try registry.removeToken(.voip, of: "a"), is: true, "removal")
            try expect(try registry.removeToken(.voip, of: "a"), is: false, "second removal")
            try expect(try registry.removeToken(.voip, of: "none"), is: false, "removal from no device")
            try expect(try registry.tokens(of: ["a"])[0].map(\.kind.rawValue).contains("voip"), is: false, "kinds")
        },
        RegistryConformance("A device has the owner that it was registered with, and the moment") { registry in
            try registry.upsert([try device("a", user: "mei"), try device("b", identity: nil, registeredAt: 7)])
            let found = try registry.registrations(of: ["b", "a", "none", "a"])
            let owned = TokenRegistration(identityID: "identity:1", userID: "mei", atMilliseconds: 1_000)
            try expect(found, is: [TokenRegistration(atMilliseconds: 7), owned, nil, owned], "registrations")
        },
        RegistryConformance("A further token belongs to one device of an app, as each kind") { registry in
            try registry.upsert([try device("a"), try device("b"), try device("c", app: "mail")])
            try registry.saveTokens([
                try token("a", .voip, [9]), try token("a", .widgets, [9]), try token("c", .voip, [9]),
            ])
            try registry.saveTokens([try token("b", .voip, [9])])
            let kinds = try registry.tokens(of: ["a", "b", "c"]).map { $0.map(\.kind) }
            try expect(kinds, is: [[.widgets], [.voip], [.voip]], "kinds")
        },
        RegistryConformance("What a token is registered as is found by the token, in its app") { registry in
            var sandbox = try device("a", token: [1])
            sandbox.platform = .apnsSandbox
            try registry.upsert([sandbox, try device("b", token: [2])])
            try registry.saveTokens([try token("a", .voip, [2]), try token("b", .controls, [3])])
            let tokens = try [[1], [2], [3], [4], [2]].map { try deviceToken($0) }
            let found = Set(try registry.kinds(of: tokens, app: "chat"))
            let expected: Set = [
                RegisteredToken(token: tokens[0], kind: .alert, platform: .apnsSandbox),
                RegisteredToken(token: tokens[1], kind: .alert, platform: .apns),
                RegisteredToken(token: tokens[1], kind: .voip, platform: .apnsSandbox),
                RegisteredToken(token: tokens[2], kind: .controls, platform: .apns),
            ]
            try expect(found, is: expected, "kinds")
            try expect(try registry.kinds(of: tokens, app: "mail"), is: [], "kinds in another app")
            try expect(try registry.hasTokens(.voip, app: "chat"), is: true, "voip")
            try expect(try registry.hasTokens(.widgets, app: "chat"), is: false, "widgets")
            try expect(try registry.hasTokens(.voip, app: "none"), is: false, "unknown app")
        },
        RegistryConformance("Renewal keeps the further tokens; another app or platform ends them, as removal does") {
            registry in
            func kept(_ change: (inout Device) -> Void) throws -> Int {
                try registry.upsert([try device("a")])
                try registry.saveTokens([try token("a", .voip, [9])])
                var changed = try device("a", token: [7], identity: nil, user: "u", registeredAt: 2_000)
                change(&changed)
                try registry.upsert([changed])
                let tokens = try registry.tokens(of: ["a"])
                return tokens[0].count
            }
            try expect(try kept { _ in }, is: 1, "after another alert token, identity and user")
            try expect(try kept { $0.platform = .apnsSandbox }, is: 1, "after the other environment")
            try expect(try kept { $0.app = "mail" }, is: 0, "after another app")
            try expect(try kept { $0.platform = .courier }, is: 0, "after another push service")
            try expect(try kept { _ in }, is: 1, "after a renewal")
            _ = try registry.removeDevice("a")
            try registry.upsert([try device("a")])
            try expect(try registry.tokens(of: ["a"])[0], is: [], "after removal")
        },
        RegistryConformance("A token that a device cannot have is refused, and nothing is kept") { registry in
            var web = try device("web")
            web.platform = .courier
            try registry.upsert([try device("a"), web])
            let good = try token("a", .voip, [9])
            for (code, bad) in [
                (RegistryError.Code.notFound, try token("none", .voip, [1])),
                (.invalid, try token("a", .alert, [1])), (.invalid, try token("web", .voip, [1])),
                (.invalid, try token("a", .voip, Array("a".utf8))),
            ] {
                try expect(code, "\(bad)") { try registry.saveTokens([good, bad]) }
            }
            try registry.saveTokens([])
            try expect(try registry.tokens(of: ["a"]), is: [[]], "tokens")
        },
        RegistryConformance("What is said about one kind of token removes that token and nothing else") { registry in
            let device = try device("a")
            try registry.upsert([device])
            try registry.saveTokens([
                try token("a", .voip, [9], registeredAt: 1_000), try token("a", .widgets, [9]),
            ])
            func dead(_ kind: TokenKind, since: Int64? = nil, platform: Platform = .apns) throws -> DeadToken {
                DeadToken(
                    app: "chat", platform: platform, kind: kind, token: try deviceToken([9]),
                    deadSinceMilliseconds: since)
            }
            let others = [
                try dead(.alert), try dead(.controls), try dead(.voip, platform: .apnsSandbox),
                try dead(.voip, since: 1_000),
            ]
            try expect(try registry.prune(others), is: 0, "removed at the word about others")
            try expect(try registry.prune([try dead(.voip, since: 1_001), try dead(.voip)]), is: 1, "removed")
            try expect(try registry.tokens(of: ["a"])[0].map(\.kind), is: [.widgets], "kinds")
            try expect(try registry.device("a"), is: device, "device")
        },
    ]

    private static func deviceToken(_ bytes: [UInt8]) throws -> DeviceToken {
        guard let token = DeviceToken(bytes: bytes) else { throw RegistryViolation("the check itself made no token") }
        return token
    }

    private static func token(
        _ deviceID: String, _ kind: TokenKind, _ bytes: [UInt8], registeredAt: Int64 = 1_000
    ) throws -> FurtherToken {
        FurtherToken(
            deviceID: deviceID, kind: kind, token: try deviceToken(bytes), registeredAtMilliseconds: registeredAt)
    }
}
