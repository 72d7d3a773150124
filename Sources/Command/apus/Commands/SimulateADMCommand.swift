import ADMSimulator
import PushServiceSimulator
import TOML

/// `apus simulate-adm`.
struct SimulateADMCommand: Command {
    let name = "simulate-adm"
    let summary = "Simulate Amazon Device Messaging on this machine"
    let help = CommandHelp(
        discussion: """
            Serves Amazon Device Messaging and Amazon's token endpoint over HTTP/1.1 and TLS. The
            simulator verifies access tokens, checks messages by Amazon's rules, and answers
            with Amazon's reasons. When it is ready it prints its address. It runs until
            SIGTERM or SIGINT, then prints totals.

            A worker needs the client's identifier and secret, the address and the certificate:
            set client_id, client_secret, endpoint, token_url and ca_file in [app.adm].
            --make-client writes the first two as lines of TOML. token_url is the address with
            /auth/O2/token.

            Script (--script): a file of JSON objects, one a line. Each line sets the answer
            for registration IDs:
              {"registration":"amzn1.adm-registration.v3.a","answer":"unregistered"}
              {"registration":"","answer":"unavailable","retry_after":5,"times":1}

              registration  The first characters of registration IDs; "" for all. The longest
                            match counts. Lines with the same characters are steps in their
                            order, counted for each device.
              times         The number of messages of a step. Default: unlimited.
              answer        accept, lose (accepted without an answer), silent, unregistered,
                            invalid, throttled, internal, unavailable, expired (the access
                            token), or replaced (accepted) with "successor"; "retry_after"
                            as wanted

            Faults (--faults): for requests for access tokens, one after the other, for "times"
            requests or all:
              {"fault":"answer","on":"oauth","status":503,"retry_after":20,"times":2}
              {"fault":"silence","on":"oauth"}

            Control (--control): takes lines of both kinds, {"revoke":true}, which ends all
            access tokens, {"clear":true}, which ends all faults, and {"show":true}, which
            answers with the totals, over TCP.

            Record (--record): one JSON object for each answered message.
            """,
        examples: [
            .init(
                "apus simulate-adm -l 127.0.0.1:8445 --make-client client.toml --ca-out adm-ca.pem",
                "Makes the client that the worker is, and the certificate that it trusts."),
            .init(
                "apus simulate-adm --make-client client.toml --script kindles.ndjson --record messages.ndjson",
                "Answers by a script, and records every message."),
        ],
        exitCodes: [.data, .noInput, .unavailable, .cannotCreate, .configuration])

    private static let makeClient = CommandOption.value(
        "make-client", "FILE", "Accept the client in FILE; create it (mode 0600) if there is no such file.",
        isRequired: true)

    let options = [
        SimulateOptions.listen, SimulateOptions.hostName, SimulateOptions.trustAnchorFile, makeClient,
        SimulateOptions.script, SimulateOptions.faults, SimulateOptions.control, SimulateOptions.record,
        SimulateOptions.summary, .json,
    ]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var configuration = ADMSimulatorConfiguration()
        (configuration.host, configuration.port) = try SimulateOptions.address(
            invocation.string(SimulateOptions.listen) ?? "127.0.0.1:0")
        configuration.hostNames = invocation.strings(SimulateOptions.hostName)
        configuration.recordFile = invocation.string(SimulateOptions.record)
        if let path = invocation.string(SimulateOptions.faults) {
            configuration.tokenFaults = try SimulateOptions.parsed(path) { bytes throws(SimulatorError) in
                try ADMTokenFaults(parsing: bytes)
            }
        }
        if let path = invocation.string(SimulateOptions.script) {
            configuration.script = try SimulateOptions.parsed(path) { bytes throws(SimulatorError) in
                try RegistrationScript(parsing: bytes)
            }
        }
        let path = try invocation.required(Self.makeClient)
        let client: ADMClientFile
        let isNew = !SimulateFiles.isThere(path)
        if isNew {
            client = ADMClientFile.new()
        } else {
            client = try ADMClientFile(path: path)
        }
        configuration.clients = [client.identifier: client.secret]
        let prepared = configuration
        let summary = try await SimulatorRun.run(
            invocation,
            announcing: { simulator in
                [(name: "", address: "https://" + SimulatorRun.address(host: prepared.host, port: simulator.port))]
            },
            whenReady: { _ in if isNew { try SimulateFiles.writeSecret(client.text, to: path) } },
            start: { try ADMSimulator.start(prepared) })
        return try report(summary, to: invocation)
    }

    private func report(_ summary: ADMSummary, to invocation: CommandInvocation) throws -> ExitCode {
        if try SimulatorRun.wrote(summary.json, for: invocation) {
            return SimulatorRun.exitCode(recordsLost: summary.recordsLost)
        }
        invocation.output.lines(
            """
            answered     \(summary.answered) messages
            accepted     \(summary.accepted), \(summary.duplicates) of them with registration and content of another
            replaced     \(summary.replaced) registration IDs
            tokens       \(summary.tokens.issued) access tokens issued, \(summary.tokens.refused) refused
            """)
        for answer in summary.answers where answer.status != 200 {
            invocation.output.line("\(answer.status)          \(answer.count) \(answer.reason ?? "")")
        }
        invocation.output.line(
            "unanswered   \(summary.silent) by script, \(summary.lostAnswers) accepted without an answer")
        return SimulatorRun.exitCode(recordsLost: summary.recordsLost)
    }
}

/// The identifier and the secret of a client of ADM, as two lines of TOML.
private struct ADMClientFile {
    let identifier: String
    let secret: String

    /// Draws both, in the form of Amazon's.
    static func new() -> ADMClientFile {
        func digits(_ words: Int) -> String {
            (0..<words).map { _ in String(UInt64.random(in: 1 << 60 ... .max), radix: 16) }.joined()
        }
        return ADMClientFile(
            identifier: "amzn1.application-oa2-client.\(digits(2))", secret: "amzn1.oa2-cs.v1.\(digits(4))")
    }

    private init(identifier: String, secret: String) {
        self.identifier = identifier
        self.secret = secret
    }

    /// Reads a file.
    ///
    /// - Throws: `CommandFailure` (`noInput`) if it has not both; the text shows nothing of the file.
    init(path: String) throws(CommandFailure) {
        let entries = (try? TOMLDocument.parse(try SimulateFiles.read(path))) ?? []
        func text(_ key: String) -> String? {
            guard case .string(let text)? = entries.first(where: { $0.key == key })?.node.value, !text.isEmpty else {
                return nil
            }
            return text
        }
        guard let identifier = text("client_id"), let secret = text("client_secret") else {
            throw CommandFailure(
                .noInput,
                "\(path): expected the lines client_id = \"…\" and client_secret = \"…\"; name another file, and "
                    + "it is created")
        }
        self.init(identifier: identifier, secret: secret)
    }

    /// The lines.
    var text: String { "client_id = \"\(identifier)\"\nclient_secret = \"\(secret)\"\n" }
}
