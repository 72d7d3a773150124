import Notifications
import RegistryCore

/// The requirements for every implementation of `CourierRegistry`.
enum CourierConformance {
    /// All checks.
    static let all: [RegistryConformance] = waitingChecks + endingChecks

    // MARK: Values and steps that the checks share

    static let now: Int64 = 1_700_000_000_000

    static func register(_ names: String..., app: String = "chat", in registry: any RegistryConformance.Store) throws {
        try registry.upsert(
            try names.map { name in
                var device = try RegistryConformance.device(name, app: app, identity: nil, registeredAt: now)
                device.platform = .courier
                return device
            })
    }

    static func message(
        _ text: String, to name: String, app: String = "chat", push: UInt64, collapse: String? = nil,
        expiresAfter milliseconds: Int64 = 60_000
    ) throws -> CourierMessage {
        CourierMessage(
            token: try token(name), app: app, pushID: APNsIdentifier(high: .max, low: push), collapseID: collapse,
            expiresAtMilliseconds: now + milliseconds, payload: Array(text.utf8))
    }

    static func token(_ name: String) throws -> DeviceToken { try RegistryConformance.device(name).token }

    /// The answers to one request for some devices, as texts.
    static func collected(
        _ names: String..., from registry: any RegistryConformance.Store, after milliseconds: Int64 = 0
    ) throws -> [String] {
        let tokens = try names.map { try token($0) }
        return try registry.collect(tokens, nowMilliseconds: now + milliseconds).map { mail in
            switch mail {
            case .unknown: "unknown"
            case .nothing: "nothing"
            case .payload(let payload): String(decoding: payload, as: UTF8.self)
            }
        }
    }

    /// Everything that waits for a device, which is empty afterwards.
    static func everything(for name: String, in registry: any RegistryConformance.Store) throws -> [String] {
        var texts: [String] = []
        while let text = try collected(name, from: registry).first, text != "nothing" { texts.append(text) }
        return texts
    }
}

extension CourierConformance {
    static let waitingChecks = [
        RegistryConformance("Messages are taken one by one, the oldest first, and each once") { registry in
            try register("a", "b", in: registry)
            let messages = [
                try message("1", to: "a", push: 1), try message("2", to: "b", push: 2),
                try message("3", to: "a", push: 3),
            ]
            let areThere = try registry.deposit(messages, nowMilliseconds: now)
            try RegistryConformance.expect(areThere, is: [true, true, true], "all devices are there")
            try RegistryConformance.expect(
                try collected("b", "x", "a", from: registry), is: ["2", "unknown", "1"], "the first")
            try RegistryConformance.expect(
                try collected("a", "b", from: registry), is: ["3", "nothing"], "the second")
            try RegistryConformance.expect(try collected("a", from: registry), is: ["nothing"], "no more")
        },
        RegistryConformance("Only devices that fetch have messages, each in its app") { registry in
            try register("a", in: registry)
            try register("a-mail", app: "mail", in: registry)
            try registry.upsert([try RegistryConformance.device("phone", identity: nil, registeredAt: now)])
            let areThere = try registry.deposit(
                [
                    try message("1", to: "a", app: "mail", push: 1), try message("2", to: "phone", push: 2),
                    try message("3", to: "a-mail", app: "mail", push: 3), try message("4", to: "no", push: 4),
                ], nowMilliseconds: now)
            try RegistryConformance.expect(areThere, is: [false, false, true, false], "who is there")
            try RegistryConformance.expect(
                try collected("a", "phone", "a-mail", from: registry), is: ["nothing", "unknown", "3"], "messages")
        },
        RegistryConformance("A push that waits already does not wait twice") { registry in
            try register("a", "b", in: registry)
            let message = try message("1", to: "a", push: 1)
            _ = try registry.deposit([message, message], nowMilliseconds: now)
            _ = try registry.deposit(
                [message, try Self.message("2", to: "b", push: 1)], nowMilliseconds: now)
            try RegistryConformance.expect(try everything(for: "a", in: registry), is: ["1"], "of one device")
            try RegistryConformance.expect(try everything(for: "b", in: registry), is: ["2"], "of the other")
        },
        RegistryConformance("A message takes the place of those with the same collapse identifier") { registry in
            try register("a", "b", in: registry)
            _ = try registry.deposit(
                [
                    try message("old", to: "a", push: 1, collapse: "x"), try message("other", to: "a", push: 2),
                    try message("y", to: "a", push: 3, collapse: "y"),
                    try message("b", to: "b", push: 4, collapse: "x"),
                ], nowMilliseconds: now)
            _ = try registry.deposit(
                [
                    try message("newer", to: "a", push: 5, collapse: "x"),
                    try message("newest", to: "a", push: 6, collapse: "x"),
                ], nowMilliseconds: now)
            try RegistryConformance.expect(
                try everything(for: "a", in: registry), is: ["other", "y", "newest"], "of one device")
            try RegistryConformance.expect(try everything(for: "b", in: registry), is: ["b"], "of the other")
        },
    ]
}

extension CourierConformance {
    static let endingChecks = [
        RegistryConformance("A device has so many messages at most, the newest") { registry in
            try register("a", in: registry)
            let maximum = CourierRules.messagesPerDeviceMaximum
            let messages = try (1...maximum + 7).map { try message("\($0)", to: "a", push: UInt64($0)) }
            _ = try registry.deposit(Array(messages.prefix(5)), nowMilliseconds: now)
            _ = try registry.deposit(Array(messages.dropFirst(5)), nowMilliseconds: now)
            try RegistryConformance.expect(
                try everything(for: "a", in: registry), is: (8...maximum + 7).map { "\($0)" }, "the newest")
        },
        RegistryConformance("A message that has expired is not taken, and makes no other go") { registry in
            try register("a", in: registry)
            let maximum = CourierRules.messagesPerDeviceMaximum
            let short = try (1...maximum).map {
                try message("short", to: "a", push: UInt64($0), expiresAfter: 1_000)
            }
            _ = try registry.deposit(
                short.dropLast() + [try message("long", to: "a", push: 0)], nowMilliseconds: now)
            try RegistryConformance.expect(try collected("a", from: registry, after: 999), is: ["short"], "in time")
            try RegistryConformance.expect(try collected("a", from: registry, after: 1_000), is: ["long"], "late")
            _ = try registry.deposit(
                short.dropLast() + [try message("long", to: "a", push: 0)], nowMilliseconds: now)
            let more = try (1...maximum - 1).map { try message("more", to: "a", push: UInt64($0 + 1_000)) }
            _ = try registry.deposit(more, nowMilliseconds: now + 2_000)
            try RegistryConformance.expect(try collected("a", from: registry, after: 2_000), is: ["long"], "kept")
        },
        RegistryConformance("Messages end with their device") { registry in
            try register("a", in: registry)
            _ = try registry.deposit([try message("1", to: "a", push: 1)], nowMilliseconds: now)
            _ = try registry.removeDevice("a")
            try RegistryConformance.expect(try collected("a", from: registry), is: ["unknown"], "removed")
            try register("a", in: registry)
            try RegistryConformance.expect(try collected("a", from: registry), is: ["nothing"], "registered again")
        },
        RegistryConformance("A device that has not asked for long counts as gone, until it asks") { registry in
            try register("a", "b", in: registry)
            let silence = CourierRules.silenceMillisecondsMaximum
            func areThere(after milliseconds: Int64) throws -> [Bool] {
                try registry.deposit(
                    [
                        try message("1", to: "a", push: 1, expiresAfter: 1),
                        try message("1", to: "b", push: 1, expiresAfter: 1),
                    ], nowMilliseconds: now + milliseconds)
            }
            // It counts from the first message, so a device that has been there for long without one is there.
            try RegistryConformance.expect(try areThere(after: 9 * silence), is: [true, true], "at first")
            try RegistryConformance.expect(try areThere(after: 10 * silence), is: [true, true], "just in time")
            try RegistryConformance.expect(
                try collected("a", from: registry, after: 10 * silence), is: ["nothing"], "one asks")
            try RegistryConformance.expect(
                try areThere(after: 10 * silence + 1), is: [true, false], "the other does not")
            try RegistryConformance.expect(
                try areThere(after: 11 * silence + 1), is: [false, false], "neither does any more")
        },
    ]
}
