import PushCore

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
