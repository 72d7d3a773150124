import PushTestKit
import Testing

@testable import Hashing

@Suite("Digest cache")
struct DigestCacheTests {
    private func digest(_ key: Int) -> WordDigest {
        var digest = WordDigest(seed: 7)
        digest.mix("key-\(key)")
        digest.finish()
        return digest
    }

    @Test("What it still knows is what was written last, and the newest entry is always known")
    func agreesWithADictionary() {
        var random = SeededGenerator(seed: 11)
        var cache = DigestCache<Int>(capacity: 64)
        var oracle: [Int: Int] = [:]
        var known = 0
        for round in 0..<20_000 {
            let key = Int.random(in: 0..<200, using: &random)
            if Int.random(in: 0..<8, using: &random) == 0 {
                cache.remove(digest(key))
                oracle[key] = nil
            } else {
                cache.set(round, for: digest(key))
                oracle[key] = round
            }
            #expect(cache[digest(key)] == oracle[key])
            let other = Int.random(in: 0..<200, using: &random)
            if let found = cache[digest(other)] {
                #expect(found == oracle[other])
                known += 1
            }
        }
        #expect(known > 2_000, "most of the places are in use")
    }

    @Test("It holds little memory for few keys, and grows with them without forgetting one")
    func grows() {
        var cache = DigestCache<Int>(capacity: 131_072)
        #expect(cache.entries.count < 2_048)
        for key in 0..<30_000 { cache.set(key, for: digest(key)) }
        #expect((0..<30_000).allSatisfy { cache[digest($0)] == $0 })
        #expect(cache.entries.count <= 131_072)
        for key in 0..<30_000 where key.isMultiple(of: 2) { cache.set(-key, for: digest(key)) }
        #expect((0..<30_000).allSatisfy { cache[digest($0)] == ($0.isMultiple(of: 2) ? -$0 : $0) })
    }

    @Test("Four keys that share a set are all known; a fifth pushes out the oldest")
    func forgetsTheOldest() {
        var cache = DigestCache<Int>(capacity: 4)
        for key in 0..<4 { cache.set(key, for: digest(key)) }
        cache.set(10, for: digest(0))
        cache.set(4, for: digest(4))
        #expect((0..<5).map { cache[digest($0)] } == [10, nil, 2, 3, 4])
    }
}
