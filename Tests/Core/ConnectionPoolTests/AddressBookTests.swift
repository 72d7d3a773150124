import ConnectionPool
import PushTestKit
import Testing

@Suite("Address book")
struct AddressBookTests {
    @Test("Connections spread evenly over the addresses, whatever the order in which the resolver gives them")
    func spreads() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let addresses = (0..<Int.random(in: 1...10, using: &random)).map { "10.0.0.\($0):443" }
            let book = AddressBook()
            var used: [String] = []
            for rotation in 1...Int.random(in: 1...40, using: &random) {
                let shuffled = addresses.shuffled(using: &random)
                let order = book.order(shuffled, used: used, rotation: rotation)
                #expect(Set(order) == Set(shuffled.indices), "seed \(seed)")
                if let first = order.first { used.append(shuffled[first]) }
            }
            let counts = addresses.map { address in used.count { $0 == address } }
            #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1, "seed \(seed)")
        }
    }

    @Test("An address that failed comes last until a connection to it is made")
    func triesFailedOnesLast() {
        var book = AddressBook()
        book.failed("a")
        #expect(book.order(["a", "b", "c"], used: ["b", "b", "c"], rotation: 0) == [2, 1, 0])
        book.failed("b")
        book.failed("c")
        #expect(book.order(["a", "b", "c"], used: [], rotation: 1) == [1, 2, 0], "better one that failed than none")
        book.succeeded("a")
        #expect(book.order(["a", "b", "c"], used: [], rotation: 1) == [0, 1, 2])
        #expect(book.order([], used: ["a"], rotation: 7) == [])
    }

    @Test("What it remembers is bounded")
    func isBounded() {
        var book = AddressBook()
        for number in 0..<10_000 { book.failed("\(number)") }
        let addresses = (0..<10_000).map { "\($0)" }
        let order = book.order(addresses, used: [], rotation: 0)
        #expect(order.suffix(AddressBook.failuresMaximum).contains(9_999))
        #expect(order.first == 0)
    }
}
