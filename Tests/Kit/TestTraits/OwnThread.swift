import Dispatch
public import Testing

/// Runs each test of a suite on a thread of its own.
///
/// A test that reads a socket with `recv` blocks its thread. Swift's tasks share as many threads as there are
/// processors, so that a few such tests hold up all others.
public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    /// Whether the suites within the suite have it too.
    public var isRecursive: Bool { true }

    /// Runs a test on a thread that is only its own.
    ///
    /// - Parameters:
    ///   - test: the test, which does not matter.
    ///   - testCase: its case, which does not matter.
    ///   - function: the body of the test.
    /// - Throws: the error of the test.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(QueueExecutor()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    /// Runs each test of the suite on a thread of its own, because they block it.
    public static var ownThread: Self { OwnThread() }
}

/// Runs the jobs of a task one after the other on a queue of its own.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
