import Foundation
import PushTestKit
import Testing

@Suite("apus publish")
struct PublishCommandTests {
    private static func line(_ identifier: Int) -> String {
        TestEvents.event(
            "e\(identifier)", "dataset.deleted",
            #"{"identityPoolId":"p:1","identityId":"i:1","datasetName":"notes"}"#)
    }

    @Test("An event that options describe is published and confirmed, whatever its type")
    func options() async throws {
        let bench = try await BrokerFolder()
        let dataset = ["--identity-pool", "p:1", "--identity", "i:1", "--dataset", "notes"]
        let commands = [
            ["--type", "dataset.changed", "--sync-count", "7", "--device-id", "d1"] + dataset,
            ["--type", "com.example.dataset.deleted", "--id", "e1", "--source", "//backend"] + dataset,
            ["--type", "datasets.merged", "--merged", "a", "--merged", "b"] + dataset,
            ["--type", "push.requested", "--app", "chat", "--user-id", "ann", "--title", "Hi", "--badge", "0"],
            [
                "--type", "record.updated", "--record-type", "Song", "--record-name", "s", "--field", "artist=Mei",
                "--field", "price=12.5", "--database", "private", "--owner", "ann", "--zone", "Music",
            ],
        ]
        for command in commands {
            let result = try await CommandRunner.apus(["publish"] + command, in: bench.folder)
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.errors.contains("1 event published and confirmed"), "\(result)")
        }
        try await bench.waitForMessages(commands.count, in: "work")
    }

    @Test("Lines come from a file or from standard input; bad ones are named by number, and the rest is published")
    func lines() async throws {
        let bench = try await BrokerFolder()
        let file = try bench.folder.write("events", (1...3).map(Self.line).joined(separator: "\r\n") + "\n\n")
        let whole = try await bench.apus("publish", "--file", file)
        #expect(whole.exitCode == 0 && whole.errors.contains("3 events published and confirmed"), "\(whole)")
        let mixed = [Self.line(4), "{", #"{"specversion":"1.0"}"#, Self.line(5)].joined(separator: "\n")
        let partly = try await bench.apus("publish", "-f", "-", input: mixed)
        #expect(partly.exitCode == 65, "\(partly)")
        #expect(partly.errors.contains("line 2: ") && partly.errors.contains("line 3: "), "\(partly)")
        #expect(partly.errors.contains("2 events published and confirmed") && partly.errors.contains("2 invalid"))
        try await bench.waitForMessages(5, in: "work")
    }

    @Test("An exchange that is missing, or a queue that is not bound, is told with the line and the remedy")
    func refused() async throws {
        let bench = try await BrokerFolder(isApplied: false)
        let nowhere = try await bench.apus("publish", "-f", "-", input: Self.line(1))
        #expect(nowhere.exitCode == 69, "\(nowhere)")
        #expect(nowhere.errors.contains("line 1: not published: "), "\(nowhere)")
        #expect(nowhere.errors.contains("apus topology apply"), "\(nowhere)")
        #expect(nowhere.errors.contains("0 events published and confirmed, 1 not confirmed"), "\(nowhere)")
    }

    @Test("With apps in the configuration an unknown app is found, and every example of the help and of ours is right")
    func validatesWithApps() async throws {
        let bench = try await BrokerFolder()
        let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
        let settings = [
            "--set", "app.0.name=chat", "--set", "app.0.bundle_id=com.example.chat", "--set",
            "app.0.identity_pools=\(pool)", "--set", "app.0.apns.key_file=k.p8", "--set",
            "app.0.apns.key_id=ABC123DEFG", "--set", "app.0.apns.team_id=DEF123GHIJ",
        ]
        func publish(_ arguments: [String], input: String = "") async throws -> CommandResult {
            try await CommandRunner.apus(["publish"] + arguments + settings, input: input, in: bench.folder)
        }
        let push = ["--type", "push.requested", "--user-id", "ann", "--title", "Hi", "--app"]
        let known = try await publish(push + ["chat"])
        #expect(known.exitCode == 0, "\(known)")
        let unknown = try await publish(push + ["mail"])
        #expect(unknown.exitCode == 65 && unknown.errors.contains("the configured apps are \"chat\""), "\(unknown)")

        let help = try await CommandRunner.apus(["publish", "--help"], in: bench.folder)
        let examples = Self.examplesOfHelp(help.output)
        #expect(examples.count == 3)
        for example in examples {
            let result = try await publish(example)
            #expect(result.exitCode == 0, "\(example): \(result)")
        }
        let folder = URL(fileURLWithPath: #filePath).appending(path: "../../../../../deploy/examples").standardized
        let file = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let result = try await publish(["--file", "-"], input: file)
        #expect(result.exitCode == 0 && result.errors.contains("10 events published and confirmed"), "\(result)")
    }

    @Test("A dry run shows whom an event would reach and what each service would get, and leaves all as it is")
    func dryRun() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "apus.toml",
            """
            [rabbitmq]
            url = "amqp://127.0.0.1:1"
            [[app]]
            name = "chat"
            bundle_id = "com.example.chat"
            apns.key_file = "k.p8"
            apns.key_id = "ABC123DEFG"
            apns.team_id = "DEF123GHIJ"
            fcm.service_account_file = "f.json"
            """)
        func apus(_ arguments: String...) async throws -> CommandResult {
            try await CommandRunner.apus(arguments, in: folder)
        }
        let phone = try await apus(
            "device", "add", "--app", "chat", "--id", "phone", "--token", "00fc13ad", "--user", "ann")
        let tablet = try await apus(
            "device", "add", "--app", "chat", "--id", "tablet", "--platform", "GCM", "--token", "cKb0:APA91bF",
            "--user", "ann")
        let saved = try await apus(
            "subscription", "save", "cheap", "--app", "chat", "--user", "ann", "--type", "Song", "--predicate",
            "price < 20", "--fires-once", "--alert", "{title}")
        #expect([phone, tablet, saved].allSatisfy { $0.exitCode == 0 }, "\(phone) \(tablet) \(saved)")
        let push = [
            "publish", "--dry-run", "--type", "push.requested", "--app", "chat", "--id", "1", "--title", "Hi",
            "--user-id", "ann", "--user-id", "bob",
        ]
        let shown = try await CommandRunner.apus(push, in: folder)
        #expect(shown.exitCode == 0 && shown.errors.contains("1 event looked at and not published"), "\(shown)")
        for text in [
            "1: 2 pushes\n", "APNs to phone\n  apns-topic: com.example.chat\n", #""title":"Hi""#, "to tablet\n",
            #""token":"TOKEN""#, "no device: bob\n",
        ] {
            #expect(shown.output.contains(text), "\(text): \(shown.output)")
        }
        #expect(!shown.output.contains("00fc13ad") && !shown.output.contains("APA91bF"))
        // A subscription that fires once is there for the next dry run.
        for _ in 0..<2 {
            let record = try await apus(
                "publish", "--dry-run", "--json", "--type", "record.created", "--app", "chat", "--record-type", "Song",
                "--record-name", "s", "--field", "price=12", "--field", "title=Blue")
            #expect(record.exitCode == 0 && record.output.contains(#""pushCount":2"#), "\(record)")
            #expect(record.output.contains("Blue") && record.output.contains(#""unmatched":[]"#), "\(record)")
        }
        let wrong = try await apus("publish", "--json", "--type", "push.requested", "--app", "chat", "--topic", "t")
        #expect(wrong.exitCode == 64 && wrong.errors.contains("--dry-run"), "\(wrong)")
    }

    /// The arguments of the examples that are options alone, as a shell reads them.
    private static func examplesOfHelp(_ help: String) -> [[String]] {
        let lines = help.replacing("\\\n", with: "").split(separator: "\n").map { $0.drop { $0 == " " } }
        return lines.filter { $0.hasPrefix("apus publish --type") }.map { line in
            var words = [""]
            var isQuoted = false
            for character in line {
                if character == "'" {
                    isQuoted.toggle()
                } else if character == " ", !isQuoted {
                    if words.last != "" { words.append("") }
                } else {
                    words[words.count - 1].append(character)
                }
            }
            return Array(words.dropFirst(2))
        }
    }

    @Test("What a full queue refuses until the time limit is told, and the command ends as failed for now")
    func refusedForLong() async throws {
        let bench = try await BrokerFolder()
        let policy = "full-\(bench.namespace)"
        try await bench.broker.control(
            "set_policy", policy, "^\(bench.namespace)[.]work$", #"{"max-length":1}"#, "--apply-to", "queues")
        let lines = (1...20).map(Self.line).joined(separator: "\n")
        var given = try await bench.apus("publish", "--file", "-", "--timeout", "2", input: lines)
        // RabbitMQ tells a channel that the queue is full a little after it is.
        for _ in 0..<20 where given.exitCode == 0 {
            given = try await bench.apus("publish", "--file", "-", "--timeout", "2", input: lines)
        }
        #expect(given.exitCode == 75 && given.errors.contains("waiting: RabbitMQ refuses messages"), "\(given)")
        #expect(given.errors.contains("not confirmed"), "\(given)")
        try await bench.broker.control("clear_policy", policy)
    }

    @Test("What a full queue refuses is published again, and the command succeeds once the queue has room")
    func refusedForNow() async throws {
        let bench = try await BrokerFolder()
        let policy = "full-\(bench.namespace)"
        try await bench.broker.control(
            "set_policy", policy, "^\(bench.namespace)[.]work$", #"{"max-length":1,"overflow":"reject-publish"}"#,
            "--apply-to", "queues")
        // RabbitMQ tells a channel that the queue is full a little after it is.
        try await eventually("a refusal") {
            try await bench.apus("publish", "--file", "-", "--timeout", "1", input: Self.line(1)).exitCode
        } until: {
            $0 == 75
        }
        let before = try #require(try await bench.messageCount("work"))
        let file = try bench.folder.write("events", (1...20).map(Self.line).joined(separator: "\n"))
        let running = try RunningCommand(["publish", "--file", file], in: bench.folder)
        try await running.wait(for: "waiting: RabbitMQ refuses messages (basic.nack)")
        try await bench.broker.control("clear_policy", policy)
        let result = await running.end()
        #expect(result.exitCode == 0 && result.errors.contains("20 events published and confirmed"), "\(result)")
        #expect(try await bench.messageCount("work") == before + 20)
    }

    @Test(
        "What is wrong with the command or the event is told before a broker is asked for",
        arguments: [
            (["publish"], 64, "give --type TYPE to publish one event, or --file FILE to publish many"),
            (["publish", "--file", "x", "--type", "dataset.changed"], 64, "omit one of them"),
            (["publish", "--file", "nowhere.ndjson"], 66, "cannot read nowhere.ndjson: No such file or directory"),
            (["publish", "--type", "dataset.changed"], 65, "data.identityPoolId is missing"),
            (["publish", "--type", "dataset.exploded"], 65, "dataset.exploded"),
            (["publish", "--type", "dataset.changed", "--sync-count", "-1"], 64, "--sync-count"),
            (["publish", "--type", "push.requested", "--app", "chat", "--device-token", "abc"], 65, "deviceTokens[0]"),
            (["publish", "--type", "push.requested", "--app", "chat", "--user-id", "u"], 65, "an alert push needs"),
            (["publish", "--type", "push.requested", "--sync-count", "1"], 64, "--sync-count does not go with"),
            (["publish", "--type", "record.created", "--record-type", "Song"], 65, "data.recordName is missing"),
            (["publish", "--type", "record.created", "--field", "x"], 64, "--field takes NAME=VALUE"),
        ] as [([String], Int32, String)])
    func wrongEvents(arguments: [String], code: Int32, words: String) async throws {
        let folder = try TemporaryFolder()
        let result = try await CommandRunner.apus(
            arguments + ["--set", "rabbitmq.url=amqp://127.0.0.1:1/"], in: folder)
        #expect(result.exitCode == code && result.errors.contains(words), "\(result)")
    }
}
