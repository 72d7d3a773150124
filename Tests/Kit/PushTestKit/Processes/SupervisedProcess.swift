import Dispatch
import Glibc

/// Starts programs with an environment of their own, in a session of their own, and reads their output.
enum SupervisedProcess {
    /// `POSIX_SPAWN_SETSID`, which glibc shows only to programs built with `_GNU_SOURCE`: a Ctrl-C at the terminal ends
    /// the tests, and the tests' end is what ends the program.
    private static let newSession: Int32 = 0x80

    /// A program that was started.
    struct Started {
        let processIdentifier: pid_t
        /// Where its standard input ends; closing it tells the program that we are gone.
        let standardInput: Int32
        let standardOutput: Int32
    }

    /// Starts a program with pipes on its standard input and output; standard error goes to the output as well.
    static func start(
        _ arguments: [String], environment: [String: String]
    ) throws(PrivateServerFailure) -> Started {
        if let refusal = UnitRun.refusal(toStart: arguments[0]) { throw PrivateServerFailure(refusal) }
        let input = try makePipe()
        let output = try makePipe()
        defer {
            close(input.reading)
            close(output.writing)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.reading, 0)
        posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        posix_spawn_file_actions_adddup2(&actions, output.writing, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(newSession | POSIX_SPAWN_SETSIGMASK))

        var argumentPointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var environmentPointers: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
        var processIdentifier: pid_t = 0
        let code = posix_spawn(
            &processIdentifier, arguments[0], &actions, &attributes, &argumentPointers, &environmentPointers)
        guard code == 0 else {
            close(input.writing)
            close(output.reading)
            throw PrivateServerFailure("\(arguments[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        return Started(
            processIdentifier: processIdentifier, standardInput: input.writing, standardOutput: output.reading)
    }

    /// Runs a program to its end, off the caller's thread.
    ///
    /// - Returns: its exit status and all that it printed.
    static func run(
        _ arguments: [String], environment: [String: String]
    ) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "process").async {
                continuation.resume(with: Result { try runToEnd(arguments, environment: environment) })
            }
        }
    }

    private static func runToEnd(
        _ arguments: [String], environment: [String: String]
    ) throws(PrivateServerFailure) -> (status: Int32, output: String) {
        let started = try start(arguments, environment: environment)
        close(started.standardInput)
        let output = readToEnd(started.standardOutput)
        close(started.standardOutput)
        return (waitForEnd(started.processIdentifier), output)
    }

    /// Waits for a child; the answer is its exit status, or 128 plus the signal that ended it.
    @discardableResult
    static func waitForEnd(_ processIdentifier: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(processIdentifier, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    /// Reads one line from a pipe, a byte at a time: lines are rare and short.
    static func readLine(_ fileDescriptor: Int32) -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(fileDescriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }

    private static func readToEnd(_ fileDescriptor: Int32) -> String {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(fileDescriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: output, as: UTF8.self) }
            output += buffer[0..<count]
        }
    }

    private static func makePipe() throws(PrivateServerFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        // No other child may have an end: it would hide our death from the reader. Sockets are close-on-exec from the
        // first moment on; pipes only through `pipe2`, which glibc shows only to programs built with `_GNU_SOURCE`.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw PrivateServerFailure("no pair of sockets: \(String(cString: strerror(errno)))")
        }
        return (ends[0], ends[1])
    }
}
