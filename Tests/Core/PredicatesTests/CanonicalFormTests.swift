import Geography
import PushTestKit
import Testing

@testable import Predicates

@Suite("Predicates: canonical bytes")
struct CanonicalFormTests {
    private static let seeds = (0..<2).map { _ in UInt64.random(in: 0...UInt64.max) }

    @Test("Every predicate is read back from its canonical bytes", arguments: seeds)
    func roundTrips(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        for _ in 0..<2000 {
            let predicate = try random.predicate()
            let read = try Predicate(canonicalBytes: predicate.canonicalBytes)
            guard read == predicate else {
                Issue.record("seed \(seed): \(predicate) is read as \(read)")
                return
            }
        }
    }

    @Test("Bytes that were changed are refused, or are those of another predicate; none crashes", arguments: seeds)
    func survivesAnyBytes(seed: UInt64) throws {
        var random = RandomPredicates(seed: seed)
        for round in 0..<8000 {
            // Half of them are of the plain kind that is not brought into normal form again.
            let isPlain = round % 2 == 0
            let predicate = try isPlain ? Predicate(anyOf: [[random.term(), random.term()]]) : random.predicate()
            var bytes = predicate.canonicalBytes
            for _ in 0..<Int.random(in: 1...3, using: &random.generator) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &random.generator)
                switch Int.random(in: 0...2, using: &random.generator) {
                case 0: bytes[index] = .random(in: 0...255, using: &random.generator)
                case 1: bytes.remove(at: index)
                default: bytes.insert(.random(in: 0...9, using: &random.generator), at: index)
                }
            }
            guard let read = try? Predicate(canonicalBytes: bytes) else { continue }
            guard read.canonicalBytes == bytes, try Predicate(anyOf: read.conjunctions) == read else {
                Issue.record("seed \(seed): \(bytes) was taken though it is not canonical")
                return
            }
        }
    }

    /// The form is stored, so these must never change.
    @Test("The canonical bytes are what they have always been")
    func staysTheSame() throws {
        #expect(Predicate.never.canonicalBytes == [1, 0])
        #expect(Predicate.always.canonicalBytes == [1, 1, 0])
        let bob = PredicateTerm("who", .equals(.string("Bob"), .caseInsensitive))
        let old = PredicateTerm(
            "age", .isInRange(ValueRange(lower: .init(.integer(65), isIncluded: true), upper: nil)), isNegated: true)
        #expect(
            try Predicate(anyOf: [[bob, old]]).canonicalBytes
                == [1, 1, 2]
                + Array("age".utf8) + [0, 3, 5, 2, 0x80, 0, 0, 0, 0, 0, 0, 65, 1]
                + Array("who".utf8) + [0, 1, 1, 1, 3] + Array("bob".utf8) + [0])
        let half = PredicateTerm("a", .listContainsAny([.double(-0.5), .boolean(true)], .exact))
        #expect(
            try Predicate(half).canonicalBytes
                == [1, 1, 1, 97, 0, 7, 0, 2, 3, 0x40, 0x1f, 255, 255, 255, 255, 255, 255, 4, 1, 0])
        func reference(_ zoneName: String) throws -> [UInt8] {
            try Predicate(PredicateTerm("a", .equals(.reference(to: "b", zoneName: zoneName), .exact))).canonicalBytes
        }
        #expect(try reference(FieldValue.defaultZoneName) == [1, 1, 1, 97, 0, 1, 0, 7, 1, 98, 0])
        #expect(try reference("z") == [1, 1, 1, 97, 0, 1, 0, 10, 1, 98, 1, 122, 0])
    }

    @Test("Bytes in another than the normal form are refused")
    func refusesOtherForms() {
        let one: [UInt8] = [97, 0, 1, 0, 4, 1, 0]
        let two: [UInt8] = [98, 0, 1, 0, 4, 1, 0]
        func isTaken(_ bytes: [UInt8]) -> Bool { (try? Predicate(canonicalBytes: bytes)) != nil }
        #expect(isTaken([1, 1, 2] + one + two))
        #expect(!isTaken([1, 1, 2] + two + one), "the order is wrong")
        #expect(!isTaken([1, 1, 2] + one + one), "a term is there twice")
        let three: [UInt8] = [97, 0, 1, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 3, 0]
        let aboveOne: [UInt8] = [97, 0, 3, 1, 2, 0x80, 0, 0, 0, 0, 0, 0, 1, 0]
        #expect(isTaken([1, 1, 1] + three) && isTaken([1, 1, 1] + aboveOne))
        #expect(!isTaken([1, 1, 2] + three + aboveOne), "a bound stands beside a value of the same field")
        #expect(!isTaken([1, 0x81, 0, 2] + one + two), "a count is longer than it need be")
        #expect(!isTaken([1, 2, 0, 1] + one), "everything else goes without saying")
        #expect(!isTaken([2, 0]), "another version")
        #expect(!isTaken([1, 1, 1, 97, 0, 1, 1, 1, 1, 66, 0]), "B is not folded")
        #expect(
            !isTaken([1, 1, 1, 97, 0, 1, 0, 10, 1, 98, 12] + Array("_defaultZone".utf8) + [0]),
            "the default zone is named")
        #expect(!isTaken([1, 1, 2] + one + two + [0]), "something follows")
        #expect(!isTaken([]))
    }
}
