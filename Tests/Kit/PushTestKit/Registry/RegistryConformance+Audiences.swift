import ChangeEvents
import Notifications
import RegistryCore

extension RegistryConformance {
    static let audienceChecks = [
        RegistryConformance("A dataset's audience is the subscribers of that pool and identity, of every app") {
            registry in
            try registry.upsert([
                try device("a"), try device("b", app: "mail"), try device("c"), try device("d", identity: "identity:2"),
                try device("e", pool: "eu-west-1:0"),
            ])
            for name in ["a", "b", "d", "e"] { try registry.subscribe(name, toDataset: "settings") }
            try registry.subscribe("c", toDataset: "profile")
            try expect(try found(.dataset(dataset("settings")), in: registry), is: ["a", "b"], "audience")
            try expect(try found(.dataset(dataset("profile")), in: registry), is: ["c"], "other dataset")
            let otherPool = Audience.dataset(dataset("settings", pool: "eu-west-1:0"))
            try expect(try found(otherPool, in: registry), is: ["e"], "other pool")
            let noPool = Audience.dataset(dataset("settings", pool: "none"))
            try expect(try found(noPool, in: registry), is: [], "unknown pool")
            try expect(try found(.dataset(dataset("x", identity: "none")), in: registry), is: [], "unknown identity")
        },
        RegistryConformance("Identities and users have their devices of one app, in the order of the list") {
            registry in
            try registry.upsert([
                try device("a", identity: "i:1", user: "u1"), try device("b", identity: "i:2", user: "u2"),
                try device("c", identity: "i:1", user: "u1"), try device("d", app: "mail", identity: "i:1", user: "u1"),
                try device("e", identity: "i:1", pool: "eu-west-1:0", user: nil),
            ])
            let identities = Audience.identities(["i:2", "i:1", "none", "i:2", "i:1"], app: "chat")
            try expect(try found(identities, in: registry), is: ["b", "a", "c", "e"], "identities")
            try expect(
                try found(identities, in: registry, limit: 1), is: ["b", "a", "c", "e"], "identities one by one")
            let users = Audience.users(["u2", "u1", "u2"], app: "chat")
            try expect(try found(users, in: registry), is: ["b", "a", "c"], "users")
            try expect(try found(users, in: registry, limit: 1), is: ["b", "a", "c"], "users one by one")
            try expect(try found(.users(["u1"], app: "mail"), in: registry), is: ["d"], "of another app")
            try expect(try found(.identities([], app: "chat"), in: registry), is: [], "no identity")
            try expect(try found(.identities(["i:1"], app: "none"), in: registry), is: [], "unknown app")
        },
        RegistryConformance("Devices are found by identifier, each once, of one app") { registry in
            try registry.upsert([try device("a"), try device("b"), try device("c", app: "mail")])
            let audience = Audience.devices(["b", "none", "c", "a", "b", ""], app: "chat")
            try expect(try found(audience, in: registry), is: ["b", "a"], "devices")
            try expect(try found(audience, in: registry, limit: 1), is: ["b", "a"], "devices one by one")
            try expect(try found(.devices(["a"], app: "none"), in: registry), is: [], "unknown app")
        },
        RegistryConformance("A token that is not registered is pushed to as well") { registry in
            let known = try device("known", token: [0xab, 0xcd])
            var sandbox = try device("sandbox", token: [0x02])
            sandbox.platform = .apnsSandbox
            try registry.upsert([known, sandbox, try device("mail", token: [0x01], app: "mail")])
            let tokens = [[1], [2], [0xab, 0xcd], [1], Array(repeating: 0xff, count: 256)]
                .compactMap { DeviceToken(bytes: $0) }
            let request = AudienceRequest(audience: .tokens(tokens, app: "chat"))
            for limit in [1, 2, 3, 100] {
                let devices = try RegistryPages.all(of: request, in: registry, limit: limit)
                let expected = [
                    Recipient(unregistered: tokens[0], app: "chat"), Recipient(sandbox), Recipient(known),
                    Recipient(unregistered: tokens[4], app: "chat"),
                ]
                try expect(devices, is: expected, "devices in pages of \(limit)")
            }
            let unknownApp = AudienceRequest(audience: .tokens([tokens[0]], app: "none"))
            let madeUp = try RegistryPages.all(of: unknownApp, in: registry, limit: 9)
            try expect(madeUp, is: [Recipient(unregistered: tokens[0], app: "none")], "unknown app")
            try expect(madeUp.first?.deviceID, is: "01", "identifier that was made up")
        },
        RegistryConformance("The device that made the change is left out of every kind of audience") { registry in
            for name in ["a", "b"] {
                let device = try device(name, user: "u")
                try registry.register([DeviceRegistration(device: device, datasetNames: ["d"], topics: ["t"])])
            }
            _ = try registry.subscribeToAllDatasets("a", names: [], includingFuture: true)
            _ = try registry.subscribeToAllDatasets("b", names: [], includingFuture: true)
            for audience in try everyAudience(of: ["a", "b"]) + [.dataset(dataset("new"))] {
                for limit in [1, 2] {
                    let all = try found(audience, in: registry, limit: limit)
                    try expect(all, is: ["a", "b"], "whole \(audience)")
                    let one = try found(audience, in: registry, excluding: "a", limit: limit)
                    try expect(one, is: ["b"], "\(audience) without a")
                    let other = try found(audience, in: registry, excluding: "b", limit: limit)
                    try expect(other, is: ["a"], "\(audience) without b")
                    let both = try found(audience, in: registry, excluding: "none", limit: limit)
                    try expect(both, is: ["a", "b"], "\(audience) without another")
                }
            }
        },
        RegistryConformance("The requests of a batch are answered in their order, of whatever kind") { registry in
            try registry.upsert((0..<50).map { try device("d\($0)", identity: "i:\($0)", user: "u\($0)") })
            for index in 0..<50 {
                try registry.subscribe("d\(index)", toDataset: "s")
                try registry.subscribe("d\(index)", toTopic: "t\(index)")
            }
            var requests: [AudienceRequest] = []
            var expected: [[String]] = []
            for index in 0..<700 {
                let number = index * 7 % 60
                requests.append(AudienceRequest(audience: try mixedAudience(kind: index % 6, number: number)))
                let madeUp = index % 6 == 5 && number >= 50
                let names = madeUp ? [hexadecimal("d\(number)")] : ["d\(number)"]
                expected.append(number < 50 || madeUp ? names : [])
            }
            let pages = try registry.resolve(requests, limit: 3)
            try expect(pages.map { $0.devices.map(\.deviceID) }, is: expected, "answers")
            try expect(pages.contains { $0.next != nil }, is: false, "whether a page follows")
        },
    ]

    static let onlyChecks = [
        RegistryConformance("A retry finds only the named devices that still belong to the audience") { registry in
            for name in ["a", "b", "c"] {
                let device = try device(name, user: "u")
                try registry.register([DeviceRegistration(device: device, datasetNames: ["d"], topics: ["t"])])
            }
            try registry.upsert([
                try device("stranger", app: "mail", identity: "stranger:0", user: "stranger"),
                try device("sibling", app: "mail", user: "u"),
            ])
            let only = ["stranger", "c", "none", "a", "c", "sibling"]
            for audience in try everyAudience(of: ["a", "b", "c"]) {
                for limit in [1, 2, 10] {
                    let names = try found(audience, in: registry, only: only, limit: limit).sorted()
                    try expect(names, is: ["a", "c"], "\(audience) in pages of \(limit)")
                }
                let rest = try found(audience, in: registry, excluding: "c", only: only)
                try expect(rest, is: ["a"], "\(audience) without c")
                try expect(try found(audience, in: registry, only: []), is: [], "\(audience), none named")
            }
            _ = try registry.unsubscribe("a", fromDataset: "d")
            try expect(try found(.dataset(dataset("d")), in: registry, only: only), is: ["c"], "after an end")
            _ = try registry.unsubscribe("a", fromTopic: "t")
            try expect(try found(.topic("t", app: "chat"), in: registry, only: only), is: ["c"], "after an end")
        },
        RegistryConformance("A retry for datasets to come finds its devices before and after the dataset is known") {
            registry in
            try registry.upsert([try device("a"), try device("b")])
            _ = try registry.subscribeToAllDatasets("a", names: nil, includingFuture: true)
            let audience = Audience.dataset(dataset("new"))
            try expect(try found(audience, in: registry, only: ["a", "b"]), is: ["a"], "not known")
            try registry.recordDatasets([dataset("new"), dataset("newer")])
            try expect(try found(audience, in: registry, only: ["a", "b"]), is: ["a"], "known")
            _ = try registry.unsubscribe("a", fromDataset: "new")
            try expect(try found(audience, in: registry, only: ["a", "b"]), is: [], "left")
            try expect(try found(.dataset(dataset("*")), in: registry, only: ["a"]), is: [], "a name that is none")
        },
        RegistryConformance("A page tells whether its devices subscribed to the dataset by name") { registry in
            try registry.upsert([try device("a"), try device("b")])
            _ = try registry.subscribeToAllDatasets("a", names: nil, includingFuture: true)
            try registry.subscribe("b", toDataset: "named")
            try expect(try isKnown("new", in: registry), is: false, "devices that wait for datasets to come")
            try expect(try isKnown("named", in: registry), is: true, "subscribers by name")
            try registry.recordDatasets([dataset("new")])
            try expect(try isKnown("new", in: registry), is: true, "devices that waited")
            try expect(try isKnown("new", in: registry, excluding: "a"), is: false, "an empty page")
            try expect(try isKnown("new", in: registry, only: ["a"]), is: false, "a retry")
        },
        RegistryConformance("A retry for a token finds it whether it is registered or not") { registry in
            try registry.upsert([try device("known", token: [1])])
            let tokens = (1...4).compactMap { DeviceToken(bytes: [$0]) }
            let audience = Audience.tokens(tokens, app: "chat")
            try expect(try found(audience, in: registry, only: ["known", "03"]), is: ["known", "03"], "both kinds")
            try expect(try found(audience, in: registry, only: ["01"]), is: ["known"], "registered in between")
            try registry.upsert([try device("third", token: [3])])
            try expect(try found(audience, in: registry, only: ["03"]), is: ["third"], "registered in between")
            try expect(try found(audience, in: registry, excluding: "third", only: ["03"]), is: [], "left out")
            try expect(try found(audience, in: registry, only: ["05", "zz", "none"]), is: [], "of no interest")
        },
    ]

    private static func isKnown(
        _ name: String, in registry: any Registry, excluding: String? = nil, only: [String]? = nil
    ) throws -> Bool {
        let request = AudienceRequest(
            audience: .dataset(dataset(name)), excludedDeviceID: excluding, onlyDeviceIDs: only)
        return try registry.resolve([request], limit: 10)[0].isOfKnownDataset
    }

    /// Audiences of each kind that consist of devices which `device(_:)` made, with user `u`, dataset `d`, topic `t`.
    private static func everyAudience(of names: [String]) throws -> [Audience] {
        [
            .dataset(dataset("d")), .topic("t", app: "chat"), .devices(names, app: "chat"),
            .tokens(try names.map { try device($0).token }, app: "chat"), .identities(["identity:1"], app: "chat"),
            .users(["u"], app: "chat"),
        ]
    }

    private static func mixedAudience(kind: Int, number: Int) throws -> Audience {
        switch kind {
        case 0: .dataset(dataset("s", identity: "i:\(number)"))
        case 1: .topic("t\(number)", app: "chat")
        case 2: .devices(["d\(number)"], app: "chat")
        case 3: .identities(["i:\(number)"], app: "chat")
        case 4: .users(["u\(number)"], app: "chat")
        default: .tokens([try device("d\(number)").token], app: "chat")
        }
    }

    private static func hexadecimal(_ text: String) -> String {
        DeviceToken(bytes: Array(text.utf8))?.hexadecimal ?? ""
    }
}
