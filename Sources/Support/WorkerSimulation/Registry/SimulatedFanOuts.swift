import PushCore

/// What the simulated registry keeps of large fan-outs.
struct SimulatedFanOuts {
    struct Kept {
        var fanOut: FanOut
        var plannedUntilMilliseconds: Int64
        var chunks: [FanOutChunk] = []
        var hasEnded: [Bool] = []
    }

    /// By number, which begins at 1.
    var list: [Kept] = []
    var placeOfEvent: [EventDigest: Int] = [:]

    var newest: Int64 { Int64(list.count) }

    func place(_ number: Int64) throws(RegistryError) -> Int {
        guard number >= 1, number <= newest else {
            throw RegistryError(.notFound, "There is no fan-out of this number.")
        }
        return Int(number) - 1
    }
}
