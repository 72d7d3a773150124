import PushTestKit
import Testing

@Suite("Waiting for states that are not announced")
struct EventuallyTests {
    @Test("It goes on with the first value that is the awaited one, and reads no further")
    func findsValue() async throws {
        var polls = 0
        let value = try await eventually("a third poll") {
            polls += 1
            return polls
        } until: {
            $0 == 3
        }
        #expect(value == 3 && polls == 3)
    }

    @Test("At its deadline it says where, what was awaited, and the last value")
    func tellsLastValue() async throws {
        let error = try await #require(throws: DeadlineExceeded.self) {
            try await eventually("the apples", equals: 2, within: .milliseconds(20)) { 1 }
        }
        let line = "the apples to be 2: not within 0.02 seconds; the last value was: 1"
        #expect(error.description.hasSuffix(line) && error.description.contains("EventuallyTests.swift:"), "\(error)")
    }

    @Test("A value of any length is told by its end")
    func shortensLastValue() async throws {
        let error = try await #require(throws: DeadlineExceeded.self) {
            try await eventually("an end", within: .zero) {
                String(repeating: "a", count: 100_000) + "z"
            } until: {
                $0.isEmpty
            }
        }
        #expect(error.description.count < 2_200 && error.description.hasSuffix("az"))
    }

    @Test("An error ends the wait at once, and so does the end of a process without the awaited text")
    func endsWithErrors() async throws {
        await #expect(throws: CancellationError.self) {
            try await eventually("nothing") { throw CancellationError() }
        }
        let command = try RunningCommand(program: "/bin/echo", ["hello"], in: TemporaryFolder())
        try await command.wait(for: "hello", in: \.output)
        await #expect(throws: PrivateServerFailure.self) { try await command.wait(for: "goodbye", in: \.output) }
    }
}
