import APNsSimulator
import EventLoop
import PushServiceSimulator

/// The options of `apus simulate`, and the simulator that they describe.
enum SimulateOptions {
    static let listen = CommandOption.value(
        "listen", letter: "l", "ADDRESS:PORT",
        "The local address to listen on; port 0 is any free port. Default: 127.0.0.1:0.")
    static let hostName = CommandOption.value(
        "host-name", "NAME",
        "Also serve other machines or containers, which reach it by this name. Repeatable. Default: this machine only.")
    static let trustAnchorFile = CommandOption.value(
        "ca-out", "FILE", "Write the certificate that senders have to trust: ca_file of [app.apns].")
    static let keyFile = CommandOption.value(
        "key-file", letter: "k", "FILE",
        "The sender's .p8 key, or its public key. Repeatable, with --key-id in the same order.")
    static let makeKey = CommandOption.value(
        "make-key", "FILE", "Accept the key in FILE; create it (mode 0600) if there is no such file.")
    static let keyID = CommandOption.value("key-id", "ID", "The key's identifier (kid). Default: \(defaultKeyID).")
    static let teamID = CommandOption.value("team-id", "ID", "The key's team (iss). Default: \(defaultTeamID).")
    static let topic = CommandOption.value(
        "topic", letter: "t", "BUNDLE", "An accepted bundle identifier. Repeatable. Default: any.")
    static let script = CommandOption.value(
        "script", "FILE", "Answer by this script, see above.")
    static let faults = CommandOption.value(
        "faults", "FILE", "Inject these faults, see above.")
    static let control = CommandOption.value(
        "control", "PORT", "Accept fault lines on this port of 127.0.0.1; 0 is any free port.")
    static let record = CommandOption.value(
        "record", "FILE", "Write a JSON line for each answered request, see above.")
    static let summary = CommandOption.value("summary", "FILE", "Write the totals as JSON at the end.")
    static let latency = CommandOption.value(
        "latency", "MS", "Delay answers by so many milliseconds, or by a random time as in 20-80. Default: 0.")
    static let seed = CommandOption.value("seed", "N", "The seed of random latencies and faults. Default: 1.")
    static let maxStreams = CommandOption.value(
        "max-streams", "N", "The concurrent requests of a connection. Default: 1000.")
    static let firstStreams = CommandOption.value(
        "first-streams", "N", "The same before the first valid provider token. Default: 1, as Apple documents.")
    static let loops = CommandOption.value("loops", "N", "The number of serving threads, 1 to 64. Default: 1.")
    static let trusting = CommandOption.flag(
        "trusting", "Accept every push unchecked, for benchmarks of the sender.")

    /// Where a simulator listens.
    static let place = [listen, hostName, trustAnchorFile]
    /// The files and the port by which it is told what to do, and by which it tells what it did.
    static let files = [script, faults, control, record, summary]
    /// All options of the simulator of APNs, in the order of the help.
    static let all =
        place + [keyFile, makeKey, keyID, teamID, topic] + files
        + [latency, seed, maxStreams, firstStreams, loops, trusting, .json]

    private static let defaultKeyID = "ABC123DEFG"
    private static let defaultTeamID = "DEF123GHIJ"

    /// Reads the options and the files that they name, and makes the key if one is to be made.
    static func configuration(_ invocation: CommandInvocation) throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration()
        try read(invocation, into: &configuration.serving)
        configuration.bundleIDs = invocation.strings(topic)
        configuration.maxConcurrentStreams = UInt32(try invocation.integer(maxStreams, in: 1...1_000_000) ?? 1_000)
        configuration.maxUnauthenticatedStreams = UInt32(try invocation.integer(firstStreams, in: 1...1_000_000) ?? 1)
        configuration.faults = try parsed(faults, invocation, SimulatorFaults.init(parsing:)) ?? .none
        let script = try parsed(script, invocation) { bytes throws(SimulatorError) in
            try AnswerScript(parsing: bytes, nowMilliseconds: WallClock.nowMilliseconds())
        }
        configuration.script = script ?? .empty
        configuration.teamKeys = try teamKeys(invocation)
        return configuration
    }

    /// Reads the options that the simulators of all services have.
    static func read(_ invocation: CommandInvocation, into serving: inout ServingConfiguration) throws {
        (serving.host, serving.port) = try address(invocation.string(listen) ?? "127.0.0.1:0")
        serving.hostNames = invocation.strings(hostName)
        serving.isTrusting = invocation.has(trusting)
        serving.recordFile = invocation.string(record)
        serving.loopCount = try invocation.integer(loops, in: 1...64) ?? 1
        let seed = UInt64(try invocation.integer(seed, in: 0...Int.max) ?? 1)
        serving.latency = try latency(invocation.string(latency) ?? "0", seed: seed)
        serving.faultSeed = seed
    }

    /// Reads the file of lines that an option names, if it was given, and says which file is wrong.
    static func parsed<Content>(
        _ option: CommandOption, _ invocation: CommandInvocation,
        _ parse: ([UInt8]) throws(SimulatorError) -> Content
    ) throws -> Content? {
        guard let path = invocation.string(option) else { return nil }
        let bytes = try SimulateFiles.read(path)
        do throws(SimulatorError) {
            return try parse(bytes)
        } catch { throw CommandFailure(.data, "\(path): \(error.message)") }
    }

    private static func teamKeys(_ invocation: CommandInvocation) throws -> [SimulatorConfiguration.TeamKey] {
        var keys: [(path: String, publicKeyPEM: String)] = []
        if let path = invocation.string(makeKey), !SimulateFiles.isThere(path) {
            try SimulateFiles.writeSecret(try SimulatorKey.makePrivateKeyPEM(), to: path)
        }
        for path in invocation.strings(keyFile) + [invocation.string(makeKey)].compactMap(\.self) {
            let bytes = try SimulateFiles.read(path)
            do throws(SimulatorError) {
                keys.append((path, try SimulatorKey.publicKeyPEM(in: bytes)))
            } catch {
                throw CommandFailure(.noInput, "\(path): \(error.message)")
            }
        }
        guard !keys.isEmpty || invocation.has(trusting) else {
            throw CommandFailure.usage(
                "no key for provider tokens: name one with --key-file, or create one with --make-key")
        }
        let keyIDs = try identifiers(invocation, keyID, count: keys.count, default: defaultKeyID)
        let teamIDs = try identifiers(invocation, teamID, count: keys.count, default: defaultTeamID)
        return keys.indices.map { index in
            SimulatorConfiguration.TeamKey(
                teamID: teamIDs[index], keyID: keyIDs[index], publicKeyPEM: keys[index].publicKeyPEM)
        }
    }

    /// One identifier a key, or one for all, or the default for a single key.
    private static func identifiers(
        _ invocation: CommandInvocation, _ option: CommandOption, count: Int, default standard: String
    ) throws(CommandFailure) -> [String] {
        let given = invocation.strings(option)
        if given.count == count { return given }
        if given.isEmpty, count <= 1 || option.name == teamID.name {
            return Array(repeating: standard, count: count)
        }
        if given.count == 1, option.name == teamID.name { return Array(repeating: given[0], count: count) }
        throw .usage("--\(option.name) must be given once for each of the \(count) keys, in the same order")
    }

    /// Splits the value of `--listen`.
    private static func address(_ text: String) throws(CommandFailure) -> (host: String, port: UInt16) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw .usage("--listen takes an address and a port, for example 127.0.0.1:8443, not '\(text)'")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return (host.isEmpty ? "127.0.0.1" : String(host), port)
    }

    private static func latency(
        _ text: String, seed: UInt64
    ) throws(CommandFailure) -> SimulatorConfiguration.Latency {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        let isInRange = numbers.allSatisfy { (0...86_400_000).contains($0) }
        switch numbers.count {
        case 1 where isInRange: return numbers[0] == 0 ? .none : .fixed(milliseconds: numbers[0])
        case 2 where isInRange && numbers[0] <= numbers[1]:
            return .uniform(milliseconds: numbers[0]...numbers[1], seed: seed)
        default: throw .usage("--latency takes milliseconds, as in 25 or 20-80, not '\(text)'")
        }
    }
}
