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

    let options = SimulateOptions.place + [makeClient] + SimulateOptions.files + [.json]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var configuration = ADMSimulatorConfiguration()
        try SimulateOptions.read(invocation, into: &configuration.serving)
        configuration.tokenFaults =
            try SimulateOptions.parsed(SimulateOptions.faults, invocation, ADMTokenFaults.init(parsing:)) ?? .none
        configuration.script =
            try SimulateOptions.parsed(SimulateOptions.script, invocation, RegistrationScript.init(parsing:)) ?? .empty
        let path = try invocation.required(Self.makeClient)
        let isNew = !SimulateFiles.isThere(path)
        let client = isNew ? ADMClientFile.new() : try ADMClientFile(path: path)
        configuration.clients = [client.identifier: client.secret]
        let prepared = configuration
        return try await SimulatorRun.run(
            invocation, host: prepared.host,
            whenReady: { _ in if isNew { try SimulateFiles.writeSecret(client.text, to: path) } },
            start: { try ADMSimulator.start(prepared) }, totals: Self.totals)
    }

    private static func totals(of summary: ADMSummary) -> SimulatorTotals {
        SimulatorTotals(
            first: """
                answered     \(summary.answered) messages
                accepted     \(summary.accepted), \(summary.duplicates) of them with registration and content of another
                replaced     \(summary.replaced) registration IDs
                tokens       \(summary.tokens.issued) access tokens issued, \(summary.tokens.refused) refused
                """,
            last: ["unanswered   \(summary.silent) by script, \(summary.lostAnswers) accepted without an answer"])
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

    /// The lines.
    var text: String { "client_id = \"\(identifier)\"\nclient_secret = \"\(secret)\"\n" }
}

extension ADMClientFile {
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
}

extension ADMSimulator: OnePortSimulator {}
