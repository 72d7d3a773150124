import Foundation
import PushTestKit
import Testing

/// The tutorial, whose commands are run as they stand and in their order.
@Suite("The chat of the tutorial", .timeLimit(.minutes(5)))
struct ChatTutorialTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func blocks(_ language: String) throws -> [String] {
        try file("deploy/chat/README.md").matches(of: /(?m)^```(\w+)\n((?:.*\n)*?)```$/)
            .filter { $0.output.1 == language }.map { String($0.output.2) }
    }

    /// The text without white space, because each place has its own depth.
    private static func solid(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    @Test("What it shows of the backend and the app stands in them")
    func excerpts() throws {
        let client = try ["Backend", "ChatClient", "PhoneSystem"].map {
            try Self.file("deploy/chat/Client/\($0).swift")
        }
        let sources = ["swift": client, "python": [try Self.file("deploy/chat/backend.py")]]
        for (language, files) in sources {
            let excerpts = try Self.blocks(language)
            #expect(!excerpts.isEmpty)
            for excerpt in excerpts {
                #expect(files.contains { Self.solid($0).contains(Self.solid(excerpt)) }, "\(excerpt)")
            }
        }
    }

    @Test("Every command runs as it stands, and each phone shows what the other one says")
    func talks() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let ports = try FreePorts.find(4)
        let replaced = [
            ("5672", broker.port), ("8080", ports[0]), ("8443", ports[1]), ("9464", ports[2]), ("8090", ports[3]),
        ]
        let folder = try TemporaryFolder()
        var script = """
            set -eEuo pipefail
            trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
            for program in apus chat-client; do
                cat > "$CHAT_FOLDER/$program" <<END
            #!/bin/sh
            exec /usr/bin/setpriv --pdeathsig KILL -- '$CHAT_PROGRAMS/$program' "\\$@"
            END
                chmod 755 "$CHAT_FOLDER/$program"
            done
            PATH="$CHAT_FOLDER:$PATH"

            """
        for block in try Self.blocks("sh") {
            // Lines that install packages or build: the tests have that behind them.
            let lines = block.split(separator: "\n").filter { !$0.hasPrefix("sudo ") && !$0.hasPrefix("make ") }
            var text = lines.joined(separator: "\n") + "\n"
            for (port, other) in replaced { text.replace(port, with: "\(other)") }
            script += text
        }
        try folder.write("script", script)
        let command = try RunningCommand(
            program: "/bin/bash", ["\(folder.path)/script"],
            environment: [
                "CHAT_FOLDER": folder.path, "TMPDIR": folder.path,
                "CHAT": Self.root.appending(path: "deploy/chat").path,
                "CHAT_PROGRAMS": URL(fileURLWithPath: CommandRunner.apusPath).deletingLastPathComponent().path,
                "APUS_RABBITMQ_URL": broker.url, "APUS_ADMIN_LISTEN": "127.0.0.1:\(ports[2])",
                "APUS_REGISTRY_LISTEN": "127.0.0.1:\(ports[0])",
                "APUS_APP_0_APNS_ENDPOINT": "127.0.0.1:\(ports[1])",
            ], in: folder)
        let end = await command.end()
        #expect(end.exitCode == 0, "\(end)")
        let shown = try #require(try Self.blocks("text").last)
        #expect(end.output.contains(shown), "\(end)")
    }
}
