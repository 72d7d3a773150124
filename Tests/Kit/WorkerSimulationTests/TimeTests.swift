import Testing

@testable import WorkerSimulation

@Suite("The time of the simulation")
struct TimeTests {
    @Test("What is due first comes first, and what is due together in the order of scheduling")
    func order() {
        var queue = EventQueue<Int>()
        var random = Randomness(seed: 3, model: "test")
        var expected: [(time: UInt64, number: Int)] = []
        for number in 0..<500 {
            let time = UInt64(random.below(40))
            queue.schedule(number, atNanoseconds: time)
            expected.append((time, number))
        }
        expected.sort { ($0.time, $0.number) < ($1.time, $1.number) }
        for entry in expected { #expect(queue.popFirst()?.element == entry.number) }
        #expect(queue.popFirst() == nil)
    }

    @Test("Two models of one seed draw different numbers, the same model the same")
    func randomness() {
        var first = Randomness(seed: 1, model: "broker")
        var again = Randomness(seed: 1, model: "broker")
        var other = Randomness(seed: 1, model: "registry")
        let numbers = (0..<20).map { _ in first.below(1_000_000) }
        #expect(numbers == (0..<20).map { _ in again.below(1_000_000) })
        #expect(numbers != (0..<20).map { _ in other.below(1_000_000) })
    }

    @Test("A line keeps its order, and takes what is put in front first")
    func line() {
        var line = Line<Int>()
        for number in 0..<10_000 { line.append(number) }
        for number in 0..<9_000 { #expect(line.popFirst() == number) }
        line.putInFront(-1)
        line.putInFront(-2)
        #expect(line.first == -2)
        #expect(line.popFirst() == -2)
        #expect(line.popFirst() == -1)
        #expect(line.popFirst() == 9_000)
        #expect(line.count == 999)
    }
}
