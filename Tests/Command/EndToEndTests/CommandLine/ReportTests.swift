import PushTestKit
import Testing

/// Pins what commands print, for people and for programs, to the byte.
@Suite("Reports of commands")
struct ReportTests {
    private static let token = String(repeating: "ab", count: 32)
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            "apus.toml",
            """
            [registry]
            url = "sqlite:registry.db"
            [rabbitmq]
            url = "amqp://u:p@127.0.0.1:1"
            [admin]
            users_file = "users"

            """)
    }

    /// The output of a command, with 0 for each time in milliseconds and TIME for each in RFC 3339.
    private func output(_ line: String, _ further: String..., input: String = "") async throws -> String {
        let words = line.split(separator: " ").map(String.init) + further
        return try await CommandRunner.apus(words, input: input, in: folder).output
            .replacing(#/\b1[0-9]{12}\b/#, with: "0").replacing(#/20[0-9-]{8}T[0-9:.]+Z/#, with: "TIME")
    }

    @Test("A device is shown with its tokens and datasets")
    func device() async throws {
        let call = String(repeating: "cd", count: 32)
        let (pool, identity) = ("us-east-1:177a0000", "us-east-1:be6f0000")
        _ = try await output(
            "device add --app chat --token \(Self.token) --id d1 --user anna --dataset notes --dataset b "
                + "--identity-pool \(pool) --identity \(identity)")
        _ = try await output("device token add d1 --kind voip --token \(call)")
        #expect(
            try await output("device show d1") == """
                deviceId        d1
                platform        APNS
                token           abababab…(32 bytes)
                app             chat
                identityPoolId  \(pool)
                identityId      \(identity)
                userId          anna
                registeredAt    0 ms since 1970
                voip token      cdcdcdcd…(32 bytes)
                datasets        b notes
                futureDatasets  no

                """)
        let start =
            #"{"deviceId":"d1","platform":"APNS","token":"\#(Self.token)","app":"chat","identityPoolId":"\#(pool)","#
            + #""identityId":"\#(identity)","userId":"anna","registeredAt":0,"tokens":{"voip":"\#(call)"}"#
        #expect(
            try await output("device show d1 --json --show-token") == start
                + #","datasets":["b","notes"],"futureDatasets":false}"# + "\n")
        #expect(try await output("device list --json --show-token") == start + "}\n")
        #expect(
            try await output("device list") == """
                DEVICE\tPLATFORM\tAPP\tTOKEN\tIDENTITY POOL\tIDENTITY\tUSER
                d1\tAPNS\tchat\tabababab…(32 bytes)\t\(pool)\t\(identity)\tanna

                """)
    }

    @Test("A browser's subscription is shown in the parts that a push needs, or without them")
    func browser() async throws {
        let key = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        let subscription =
            #"{"endpoint":"https://fcm.googleapis.com/x","expirationTime":1900000000000,"#
            + #""keys":{"p256dh":"\#(key)","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}"#
        _ = try await output(
            "device import",
            input: #"{"deviceId":"w","platform":"WEB_PUSH","app":"chat","subscription":\#(subscription)}"#)
        #expect(
            try await output("device show w --show-token") == """
                deviceId        w
                platform        WEB_PUSH
                token           https://fcm.googleapis.com/x
                app             chat
                p256dh          \(key)
                auth            BTBZMqHH6r4Tts7J_aSIgg
                expiresAt       0 ms since 1970
                registeredAt    0 ms since 1970
                datasets        \("")
                futureDatasets  no

                """)
        let shown = subscription.replacing("1900000000000", with: "0")
        let start = #"{"deviceId":"w","platform":"WEB_PUSH","app":"chat","#
        #expect(
            try await output("device list --json --show-token")
                == start + #""subscription":\#(shown),"registeredAt":0,"tokens":{}}"# + "\n")
        #expect(
            try await output("device list --json").hasSuffix(
                #""app":"chat","expiresAt":0,"registeredAt":0,"tokens":{}}"# + "\n"))
    }

    @Test("A subscription is shown with its parts below each other")
    func subscription() async throws {
        let owner = "--app music --user anna"
        _ = try await output(
            "subscription save mei \(owner) --type Song --fires-on created --fires-once --badge --predicate",
            "artist = \"mei\"")
        #expect(
            try await output("subscription show mei \(owner)") == """
                subscription  mei
                app           music
                owner         user anna
                watches       Song
                database      public
                predicate     artist = "mei"
                fires on      created
                fires once    yes
                notification  {"shouldBadge":true}
                saved at      TIME

                """)
        #expect(try await output("subscription list") == "music  user anna  mei  Song where artist = \"mei\"\n")
        #expect(
            try await output("subscription list --counts --json")
                == #"{"app":"music","recordType":"Song","count":1}"# + "\n")
        #expect(try await output("topic list --app music").isEmpty)
    }

    @Test("Users of the page are listed")
    func users() async throws {
        _ = try await output("page user add maria --role operator", input: "a long password")
        #expect(try await output("page user list") == "NAME\tROLE\nmaria\toperator\n")
        #expect(try await output("page user list --json") == #"{"name":"maria","role":"operator"}"# + "\n")
    }

    @Test("The objects and the permissions of RabbitMQ are printed")
    func topology() async throws {
        #expect(
            try await output("topology print").contains(
                """
                quorum queue apus.dead-letter
                    messages that need a person; `apus dead-letters` collects them
                    x-queue-type = quorum
                    x-delivery-limit = 1000000000

                """))
        #expect(
            try await output("topology print --json").hasPrefix(
                #"[{"kind":"topic exchange","name":"apus.changes","#
                    + #""purpose":"backends publish here; the routing key is free","arguments":{},"bindings":[]},"#))
        #expect(
            try await output("topology permissions").hasPrefix(
                """
                # apus relay, or a backend that publishes events
                rabbitmqctl set_permissions -p '/' 'apus-publisher' '^$' '^apus\\.changes$' '^$'

                """))
        #expect(
            try await output("topology permissions --json").hasPrefix(
                #"[{"role":"publisher","purpose":"apus relay, or a backend that publishes events","virtualHost":"/","#
                    + #""configure":"^$","write":"^apus\\.changes$","read":"^$"},"#))
    }

    @Test("The problems of a configuration and the files of a bundle are told to programs")
    func problems() async throws {
        #expect(
            try await output("check --json").hasPrefix(
                #"{"ok":false,"file":"apus.toml","problems":[{"severity":"error","origin":"apus.toml","key":"app","#
                    + #""message":"there is no app","remedy":"add a section [[app]]; 'apus init' writes a sample"}"#))
        #expect(
            try await output("doctor --output bundle --json").hasPrefix(
                #"{"folder":"bundle","files":[{"name":"system.txt","written":true,"#
                    + #""note":"the versions, and the machine"},"#))
    }

    @Test("A plan is a table for people and an object for programs")
    func plan() async throws {
        let load = "plan --devices 1e6 --events-per-second 100000 --registry sqlite"
        #expect(
            try await output(load).hasPrefix(
                "pushes                     100 000 1/s  events a second × devices an event\n"
                    + "processor time a push          16.9 µs  5.7 + 11.2 ÷ audience, "))
        #expect(
            try await output(load + " --json").hasPrefix(
                #"{"figures":{"pushesPerSecond":{"value":100000.0,"unit":"1/s","#
                    + #""rule":"events a second × devices an event"},"#))
    }
}
