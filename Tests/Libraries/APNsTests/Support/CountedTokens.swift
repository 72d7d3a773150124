import APNs

/// So many tokens, made when they are asked for and counted then.
struct CountedTokens: Sequence, Sendable {
    let count: Int
    let taken: Counter

    func makeIterator() -> AnyIterator<PushToken> {
        var next = 0
        return AnyIterator {
            guard next < count else { return nil }
            defer { next += 1 }
            taken.add()
            return try? PushService.token(next)
        }
    }
}
