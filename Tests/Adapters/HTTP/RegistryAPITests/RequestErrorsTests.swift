import Essentials
import Testing

@testable import RegistryAPI

@Suite("Requests of the API that are answered with an error of its own")
struct RequestErrorsTests {
    private var recent = RecentErrors()
    private var totals = RequestCounts()
    private var now: Int64 = 1_000_000

    /// Lets seconds pass with so many requests and errors in each, and gives what is in trouble then.
    private mutating func pass(seconds: Int, requests: Int, errors: Int) -> RequestCounts? {
        var found: RequestCounts?
        for _ in 0..<seconds {
            now += 1_000
            totals.requests += requests
            totals.errors += errors
            found = recent.look(totals, at: MonotonicTime(nanoseconds: UInt64(now) * 1_000_000))
        }
        return found
    }

    @Test("More than a twentieth of the requests is trouble within seconds, and none when the minute is over")
    mutating func share() {
        let atFirst = pass(seconds: 60, requests: 100, errors: 4)
        #expect(atFirst == nil)
        let during = pass(seconds: 60, requests: 100, errors: 10)
        #expect(during.map { $0.errors * 20 > $0.requests } == true)
        let after = pass(seconds: 60, requests: 100, errors: 0)
        #expect(after == nil)
    }

    @Test("A few errors of very few requests prove nothing, and five of them do")
    mutating func few() {
        let four = pass(seconds: 4, requests: 1, errors: 1)
        #expect(four == nil)
        let five = pass(seconds: 1, requests: 1, errors: 1)
        #expect(five == RequestCounts(requests: 5, errors: 5))
        let quiet = pass(seconds: 60, requests: 0, errors: 0)
        #expect(quiet == nil)
    }

    @Test("Answers of all threads are counted, and a change is told once")
    func told() {
        let errors = RequestErrors()
        for _ in 0..<5 { errors.answered(status: 503) }
        for status in [200, 404] { errors.answered(status: status) }
        let moment = MonotonicTime(nanoseconds: 1_000_000_000_000)
        #expect(errors.look(at: moment) && !errors.look(at: moment))
        #expect(errors.problem == "5 of the last 7 requests were answered with 5xx")
        let later = moment.advanced(byMilliseconds: 60_000)
        #expect(errors.look(at: later) && errors.problem == nil)
    }
}
