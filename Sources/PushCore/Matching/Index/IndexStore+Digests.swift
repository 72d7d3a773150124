/// What a record's fields add to the keys for which it is probed.
extension IndexStore {
    /// The digests of the record in a dimension, in `record.digests`; none if the field is missing or of no use.
    mutating func digests(of number: UInt32) -> RecordView.Extent {
        let dimension = dimensions.pointer(number)
        if dimension.pointee.madeFor != change {
            dimension.pointee.madeFor = change
            let start = record.make(dimension.pointee, paths, change: change)
            dimension.pointee.digestStart = UInt32(start)
            dimension.pointee.digestCount = UInt32(record.digests.count - start)
            if record.digests.count > start { dimension.pointee.digest = record.digests[start] }
        }
        return RecordView.Extent(start: Int(dimension.pointee.digestStart), count: Int(dimension.pointee.digestCount))
    }

    /// The digest of the record in a dimension that it has one for; nil if the field is missing or of no use.
    @inline(__always)
    mutating func digest(of number: UInt32) -> WordDigest? {
        let dimension = dimensions.pointer(number)
        if dimension.pointee.madeFor != change { _ = digests(of: number) }
        return dimension.pointee.digestCount == 0 ? nil : dimension.pointee.digest
    }
}
