import Hashing

/// What a record's fields add to the keys for which it is probed.
extension IndexStore {
    /// The digests of the record in a dimension, in `record.digests`; none if the field is missing or of no use.
    mutating func digests(_ turn: inout MatchTurn, of number: UInt32) -> RecordView.Extent {
        let dimension = dimensions.pointer(number)
        if dimension.pointee.madeFor != turn.change {
            dimension.pointee.madeFor = turn.change
            tellPaths(turn)
            let start = turn.record.make(dimension.pointee, paths, change: turn.change)
            dimension.pointee.digestStart = UInt32(start)
            dimension.pointee.digestCount = UInt32(turn.record.digests.count - start)
            if turn.record.digests.count > start { dimension.pointee.digest = turn.record.digests[start] }
        }
        return RecordView.Extent(start: Int(dimension.pointee.digestStart), count: Int(dimension.pointee.digestCount))
    }

    /// The digest of the record in a dimension that it has one for; nil if the field is missing or of no use.
    @inline(__always)
    mutating func digest(_ turn: inout MatchTurn, of number: UInt32) -> WordDigest? {
        let dimension = dimensions.pointer(number)
        if dimension.pointee.madeFor != turn.change { _ = digests(&turn, of: number) }
        return dimension.pointee.digestCount == 0 ? nil : dimension.pointee.digest
    }

    /// Lets the paths tell where in the record the fields are; they know it of one change at a time.
    mutating func tellPaths(_ turn: borrowing MatchTurn) {
        guard changeInPaths != turn.change else { return }
        changeInPaths = turn.change
        for field in 0..<turn.pathNumbers.count {
            let number = turn.pathNumbers[field]
            guard number != 0 else { continue }
            paths.pointer(number).pointee.seenIn = turn.change
            paths.pointer(number).pointee.field = UInt32(field)
        }
    }
}
