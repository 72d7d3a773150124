import PushTestKit
import Testing

/// The scripts run in the shells that they are for.
@Suite("apus completion")
struct CompletionCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "bash completes commands, options and names of files",
        arguments: [
            ("apus dev", ["device"]), ("apus topology ap", ["apply"]), ("apus device remove --jso", ["--json"]),
            ("apus run --config ap", ["apus.toml"]), ("apus run --config = ap", ["apus.toml"]),
            ("apus publish --file ap", ["apus.toml"]), ("apus zzz", []),
        ])
    func completesInBash(line: String, expected: [String]) async throws {
        try await writeScript("bash")
        try folder.write("apus.toml", "")
        let end = try await run(
            "/bin/bash",
            [
                "-c",
                """
                source completion.bash
                COMP_WORDS=(\(line))
                COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
                _apus
                printf '%s\\n' "${COMPREPLY[@]}"
                """,
            ])
        #expect(end == expected)
    }

    @Test(
        "fish completes commands and options with their summaries",
        arguments: [
            ("apus topology ap", "apply"), ("apus device remove --jso", "--json"),
            ("apus run --config ap", "apus.toml"),
        ])
    func completesInFish(line: String, expected: String) async throws {
        try await writeScript("fish")
        try folder.write("apus.toml", "")
        let end = try await run(
            "/usr/bin/fish", ["--no-config", "-c", "source completion.fish; complete -C '\(line)'"])
        #expect(end.map { $0.split(separator: "\t").first.map(String.init) } == [expected])
    }

    /// The script's arguments for zsh's own functions, which need a terminal.
    @Test("zsh is told the commands that may follow, and the options of the command")
    func completesInZsh() async throws {
        try await writeScript("zsh")
        let script = """
            _describe() { print -l -- ${(P)2} }
            _arguments() { print -l -- "$@" }
            compdef() { }
            source completion.zsh
            words=(apus topology '') CURRENT=3
            _apus
            words=(apus topology apply --) CURRENT=4
            _apus
            """
        let lines = try await run("/usr/bin/zsh", ["-f", "-c", script])
        #expect(lines.contains { $0.hasPrefix("apply:") })
        #expect(lines.contains { $0.hasPrefix("*--config=[") && $0.hasSuffix(":FILE:_files") })
    }

    @Test("Another shell is refused with the shells that there are")
    func otherShell() async throws {
        let end = try await CommandRunner.apus(["completion", "ksh"], in: folder)
        #expect(end.exitCode == 64 && end.errors.contains("SHELL is bash, zsh or fish, not 'ksh'"), "\(end)")
    }

    private func writeScript(_ shell: String) async throws {
        let end = try await CommandRunner.apus(["completion", shell], in: folder)
        try #require(end.exitCode == 0, "\(end)")
        try folder.write("completion.\(shell)", end.output)
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> [String] {
        let end = try await CommandRunner.run(program, arguments, in: folder)
        try #require(end.exitCode == 0 && end.errors.isEmpty, "\(end)")
        return end.output.split(separator: "\n").map(String.init)
    }
}

@Suite("The manual")
struct ManualTests {
    @Test("Each command has a page that mandoc finds nothing to say about, and so has the configuration")
    func pagesAreClean() async throws {
        let folder = try TemporaryFolder()
        let end = try await CommandRunner.apus(["help", "--manual", "."], in: folder)
        try #require(end.exitCode == 0, "\(end)")
        let check = "mandoc -T lint -W warning *.1 *.5"
        let show = "mandoc -T ascii apus-run.1 apus.toml.5 | sed 's,.\\x08,,g'"
        let lint = try await CommandRunner.run("/bin/sh", ["-c", "\(check) && \(show)"], in: folder)
        #expect(lint.exitCode == 0 && lint.errors.isEmpty, "\(lint)")
        for text in ["APUS-RUN(1)", "--config", "SIGTERM", "[rabbitmq]", "prefetch"] {
            #expect(lint.output.contains(text), "\(text)")
        }
    }

    @Test("The same date makes the same pages")
    func pagesAreReproducible() async throws {
        let folder = try TemporaryFolder()
        let end = try await CommandRunner.apus(
            ["help", "--manual", "."], environment: ["SOURCE_DATE_EPOCH": "1700000000"], in: folder)
        try #require(end.exitCode == 0, "\(end)")
        #expect(try folder.read("apus.1").hasPrefix(".Dd November 14, 2023\n"))
    }

    @Test("A folder that does not exist is an error that names it")
    func noFolder() async throws {
        let end = try await CommandRunner.apus(["help", "--manual", "nowhere"], in: try TemporaryFolder())
        #expect(end.exitCode != 0 && end.errors.contains("nowhere"), "\(end)")
    }
}
