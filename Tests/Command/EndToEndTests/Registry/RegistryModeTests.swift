import Crypto
import Glibc
import PushTestKit
import Testing

/// Tests of the permissions of registry files that a command makes.
struct RegistryModeTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("key.p8", ES256PrivateKey.generate().pem)
        try folder.write(
            "apus.toml",
            """
            [rabbitmq]
            url = "amqp://guest:guest@127.0.0.1:1"
            [registry]
            listen = "127.0.0.1:0"
            [admin]
            listen = "127.0.0.1:0"
            [[app]]
            name = "chat"
            bundle_id = "com.example.chat"
            [app.apns]
            key_file = "key.p8"
            key_id = "ABC123DEFG"
            team_id = "DEF123GHIJ"
            """)
    }

    /// The arguments of a shell that runs `apus` with a umask that takes nothing away.
    private func withoutUmask(_ arguments: [String]) -> [String] {
        ["-c", "umask 0; exec \"$0\" \"$@\"", CommandRunner.apusPath] + arguments
    }

    private func mode(_ name: String) -> String? {
        var status = stat()
        return stat("\(folder.path)/\(name)", &status) == 0 ? String(status.st_mode & 0o7777, radix: 8) : nil
    }

    @Test("Whatever the umask, what a command makes is its owner's alone")
    func newFiles() async throws {
        let line = #"{"deviceId":"d","app":"chat","platform":"APNS","token":"ab12"}"# + "\n"
        for (file, arguments, input) in [
            ("a.db", ["device", "import", "--set", "registry.url=sqlite:a.db"], line),
            ("b.db", ["registry", "copy", "sqlite:a.db", "sqlite:b.db"], ""),
            ("c.db", ["registry", "token", "add", "t", "--set", "registry.url=sqlite:c.db"], ""),
        ] {
            let result = try await CommandRunner.run("/bin/sh", withoutUmask(arguments), input: input, in: folder)
            #expect(result.exitCode == 0, "\(result)")
            #expect(mode(file) == "600", "\(file)")
        }
        let server = try RunningCommand(program: "/bin/sh", withoutUmask(["registry"]), in: folder)
        try await server.wait(for: "\n", in: \.output)
        for ending in ["", "-wal", "-shm"] { #expect(mode("registry.db\(ending)") == "600", "\(ending)") }
        server.signal(SIGTERM)
        #expect(await server.end().exitCode == 0)
    }

    @Test("A file that others may use is told of and left as it is")
    func looseFile() async throws {
        let made = try await CommandRunner.apus(["registry", "token", "add", "t"], in: folder)
        #expect(made.exitCode == 0, "\(made)")
        #expect(chmod("\(folder.path)/registry.db", 0o644) == 0)
        let checked = try await CommandRunner.apus(["check", "--connect"], in: folder)
        #expect(checked.output.contains("has the mode 644"), "\(checked)")
        #expect(checked.output.contains("OK      registry"), "\(checked)")
        let server = try RunningCommand(["registry"], in: folder)
        try await server.wait(for: "\n", in: \.output)
        server.signal(SIGTERM)
        let end = await server.end()
        #expect(end.exitCode == 0 && end.errors.contains("registry.mode.loose"), "\(end)")
        #expect(end.errors.contains("chmod 600"), "\(end)")
        #expect(mode("registry.db") == "644")
    }
}
