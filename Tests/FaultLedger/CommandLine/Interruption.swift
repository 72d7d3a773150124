import EventLoop
import Foundation
import PushTestKit
import Synchronization

/// Ends what a run has started when the run itself is asked to end; brokers and databases end by themselves with it.
enum Interruption {
    private static let exitCode: Int32 = 130
    private static let current = Mutex<Environment?>(nil)

    /// Names the environment that is played now.
    static func watch(_ environment: Environment?) { current.withLock { $0 = environment } }

    /// Listens to SIGINT and SIGTERM from now on.
    ///
    /// - Throws: `EventLoopError` if there is no thread for it.
    static func listen() async throws {
        let loop = try EventLoop(name: "signals")
        let watcher = try await loop.run {
            LoopBound(try SignalWatcher(signals: [SIGINT, SIGTERM], loop: loop) { _ in end() }, to: loop)
        }
        // Until the process ends.
        watchers.withLock { $0.append(watcher) }
    }

    private static let watchers = Mutex<[LoopBound<SignalWatcher>]>([])

    private static func end() -> Never {
        if let environment = current.withLock({ $0 }) {
            for process in environment.workers + environment.relays { process.signal(SIGKILL) }
            try? FileManager.default.removeItem(atPath: environment.folder.path)
        }
        exit(exitCode)
    }
}
