import APNsSimulator
import EventLoop
import Glibc

/// `apus simulate`.
struct SimulateCommand: Command {
    let name = "simulate"
    let summary = "Serve as Apple's push service, on this machine, for tests"
    let help = CommandHelp(
        discussion: """
            Serves APNs' provider API over HTTP/2 and TLS: it verifies provider tokens,
            checks headers and payloads by Apple's rules, answers with Apple's reasons, and
            allows one request at a time until it has seen a valid token. It prints a line
            with its address when it is ready, and runs until SIGTERM or SIGINT; then it
            prints what it saw.

            The worker has to know where it is and has to trust its certificate, which is
            made at start: set endpoint and ca_file in [app.apns].

            --script names a file of JSON objects, one a line:
              {"token":"ab12…","answer":"unregistered","since":1700000000000}
              {"token":"ab","answer":"throttle","times":2}
            "token" is the digits with which device tokens begin: all of them for one token,
            "" for every token; the line with the most digits counts. Several lines of the
            same digits are steps, counted for each device token by itself. "times" is for
            how many requests a step lasts; without it, for all that follow. After the last
            step pushes are accepted. "delay" makes an answer come so many milliseconds
            later. "kind" says what the tokens are (alert, voip, widgets …): a push to another
            topic than theirs is answered DeviceTokenNotForTopic. "answer" is one of:
              accept            200, as without a script
              delay             200 after "delay"
              silent            no answer, ever
              unregistered      410 Unregistered since "since" (milliseconds; default now)
              expired-token     410 ExpiredToken since "since"
              throttle          429 TooManyRequests
              bad-device-token  400 BadDeviceToken
              not-for-topic     400 DeviceTokenNotForTopic
              status            "status" with "reason", e.g. 500 InternalServerError

            --faults names a file of JSON objects, one a line: "fault" says what happens,
            other members what of it, the last ones whom it befalls.
              goaway       GOAWAY; "last" is newest, previous, none or a number (the last stream
                           that it says was processed), "error" (0), "reason" as debug data
              reset-stream RST_STREAM in place of an answer; "error" (2; 7 is refused)
              stream-limit SETTINGS with "streams" (1), back after "back_ms" (1000)
              wedge        403 ExpiredProviderToken to all that follows on the connection
              answer       "status" with "reason" (and "timestamp") or any "body",
                           "retry_after", "header_bytes" and "body_bytes" too many
              silence      no answer, ever;  delay: "ms" (1000) later
              tcp-reset    after "bytes" (0) to the sender;  tcp-silence: the same, but TCP
                           stays up (0: the handshake hangs);  drip: "bytes" (1) a ms
              window       a connection window of "bytes" (65535), "add" (0) more each
                           "every_ms" (100)
              certificate  somebody else's
            It befalls "connection" (a number), after "after" requests, to device tokens that
            begin with "token", "on":"rejection" only those that are rejected, with a
            "probability", so many "times". For example:
              {"fault":"goaway","last":"previous","reason":"Shutdown","after":100}
              {"fault":"reset-stream","error":7,"probability":0.01}

            --control takes the same lines over TCP while it runs, {"clear":true} and
            {"show":true} besides, and answers each with a line:
              nc 127.0.0.1 PORT < faults.ndjson

            --record writes for each answered request: time_ms and time_us (since 1970), token,
            apns_id, push_type, topic, priority, expiration, collapse_id, status, reason,
            duplicate (its apns-id had been accepted before) and payload (null if the request
            broke a rule).
            """,
        examples: [
            .init(
                "apus simulate --make-key key.p8 --ca-out ca.pem",
                "Needs nothing else: makes the key with which the worker signs."),
            .init(
                "apus simulate -l 127.0.0.1:8443 -k AuthKey_ABC123DEFG.p8 --key-id ABC123DEFG --team-id DEF123GHIJ",
                "Accepts the tokens of a key that is there already."),
            .init(
                "apus simulate --make-key key.p8 --script faults.ndjson --record pushes.ndjson",
                "Answers as the script says and records what came."),
        ],
        exitCodes: [.data, .noInput, .unavailable, .cannotCreate, .configuration]
    )
    let options = SimulateOptions.all

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try SimulateOptions.configuration(invocation)
        let signalLoop = try EventLoop(name: "signals")
        defer { signalLoop.stopAndJoin() }
        let (signals, announcement) = AsyncStream.makeStream(of: Int32.self)
        let watcher = try await signalLoop.run {
            LoopBound(
                try SignalWatcher(signals: [SIGTERM, SIGINT], loop: signalLoop) { announcement.yield($0) },
                to: signalLoop)
        }
        let simulator = try await start(configuration)
        do {
            if let path = invocation.string(SimulateOptions.trustAnchorFile) {
                try SimulateFiles.write(simulator.trustAnchorPEM, to: path, mode: 0o644)
            }
        } catch {
            try await simulator.stop()
            throw error
        }
        let control = try await startControl(simulator, invocation, loop: signalLoop)
        announce(simulator, host: configuration.host, control: try await port(of: control), to: invocation)
        _ = await signals.first { _ in true }
        let summary = try await simulator.stop()
        try await signalLoop.run {
            watcher.value.stop()
            control?.value.stop()
        }
        return try report(summary, to: invocation)
    }

    private func start(_ configuration: SimulatorConfiguration) async throws -> APNsSimulator {
        do {
            return try await APNsSimulator.start(configuration)
        } catch let error as SimulatorError {
            let code: ExitCode =
                switch error.code {
                case .listenFailed, .deadlinePassed: .unavailable
                case .fileFailed: .cannotCreate
                case .keyInvalid, .configurationInvalid: .configuration
                case .scriptInvalid: .data
                }
            throw CommandFailure(code, error.message)
        }
    }

    private func startControl(
        _ simulator: APNsSimulator, _ invocation: CommandInvocation, loop: EventLoop
    ) async throws -> LoopBound<FaultControl>? {
        guard let port = try invocation.integer(SimulateOptions.control, in: 0...65_535) else { return nil }
        do {
            return try await loop.run {
                LoopBound(try FaultControl(simulator, port: UInt16(port), loop: loop), to: loop)
            }
        } catch let error as SimulatorError {
            _ = try await simulator.stop()
            throw CommandFailure(.unavailable, error.message)
        }
    }

    private func port(of control: LoopBound<FaultControl>?) async throws -> UInt16? {
        guard let control else { return nil }
        return try await control.loop.run { control.value.port }
    }

    private func announce(
        _ simulator: APNsSimulator, host: String, control: UInt16?, to invocation: CommandInvocation
    ) {
        let address = host.contains(":") ? "[\(host)]:\(simulator.port)" : "\(host):\(simulator.port)"
        invocation.output.lines(
            invocation.isJSON
                ? #"{"endpoint":"https://\#(address)","address":"\#(address)","port":\#(simulator.port)"#
                    + (control.map { #","controlPort":\#($0)"# } ?? "") + "}"
                : "ready at https://\(address)" + (control.map { "\ncontrolled at 127.0.0.1:\($0)" } ?? ""))
        invocation.output.flush()
    }

    private func report(_ summary: SimulatorSummary, to invocation: CommandInvocation) throws -> ExitCode {
        if let path = invocation.string(SimulateOptions.summary) {
            try SimulateFiles.write(summary.json + "\n", to: path, mode: 0o644)
        }
        guard !invocation.isJSON else {
            invocation.output.line(summary.json)
            return exitCode(summary)
        }
        invocation.output.lines(
            """
            answered     \(summary.answered) requests on \(summary.connections) connections
            accepted     \(summary.accepted), of them \(summary.duplicates) with an apns-id that came before
            """)
        for answer in summary.answers where answer.status != 200 {
            invocation.output.line("\(answer.status)          \(answer.count) \(answer.reason ?? "")")
        }
        invocation.output.line(
            "unanswered   \(summary.silent) by the script, \(summary.abandoned) given up by the sender")
        if summary.protocolViolations > 0 {
            invocation.output.line("violations   \(summary.protocolViolations) connections broke the rules of HTTP/2")
        }
        return exitCode(summary)
    }

    private func exitCode(_ summary: SimulatorSummary) -> ExitCode {
        guard summary.recordsLost > 0 else { return .ok }
        StandardError.line("the disk did not take \(summary.recordsLost) records")
        return .inputOutput
    }
}
