import PushTestKit
import Testing

extension WorkerProcess {
    /// Ends it as an operator does, and expects that it has left nothing unfinished.
    func drainCleanly(sourceLocation: SourceLocation = #_sourceLocation) async {
        let end = await drain()
        #expect(end.exitCode == 0, "\(end.errors.suffix(4_000))", sourceLocation: sourceLocation)
    }
}
