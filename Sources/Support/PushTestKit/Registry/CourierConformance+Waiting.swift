import PushCore

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
