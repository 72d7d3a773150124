import Dispatch
import EventLoop
import Glibc
import Synchronization

/// A child process whose standard streams are files.
///
/// It ends with this process, however that ends.
///
/// The system's own calls start and await it. Foundation's `Process` sees an end only when a socket closes that every
/// other child inherits which is started at the same moment; so it may wait for a broker to end.
final class SpawnedProcess: Sendable {
    /// Why a program could not be started.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var exitCode: Int32?
        var waiters: [CheckedContinuation<Int32, Never>] = []
    }

    /// The files that stand for the standard streams.
    struct Streams {
        let input: String
        let output: String
        let errors: String
    }

    /// The process identifier.
    let identifier: pid_t
    private let state = Mutex(State())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: the path of the program, and its arguments.
    ///   - environment: all variables that it sees.
    ///   - folder: where it runs.
    ///   - streams: its standard streams, files that are there.
    /// - Throws: `Failure` if it cannot be started.
    init(_ arguments: [String], environment: [String: String], folder: String, streams: Streams) throws(Failure) {
        if let refusal = UnitRun.refusal(toStart: arguments[0]) { throw Failure(description: refusal) }
        guard access(arguments[0], X_OK) == 0 else {
            throw Failure(description: "\(arguments[0]) is not there, or may not be run")
        }
        // `env` changes the folder, `setpriv` asks for the signal at our end, and each becomes the next program;
        // posix_spawn's own ways are hidden from Swift, or missing.
        let command = ["/usr/bin/env", "-C", folder, "/usr/bin/setpriv", "--pdeathsig", "KILL", "--"] + arguments
        let (identifier, code) = SpawningThread.run { Self.spawn(command, environment, streams) }
        guard code == 0 else {
            throw Failure(description: "\(command[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        self.identifier = identifier
        // A queue of its own has a thread of its own; the cooperative ones must not be kept waiting.
        DispatchQueue(label: "process \(identifier)").async { [self] in waitForEnd() }
    }

    private static func spawn(
        _ command: [String], _ environment: [String: String], _ streams: Streams
    ) -> (identifier: pid_t, code: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, streams.input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, streams.output, O_WRONLY | O_APPEND, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, streams.errors, O_WRONLY | O_APPEND, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The tests ignore SIGPIPE, and a child would go on ignoring it.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, command[0], &actions, &attributes, &words, &variables)
        return (identifier, code)
    }

    /// Whether it has ended by now.
    var hasEnded: Bool { exitCode != nil }

    /// Its exit code, or 128 and the number of the signal that ended it; nil while it runs.
    var exitCode: Int32? { state.withLock { $0.exitCode } }

    /// Sends a signal; one that has ended already is left alone.
    func signal(_ number: Int32) {
        // Under the lock, because the identifier may be another's as soon as the end has been collected.
        state.withLock { state in
            if state.exitCode == nil { kill(identifier, number) }
        }
    }

    /// Waits until it has ended.
    ///
    /// - Returns: its exit code, or 128 and the number of the signal that ended it.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            let exitCode = state.withLock { state in
                if state.exitCode == nil { state.waiters.append(continuation) }
                return state.exitCode
            }
            if let exitCode { continuation.resume(returning: exitCode) }
        }
    }

    private func waitForEnd() {
        var information = siginfo_t()
        // The end is awaited here and collected below, so that no signal can go to a stranger in between.
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (exitCode, waiters) = state.withLock { state in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let exitCode = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
            state.exitCode = exitCode
            defer { state.waiters = [] }
            return (exitCode, state.waiters)
        }
        for waiter in waiters { waiter.resume(returning: exitCode) }
    }
}

/// A run of the unit tests, in which no test may start a process: `deploy/bin/run-tests --unit`.
public enum UnitRun {
    /// Whether this process is one, for tests that do without a part in it.
    public static let isOne = getenv("APUS_TESTS_START_NO_PROCESS") != nil

    /// Why a program is not started; nil if it may be.
    static func refusal(toStart program: String) -> String? {
        isOne ? "a unit run starts no process, so not \(program): enter the suite in deploy/bin/run-tests" : nil
    }
}

/// The thread that starts programs, and lives as long as this process.
///
/// Linux sends the signal for the end of a parent when the *thread* ends that started the program, and the threads of
/// Dispatch and of Swift's tasks come and go.
enum SpawningThread {
    private static let loop = Result { try EventLoop(name: "spawn") }

    /// Runs work on the thread, and waits for it.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value {
        let value = Watched<Value?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        guard case .success(let loop) = loop else { return work() }
        loop.submit {
            let result = work()
            value.update { $0 = result }
            isDone.signal()
        }
        isDone.wait()
        return value.value ?? work()
    }
}
