import APNsSimulator
import PushServiceSimulator

/// `apus simulate`.
struct SimulateCommand: Command {
    let name = "simulate"
    let summary = "Simulate APNs, Apple's push service, on this machine"
    let help = CommandHelp(
        discussion: """
            Serves APNs' provider API over HTTP/2 and TLS. The simulator verifies provider
            tokens, checks headers and payloads by Apple's rules, and answers with Apple's
            reasons. It allows one open request until it has seen a valid token. When it is
            ready it prints its address. It runs until SIGTERM or SIGINT, then prints totals.

            A worker needs the simulator's address and certificate: set endpoint and ca_file
            in [app.apns]. The certificate is created at each start.

            Script (--script): a file of JSON objects, one a line. Each line sets the answer
            for device tokens:
              {"token":"ab12…","answer":"unregistered","since":1700000000000}
              {"token":"ab","answer":"throttle","times":2}

              token    The first hexadecimal digits of the device tokens; "" for all. The
                       longest match counts. Lines with the same digits are steps in their
                       order, counted for each device token.
              times    The number of requests of a step. Default: unlimited. After the last
                       step pushes are accepted.
              delay    Delays the answer, in milliseconds. Default: 0.
              kind     The kind of the tokens: alert, voip, widgets … A push to the topic of
                       another kind is answered with DeviceTokenNotForTopic.
              answer   One of:
                accept            200, as without a script
                delay             200 after "delay"
                silent            no answer
                unregistered      410 Unregistered since "since" (Unix milliseconds; default now)
                expired-token     410 ExpiredToken since "since"
                throttle          429 TooManyRequests
                bad-device-token  400 BadDeviceToken
                not-for-topic     400 DeviceTokenNotForTopic
                status            "status" with "reason", for example 500 InternalServerError

            Faults (--faults): a file of JSON objects, one a line. "fault" is the fault, with
            its parameters (defaults in brackets):
              goaway        GOAWAY. "last": the last processed stream: newest, previous, none or
                            a number [newest]; "error": the code [0]; "reason": debug data
              reset-stream  RST_STREAM instead of an answer. "error": the code [2]; 7 is REFUSED_STREAM
              stream-limit  SETTINGS with fewer streams. "streams" [1]; "back_ms": the time until
                            the limit is back [1000]
              wedge         403 ExpiredProviderToken for the rest of the connection
              answer        "status" [200] with "reason" and "timestamp", or any "body";
                            "content_type"; "retry_after"; "header_bytes" and "body_bytes": padding
              silence       no answer
              lose-answer   accepted and recorded, but no answer
              cut-answer    an answer without its end. "bytes" of the body [0]
              delay         a late answer. "ms" [1000]
              endless-answer  an answer without an end. "of": "body" [body], or "information" (1xx)
                            before any status; "status" [200]
              tcp-reset     TCP RST. "bytes": after so many bytes to the client [0]
              tcp-silence   no more data, with TCP still open. "bytes" [0, in the handshake]
              drip          a slow connection. "bytes" a millisecond [1]
              idle-end      TCP FIN after "ms" without data [1000]
              window        a small connection window. "bytes" [65535]; "add" bytes [0] every
                            "every_ms" [100]
              certificate   a certificate of another host

            These members select the requests of a fault. The last six faults apply to whole
            connections, so only "connection" selects them:
              connection    The number of the connection, from 1. Default: all.
              after         The requests of a connection before the first fault. Default: 0.
              token         The first hexadecimal digits of the device tokens. Default: all.
              on            "request", or "rejection" for rejected requests only.
              probability   0 to 1. Default: 1.
              times         The number of times. Default: unlimited.
            For example:
              {"fault":"goaway","last":"previous","reason":"Shutdown","after":100}
              {"fault":"reset-stream","error":7,"probability":0.01}

            Control (--control): takes fault lines over TCP while the simulator runs, also
            {"clear":true} and {"show":true}, and answers each with a line:
              nc 127.0.0.1 PORT < faults.ndjson

            Record (--record): one JSON object for each answered request, with time_ms and
            time_us (Unix time), token, apns_id, push_type, topic, priority, expiration,
            collapse_id, status, reason, duplicate (the apns-id was accepted before) and
            payload (null if the request broke a rule).
            """,
        examples: [
            .init(
                "apus simulate --make-key key.p8 --ca-out ca.pem",
                "Creates the key that the worker signs with, and the certificate that it trusts."),
            .init(
                "apus simulate -l 127.0.0.1:8443 -k AuthKey_ABC123DEFG.p8 --key-id ABC123DEFG --team-id DEF123GHIJ",
                "Accepts provider tokens of an existing key."),
            .init(
                "apus simulate --make-key key.p8 --script faults.ndjson --record pushes.ndjson",
                "Answers by a script, and records every request."),
        ],
        exitCodes: [.data, .noInput, .unavailable, .cannotCreate, .configuration]
    )
    let options = SimulateOptions.all

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try SimulateOptions.configuration(invocation)
        return try await SimulatorRun.run(
            invocation, host: configuration.host, start: { try await APNsSimulator.start(configuration) },
            totals: Self.totals)
    }

    private static func totals(of summary: SimulatorSummary) -> SimulatorTotals {
        let violations = "violations   \(summary.protocolViolations) connections broke the rules of HTTP/2"
        return SimulatorTotals(
            first: """
                answered     \(summary.answered) requests on \(summary.connections) connections
                accepted     \(summary.accepted), \(summary.duplicates) of them with a repeated apns-id
                """,
            last: ["unanswered   \(summary.silent) by the script, \(summary.abandoned) abandoned by the sender"]
                + (summary.protocolViolations > 0 ? [violations] : []))
    }
}

extension APNsSimulator: OnePortSimulator {}
