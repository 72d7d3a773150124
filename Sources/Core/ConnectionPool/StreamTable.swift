/// Which push travels on which stream of one connection: a hash table in one flat array.
///
/// Stream identifiers of a client are odd and grow (RFC 9113, section 5.1.1), and the open ones lie close together. So
/// half the identifier is its own perfect hash nearly always, and a look-up is one read. Where stragglers are in the
/// way, entries stand in the order of their distance from home (Robin Hood hashing), which ends every search and every
/// removal early.
struct StreamTable: Sendable {
    struct Entry: Sendable {
        /// 0 if the bucket is empty.
        var stream: Int32 = 0
        var push: Int32 = 0
    }

    private var buckets = [Entry](repeating: Entry(), count: 16)
    private(set) var count = 0

    private var mask: Int { buckets.count - 1 }

    /// Every open stream, in no order.
    var entries: [Entry] { buckets.filter { $0.stream != 0 } }

    func push(onStream stream: Int32) -> Int? {
        guard stream > 0, let position = position(of: stream) else { return nil }
        return Int(buckets[position].push)
    }

    mutating func insert(stream: Int32, push: Int) {
        precondition(stream > 0, "a client's stream has a positive identifier")
        if 2 * (count + 1) > buckets.count { grow() }
        var entry = Entry(stream: stream, push: Int32(push))
        var position = home(of: stream)
        var distance = 0
        while buckets[position].stream != 0 {
            precondition(buckets[position].stream != stream, "an identifier is used once only")
            let distanceOfOther = self.distance(at: position)
            if distanceOfOther < distance {
                swap(&entry, &buckets[position])
                distance = distanceOfOther
            }
            position = (position + 1) & mask
            distance += 1
        }
        buckets[position] = entry
        count += 1
    }

    @discardableResult
    mutating func remove(stream: Int32) -> Int? {
        guard stream > 0, var hole = position(of: stream) else { return nil }
        let push = Int(buckets[hole].push)
        count -= 1
        // The following displaced entries move one place closer, so that no search stops at the hole.
        var next = (hole + 1) & mask
        while buckets[next].stream != 0, distance(at: next) > 0 {
            buckets[hole] = buckets[next]
            hole = next
            next = (next + 1) & mask
        }
        buckets[hole].stream = 0
        return push
    }

    private func home(of stream: Int32) -> Int { Int(stream >> 1) & mask }

    /// How far the entry at a position stands from home.
    private func distance(at position: Int) -> Int { (position - home(of: buckets[position].stream)) & mask }

    private func position(of stream: Int32) -> Int? {
        var position = home(of: stream)
        var distance = 0
        while buckets[position].stream != stream {
            if buckets[position].stream == 0 || self.distance(at: position) < distance { return nil }
            position = (position + 1) & mask
            distance += 1
        }
        return position
    }

    private mutating func grow() {
        let old = entries
        buckets = [Entry](repeating: Entry(), count: 2 * buckets.count)
        count = 0
        for entry in old { insert(stream: entry.stream, push: Int(entry.push)) }
    }
}
