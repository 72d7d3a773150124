import Testing

@testable import DispatchCore

@Suite("Values under numbers")
struct SlotTableTests {
    private struct Thrown: Error {}

    private var table = SlotTable<[Int]>()

    @Test("A number finds its value until it is removed, and no other value that has its place afterwards")
    mutating func numbers() {
        let first = table.insert { _ in [1] }
        let second = table.insert { _ in [2] }
        #expect(table[first] == [1] && table[second] == [2] && table.count == 2)
        let removed = table.remove(first)
        let third = table.insert { _ in [3] }
        #expect(removed == [1] && table[first] == nil && table[third] == [3] && table.count == 2)
        #expect(table.numbers { $0 == [3] } == [third])
    }

    @Test("A value may hold its own number")
    mutating func ownNumber() {
        table.remove(table.insert { _ in [] })
        let number = table.insert { [Int($0)] }
        #expect(table[number] == [Int(number)])
    }

    @Test("A change is kept, also of a body that throws")
    mutating func modify() {
        let number = table.insert { _ in [1] }
        let count = table.modify(number) { value in
            value.append(2)
            return value.count
        }
        #expect(count == 2 && table[number] == [1, 2])
        #expect(throws: Thrown.self) {
            try table.modify(number) { value in
                value.append(3)
                throw Thrown()
            }
        }
        #expect(table[number] == [1, 2, 3])
    }

    @Test("A change copies no array that the value alone holds")
    mutating func modifyInPlace() {
        let number = table.insert { _ in Array(repeating: 0, count: 100) }
        let before = table.modify(number) { $0.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
        table.modify(number) { $0[7] = 1 }
        let after = table.modify(number) { $0.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
        #expect(before == after)
    }

    @Test("A number whose value was removed must not be changed")
    func absent() async {
        await #expect(processExitsWith: .failure) {
            var table = SlotTable<[Int]>()
            let number = table.insert { _ in [1] }
            table.remove(number)
            table.modify(number) { $0 = [] }
        }
    }
}
