import Glibc
import PushTestKit
import Testing

@Suite("The command line")
struct CommandLineTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func apus(_ arguments: String...) async throws -> CommandResult {
        try await CommandRunner.apus(arguments, in: folder)
    }

    @Test("Without words it shows the commands and ends well; --help and -h do so, too")
    func overview() async throws {
        let bare = try await apus()
        #expect(bare.exitCode == 0)
        #expect(bare.errors.isEmpty)
        #expect(bare.output.contains("\nCommands:\n  init "))
        #expect(try await apus("--help").output == bare.output)
        #expect(try await apus("-h").output == bare.output)
        #expect(try await apus("help").output == bare.output)
    }

    @Test(
        "Preloaded libraries that change the environment take no word of the command line away",
        arguments: ["faketime/libfaketimeMT.so.1", "fakechroot/libfakechroot.so"])
    func preloadedLibraries(library: String) async throws {
        let path = "/usr/lib/\(try await multiarchName())/\(library)"
        try #require(access(path, R_OK) == 0, "deploy/bin/install-packages test installs \(path)")
        let programs = [CommandRunner.apusPath] + ["FaultLedger", "worker-simulation"].map(CommandRunner.path)
        for program in programs {
            let words = ["LD_PRELOAD=\(path)", program, "--nonsense"]
            let result = try await CommandRunner.run("/usr/bin/env", words, in: folder)
            #expect(result.exitCode == 64 && result.errors.contains("--nonsense"), "\(program): \(result)")
        }
    }

    private func multiarchName() async throws -> Substring {
        let result = try await CommandRunner.run("/usr/bin/gcc", ["-print-multiarch"], in: folder)
        return result.output.prefix { !$0.isNewline }
    }

    @Test("Without a single word, not even its name, the program says so, and fails")
    func noName() async throws {
        let result = try await CommandRunner.run(
            "/bin/bash", ["-c", "exec -a '' '\(CommandRunner.apusPath)'"], in: folder)
        #expect(result.exitCode == 64 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("an empty list of arguments"), "\(result)")
        let named = try await CommandRunner.run(
            "/bin/bash", ["-c", "exec -a '' '\(CommandRunner.apusPath)' version"], in: folder)
        #expect(named.exitCode == 0, "\(named)")
    }

    @Test("The version is printed in three ways")
    func version() async throws {
        let text = try await apus("version")
        #expect(text.output.hasPrefix("apus "))
        #expect(try await apus("--version").output == text.output)
        let json = try await apus("version", "--json")
        #expect(json.output.hasPrefix(#"{"name":"apus","version":""#))
        #expect(try await apus("--json", "version").output == json.output)
    }

    @Test("Every command's help has usage, options and exit codes, wherever --help stands")
    func helps() async throws {
        let commands = [
            "init", "check", "topology print", "publish", "dead-letters list", "simulate", "simulate-adm", "version",
        ]
        for command in commands {
            let words = command.split(separator: " ").map { String($0) }
            func apus(_ arguments: [String]) async throws -> CommandResult {
                try await CommandRunner.apus(arguments, in: folder)
            }
            let help = try await apus(words + ["--help"])
            #expect(help.exitCode == 0)
            #expect(help.errors.isEmpty)
            for part in ["apus \(command)", "\nUsage:\n", "\nOptions:\n", "\nExamples:\n", "\nExit codes:\n", "--help"]
            {
                #expect(help.output.contains(part), "\(command) lacks \(part)")
            }
            for line in help.output.split(separator: "\n") { #expect(line.count <= 130, "\(line)") }
            #expect(try await apus(words + ["--nonsense", "x", "-h"]).output == help.output)
            #expect(try await apus(["help"] + words).output == help.output)
        }
    }

    @Test(
        "What cannot be understood is one line on standard error, and the exit code 64",
        arguments: [
            (["verson"], "apus: unknown command 'verson', did you mean 'version'?; see 'apus --help'"),
            (["--jsn", "version"], "apus: unknown option '--jsn' before the command; see 'apus --help'"),
            (["zzz"], "apus: unknown command 'zzz'; see 'apus --help'"),
            (["help", "zzz"], "apus help: there is no command 'apus zzz'; see 'apus help --help'"),
            (
                ["init", "--stdot"],
                "apus init: unknown option '--stdot', did you mean '--stdout'?; see 'apus init --help'"
            ),
            (["init", "-q"], "apus init: unknown option '-q'; see 'apus init --help'"),
            (["init", "a", "b"], "apus init: unexpected argument 'b'; see 'apus init --help'"),
            (["init", "--force=yes"], "apus init: --force takes no value; see 'apus init --help'"),
            (["check", "--config"], "apus check: --config needs a value: --config FILE; see 'apus check --help'"),
            (["check", "--set", "a"], "apus check: --set takes KEY=VALUE, not 'a'; see 'apus check --help'"),
            (["check", "--con"], "apus check: '--con' may be --config or --connect; see 'apus check --help'"),
            (["version", "--", "--json"], "apus version: unexpected argument '--json'; see 'apus version --help'"),
        ])
    func usageErrors(arguments: [String], message: String) async throws {
        let result = try await CommandRunner.apus(arguments, in: folder)
        #expect(result.exitCode == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors == message + "\n")
    }

    @Test("Without a configuration it is told where to get one, and no file is blamed that is not there")
    func noConfiguration() async throws {
        let run = try await apus("run")
        #expect(run.exitCode == 78)
        #expect(run.errors.contains("\n  app: there is no app, and no apus.toml here; "), "\(run)")
        #expect(run.errors.contains("'apus init' writes a sample"))
        let check = try await apus("check")
        #expect(check.exitCode == 78 && check.output.hasPrefix("error: app: there is no app"), "\(check)")
        #expect(check.output.hasSuffix("\nthe configuration: 1 error\n"), "\(check)")
    }

    @Test("A full disk under standard output is told, with the exit code 74")
    func fullDisk() async throws {
        let script = "'\(CommandRunner.apusPath)' version > /dev/full"
        let result = try await CommandRunner.run("/bin/sh", ["-c", script], in: folder)
        #expect(result.exitCode == 74)
        #expect(result.errors == "apus version: standard output: No space left on device\n")
    }

    @Test("A reader that goes away early is nothing wrong")
    func closedPipe() async throws {
        let script = "'\(CommandRunner.apusPath)' init --stdout; echo $? >&2"
        let result = try await CommandRunner.run("/bin/bash", ["-c", "(\(script)) | true"], in: folder)
        #expect(["0\n", ""].contains(result.errors), "\(result.errors)")
    }
}
