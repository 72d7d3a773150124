/// The awaited state did not come in time.
public struct DeadlineExceeded: Error, CustomStringConvertible {
    /// A sentence that names the caller's line, the awaited state, the limit and the last value.
    public let description: String
}

/// Polls a value until it satisfies a condition.
///
/// Meant for states without a notification: the metrics of a process, the length of a queue. A pause between two polls
/// is a tenth of the time since the first one, from 1 ms to 50 ms, so that a wait is at most a tenth longer than
/// needed. `Watched` wakes a test without polling, where the state is the test's own.
///
/// - Parameters:
///   - awaited: the awaited state in words, for the error.
///   - limit: generous: it only ends a hang.
///   - isolation: the caller's actor, which polls.
///   - file: the caller's file, for the error.
///   - line: the caller's line, for the error.
///   - poll: reads the value. An error of it ends the wait at once, for example because a process has ended.
///   - isMet: whether a value is the awaited one.
/// - Returns: the value that satisfied the condition.
/// - Throws: `DeadlineExceeded`, and the errors of `poll`.
@discardableResult
public func eventually<Value>(
    _ awaited: @autoclosure () -> String, within limit: Duration = .seconds(300),
    isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
    poll: () async throws -> Value, until isMet: (Value) -> Bool
) async throws -> Value {
    let start = ContinuousClock.now
    while true {
        let value = try await poll()
        if isMet(value) { return value }
        let elapsed = start.duration(to: .now)
        guard elapsed < limit else {
            // The end of a log is printed, where the latest lines are.
            let last = String(String(describing: value).suffix(2_000))
            throw DeadlineExceeded(
                description: "\(file):\(line): \(awaited()): not within \(limit); the last value was: \(last)")
        }
        try await Task.sleep(for: min(max(elapsed / 10, .milliseconds(1)), .milliseconds(50)))
    }
}

/// Polls a condition until it is true.
///
/// - Parameters:
///   - awaited: the awaited state in words, for the error; evaluated when it is thrown.
///   - limit: generous: it only ends a hang.
///   - isolation: the caller's actor, which polls.
///   - file: the caller's file, for the error.
///   - line: the caller's line, for the error.
///   - condition: looks. An error of it ends the wait at once.
/// - Throws: `DeadlineExceeded`, and the errors of `condition`.
public func eventually(
    _ awaited: @autoclosure () -> String, within limit: Duration = .seconds(300),
    isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    try await eventually(
        awaited(), within: limit, isolation: isolation, file: file, line: line, poll: condition, until: { $0 })
}

/// Polls a value until it equals another.
///
/// - Parameters:
///   - awaited: the value in words, for the error.
///   - expected: the awaited value.
///   - limit: generous: it only ends a hang.
///   - isolation: the caller's actor, which polls.
///   - file: the caller's file, for the error.
///   - line: the caller's line, for the error.
///   - poll: reads the value. An error of it ends the wait at once.
/// - Throws: `DeadlineExceeded`, and the errors of `poll`.
public func eventually<Value: Equatable>(
    _ awaited: @autoclosure () -> String, equals expected: Value, within limit: Duration = .seconds(300),
    isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line,
    poll: () async throws -> Value
) async throws {
    try await eventually(
        "\(awaited()) to be \(expected)", within: limit, isolation: isolation, file: file, line: line,
        poll: poll, until: { $0 == expected })
}

/// Lets time pass, for faults that last and for loads that have a rate; a test that waits for an event uses `Watched`.
public enum Pause {
    /// Goes on after this long.
    ///
    /// - Parameter seconds: how long.
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    public static func seconds(_ seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1_000_000_000))
    }
}
