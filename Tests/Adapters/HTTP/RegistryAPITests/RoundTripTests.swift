import PushTestKit
import Testing

@Suite("How often the API waits for PostgreSQL")
struct RoundTripTests {
    @Test("Registering a device takes four round trips, whether it is new or not: token, locks, commit and answer")
    func registration() async throws {
        let store = try await ServedStore(.postgres, lockMilliseconds: 100_000, isTraced: true)
        #expect(store.putDevice(0).status == 201)
        for (number, status) in [(0, 200), (1, 201)] {
            // The server looks after its store once a second as well.
            let counts = try (0..<5).map { round in
                let before = try store.roundTripCount()
                #expect(store.putDevice(status == 201 ? number + round : number).status == status)
                return try store.roundTripCount() - before
            }
            #expect(counts.min() == 4, "\(counts)")
        }
    }
}
