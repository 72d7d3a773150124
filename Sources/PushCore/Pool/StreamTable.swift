/// Which push travels on which stream of one connection: a hash table of two flat arrays.
///
/// Stream identifiers of a client are odd and grow (RFC 9113, section 5.1.1), and those that are open lie close
/// together. So half the identifier is its own perfect hash nearly always, and a look-up is one read.
struct StreamTable: Sendable {
    private var streams: [Int32]
    private var pushes: [Int32]
    private(set) var count = 0

    init() {
        streams = [Int32](repeating: 0, count: 16)
        pushes = [Int32](repeating: 0, count: 16)
    }

    private var mask: Int { streams.count - 1 }

    /// Every open stream, in no order.
    var entries: [(stream: Int32, push: Int)] {
        streams.indices.compactMap { streams[$0] == 0 ? nil : (streams[$0], Int(pushes[$0])) }
    }

    func push(onStream stream: Int32) -> Int? {
        guard stream > 0, let position = position(of: stream) else { return nil }
        return Int(pushes[position])
    }

    mutating func insert(stream: Int32, push: Int) {
        precondition(stream > 0, "a client's stream has a positive identifier")
        if 2 * (count + 1) > streams.count { grow() }
        var position = Int(stream >> 1) & mask
        while streams[position] != 0 {
            precondition(streams[position] != stream, "an identifier is used once only")
            position = (position + 1) & mask
        }
        streams[position] = stream
        pushes[position] = Int32(push)
        count += 1
    }

    @discardableResult
    mutating func remove(stream: Int32) -> Int? {
        guard stream > 0, var hole = position(of: stream) else { return nil }
        let push = Int(pushes[hole])
        count -= 1
        // Entries that had to move on because of this one move back, so that no look-up stops at the hole.
        var position = (hole + 1) & mask
        while streams[position] != 0 {
            let home = Int(streams[position] >> 1) & mask
            if (position - home) & mask >= (position - hole) & mask {
                streams[hole] = streams[position]
                pushes[hole] = pushes[position]
                hole = position
            }
            position = (position + 1) & mask
        }
        streams[hole] = 0
        return push
    }

    private func position(of stream: Int32) -> Int? {
        var position = Int(stream >> 1) & mask
        while streams[position] != stream {
            if streams[position] == 0 { return nil }
            position = (position + 1) & mask
        }
        return position
    }

    private mutating func grow() {
        let old = entries
        streams = [Int32](repeating: 0, count: 2 * streams.count)
        pushes = [Int32](repeating: 0, count: streams.count)
        count = 0
        for entry in old { insert(stream: entry.stream, push: entry.push) }
    }
}
