import PushTestKit
import Testing

@Suite("apus publish")
struct PublishCommandTests {
    private static func line(_ identifier: Int) -> String {
        #"{"specversion":"1.0","id":"e\#(identifier)","source":"test","type":"dataset.deleted","data":{"#
            + #""identityPoolId":"p:1","identityId":"i:1","datasetName":"notes"}}"#
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
        #expect(partly.errors.contains("2 events published and confirmed") && partly.errors.contains("2 bad"))
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

    @Test(
        "What is wrong with the command or the event is told before a broker is asked for",
        arguments: [
            (["publish"], 64, "give --type TYPE to publish one event, or --file FILE to publish many"),
            (["publish", "--file", "x", "--type", "dataset.changed"], 64, "leave one of them out"),
            (["publish", "--file", "nowhere.ndjson"], 66, "cannot read nowhere.ndjson: No such file or directory"),
            (["publish", "--type", "dataset.changed"], 65, "data.identityPoolId is missing"),
            (["publish", "--type", "dataset.exploded"], 65, "dataset.exploded"),
            (["publish", "--type", "dataset.changed", "--sync-count", "-1"], 64, "--sync-count"),
            (["publish", "--type", "push.requested", "--app", "chat", "--device-token", "abc"], 65, "deviceTokens[0]"),
        ] as [([String], Int32, String)])
    func wrongEvents(arguments: [String], code: Int32, words: String) async throws {
        let folder = try TemporaryFolder()
        let result = try await CommandRunner.apus(
            arguments + ["--set", "rabbitmq.url=amqp://127.0.0.1:1/"], in: folder)
        #expect(result.exitCode == code && result.errors.contains(words), "\(result)")
    }
}
