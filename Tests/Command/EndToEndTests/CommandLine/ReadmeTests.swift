import Foundation
import PushTestKit
import Testing

/// The README, whose blocks are run as they stand and in their order.
@Suite("The README", .timeLimit(.minutes(3)))
struct ReadmeTests {
    /// A fenced block of the README.
    private struct Block {
        let language: String
        let text: String
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The programs that run blocks; a block of text is what a command prints.
    private static let programs = ["sh": "source", "python": "/usr/bin/python3"]

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func blocks() throws -> [Block] {
        try file("README.md").matches(of: /(?m)^```(\w+)\n((?:.*\n)*?)```$/).map {
            Block(language: String($0.output.1), text: String($0.output.2))
        }
    }

    /// The lines that install packages or build, which the tests have behind them.
    private static func isBuilding(_ line: Substring) -> Bool { line.hasPrefix("sudo ") || line.hasPrefix("make ") }

    @Test("It has at most 150 lines, leads to schemas and examples, and each block is run or printed by a command")
    func form() throws {
        for folder in ["schemas", "examples"] { #expect(try Self.file("README.md").contains("](deploy/\(folder))")) }
        #expect(try Self.file("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
        for block in try Self.blocks() {
            #expect(Self.programs[block.language] != nil || block.language == "text", "\(block)")
        }
    }

    @Test("What it builds has a target, and what the demo prints is what it says")
    func commands() throws {
        let targets = try Self.file("Makefile").matches(of: /(?m)^([a-z]+):/).map { String($0.output.1) }
        let lines = try Self.blocks().filter { $0.language == "sh" }.flatMap { $0.text.split(separator: "\n") }
        let built = lines.filter { $0.hasPrefix("make ") }.map { $0.split(separator: " ")[1] }
        #expect(built.count == 3)
        for target in built { #expect(targets.contains(String(target)), "make \(target)") }
        let demo = try Self.file("deploy/demo/ledger.py") + Self.file("deploy/demo/main.py")
        for block in try Self.blocks() where block.language == "text" {
            for line in block.text.split(separator: "\n") {
                let words = line.replacing(#/ +[0-9]+  ok$/#, with: "").drop { $0 == " " }
                #expect(demo.contains("\"\(words)\""), "\(line)")
            }
        }
    }

    @Test("Every block runs as it stands, in the order of the document, and the phones get the pushes")
    func blocksRun() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let ports = try FreePorts.find(3)
        let replaced = [
            ("5672", broker.port), ("8080", ports[0]), ("8443", ports[1]), ("9464", ports[2]),
        ]
        let folder = try TemporaryFolder()
        // The shell writes the program itself: a file that this process wrote is busy while a test starts a child.
        var script = """
            set -eEuo pipefail
            trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
            cat > "$README_FOLDER/apus" <<'END'
            #!/bin/sh
            exec /usr/bin/setpriv --pdeathsig KILL -- '\(CommandRunner.apusPath)' "$@"
            END
            chmod 755 "$README_FOLDER/apus"
            PATH="$README_FOLDER:$PATH"

            """
        let blocks = try Self.blocks().filter { $0.language != "text" }
        for (index, block) in blocks.enumerated() {
            var text = block.text.split(separator: "\n").filter { !Self.isBuilding($0) }.joined(separator: "\n") + "\n"
            for (port, other) in replaced { text.replace(port, with: "\(other)") }
            try folder.write("block-\(index)", text)
            if index == blocks.count - 1 {
                // The last block ends the worker, which a reader does after the pushes have come.
                script += "until [ -e \"$README_FOLDER/arrived\" ]; do sleep 0.1; done\n"
            }
            let program = try #require(Self.programs[block.language])
            script += "echo \"block \(index): \(block.language)\" >&2\n"
            script += "\(program) \"$README_FOLDER/block-\(index)\"\npwd > \"$README_FOLDER/working-folder\"\n"
        }
        try folder.write("script", script)
        let command = try RunningCommand(
            program: "/bin/bash", ["\(folder.path)/script"],
            environment: [
                "README_FOLDER": folder.path, "TMPDIR": folder.path, "AWS_EC2_METADATA_DISABLED": "true",
                "AWS_CONFIG_FILE": "/dev/null", "PYTHONWARNINGS": "ignore",
                // `apus init --local` writes the standard ports, which may be taken here.
                "APUS_RABBITMQ_URL": broker.url, "APUS_ADMIN_LISTEN": "127.0.0.1:\(ports[2])",
                "APUS_REGISTRY_LISTEN": "127.0.0.1:\(ports[0])",
                "APUS_APP_0_APNS_ENDPOINT": "127.0.0.1:\(ports[1])",
            ], in: folder)

        // For the topic one by `apus publish` and one by Python, and one each for the dataset and the record.
        let pushes = try await eventually("the pushes of the README") {
            if command.hasEnded { throw PrivateServerFailure("\(command.output)\(command.errors)") }
            return try Self.pushes(in: folder)
        } until: {
            $0.count >= 4
        }
        try folder.write("arrived", "")
        let end = await command.end()
        #expect(end.exitCode == 0, "\(end)")
        #expect(end.output.contains("OK      registry: ") && !end.output.contains("FAILED"), "\(end)")
        #expect(pushes.count { $0.contains("Are you there?") } == 1, "\(pushes)")
        #expect(pushes.count { $0.contains("Still there?") } == 1, "\(pushes)")
        #expect(pushes.count { $0.contains("New: Rain") } == 1, "\(pushes)")
        #expect(pushes.count { $0.contains(#""datasetName":"notes""#) } == 1, "\(pushes)")
        #expect(pushes.allSatisfy { $0.contains(#""status":200"#) }, "\(pushes)")
    }

    /// The lines that the simulator has recorded.
    private static func pushes(in folder: TemporaryFolder) throws -> [Substring] {
        guard let workingFolder = try? folder.read("working-folder").split(separator: "\n").first else { return [] }
        let record = try? String(contentsOfFile: "\(workingFolder)/pushes.ndjson", encoding: .utf8)
        return record?.split(separator: "\n") ?? []
    }
}
