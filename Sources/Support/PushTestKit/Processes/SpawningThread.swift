import Dispatch
import EventLoop

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
