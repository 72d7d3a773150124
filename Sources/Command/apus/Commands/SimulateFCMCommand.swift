import FCMSimulator
import FCMTransport
import PushServiceSimulator
import ServiceClient

/// `apus simulate-fcm`.
struct SimulateFCMCommand: Command {
    let name = "simulate-fcm"
    let summary = "Simulate Firebase Cloud Messaging on this machine"
    let help = CommandHelp(
        discussion: """
            Serves FCM's HTTP v1 interface and Google's token endpoint over HTTP/2 and TLS. The
            simulator verifies access tokens, checks messages by Google's rules, counts quotas,
            and answers with the errors of FCM and of Google's front end. It allows 100 open
            requests on a connection. When it is ready it prints its address. It runs until
            SIGTERM or SIGINT, then prints totals.

            A worker needs a service account, the address and the certificate: set
            service_account_file, endpoint and ca_file in [app.fcm]. --make-account writes an
            account that fetches its access tokens here.

            Script (--script): a file of JSON objects, one a line. Each line sets the answer
            for registrations:
              {"token":"dQw4","answer":"unregistered"}
              {"fid":"c","answer":"quota","times":2,"retry_after":90}
              {"token":"","answer":"refuse","reason":"HTML_502","times":1}

              token, fid   The first characters of registration tokens, or of installation
                           IDs; "" for all. The longest match counts. Lines with the same
                           characters are steps in their order, counted for each device.
              times        The number of requests of a step. Default: unlimited.
              delay        Delays the answer, in milliseconds. Default: 0.
              answer       accept, lose (accepted without an answer), silent, unregistered,
                           other-sender, malformed, quota, unavailable, internal, third-party,
                           or refuse with "reason"; "retry_after" and "status" as wanted

            Faults (--faults) and control (--control): as for `apus simulate`; "token" is the
            text of a registration, "on":"oauth" means requests for access tokens, and the
            control also takes script lines and {"revoke":true}, which ends all access tokens.

            Record (--record): one JSON object for each answered message.
            """,
        examples: [
            .init(
                "apus simulate-fcm -l 127.0.0.1:8444 --make-account account.json --ca-out fcm-ca.pem",
                "Makes the account that the worker uses, and the certificate that it trusts."),
            .init(
                "apus simulate-fcm --make-account account.json --script androids.ndjson --record messages.ndjson",
                "Answers by a script, and records every message."),
        ],
        exitCodes: [.data, .noInput, .unavailable, .cannotCreate, .configuration]
    )

    private static let projectID = CommandOption.value(
        "project", "ID", "The Firebase project of a new account. Default: apus-simulator.")
    private static let makeAccount = CommandOption.value(
        "make-account", "FILE", "Accept the service account in FILE; create it (mode 0600) if there is no such file.")

    let options =
        SimulateOptions.place + [makeAccount, projectID] + SimulateOptions.files
        + [SimulateOptions.latency, SimulateOptions.seed, SimulateOptions.loops, SimulateOptions.trusting, .json]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var configuration = FCMSimulatorConfiguration()
        try SimulateOptions.read(invocation, into: &configuration.serving)
        configuration.faults =
            try SimulateOptions.parsed(SimulateOptions.faults, invocation, SimulatorFaults.init(parsingFCM:)) ?? .none
        configuration.script =
            try SimulateOptions.parsed(SimulateOptions.script, invocation, TargetScript.init(parsing:)) ?? .empty
        configuration.projectID = invocation.string(Self.projectID) ?? configuration.projectID
        let new = try account(invocation, &configuration)
        let prepared = configuration
        return try await SimulatorRun.run(
            invocation, host: prepared.host,
            whenReady: { simulator in
                guard let new else { return }
                let address = simulator.address(host: prepared.host)
                try SimulateFiles.writeSecret(new.key.credentialsJSON(tokenURI: address + "/token"), to: new.path)
            }, start: { try await FCMSimulator.start(prepared) }, totals: Self.totals)
    }

    /// Reads the account that is accepted, or makes it.
    ///
    /// - Returns: the account that has to be written, with its file; nil if it is there.
    private func account(
        _ invocation: CommandInvocation, _ configuration: inout FCMSimulatorConfiguration
    ) throws -> (path: String, key: ServiceAccountKey)? {
        guard let path = invocation.string(Self.makeAccount) else {
            guard invocation.has(SimulateOptions.trusting) else {
                throw CommandFailure.usage("no service account is accepted: name or create one with --make-account")
            }
            return nil
        }
        guard SimulateFiles.isThere(path) else {
            do throws(SimulatorError) {
                let key = try ServiceAccountKey(projectID: configuration.projectID)
                configuration.accounts = [key.account]
                return (path, key)
            } catch { throw CommandFailure(.software, error.message) }
        }
        do throws(ServiceError) {
            let account = try ServiceAccountCredentials(.file(path)).account()
            if !account.projectID.isEmpty { configuration.projectID = account.projectID }
            configuration.accounts = [
                .init(email: account.email, publicKeysPEM: [account.keyID: account.publicKeyPEM])
            ]
            return nil
        } catch { throw CommandFailure(.noInput, error.message) }
    }

    private static func totals(of summary: FCMSummary) -> SimulatorTotals {
        SimulatorTotals(
            first: """
                answered     \(summary.answered) messages on \(summary.connections) connections
                accepted     \(summary.accepted), \(summary.duplicates) of them with the target and content of another
                tokens       \(summary.tokens.issued) access tokens issued, \(summary.tokens.refused) refused
                """,
            last: [
                "unanswered   \(summary.silent) by script and faults, \(summary.abandoned) abandoned by the sender"
            ])
    }
}

extension FCMSimulator: OnePortSimulator {}
