internal import Geography
import Hashing
import Predicates

/// The parts of keys that the fields of a record contribute.
extension RecordView {
    /// Appends the digests of a dimension, and returns where they begin.
    mutating func make(_ dimension: KeyDimension, _ paths: borrowing ChunkedArray<PathEntry>, change: UInt64) -> Int {
        if dimension.path == 0 { return makeWords(dimension) }
        guard let field = paths.pointer(dimension.path).pointee.field(in: change) else { return digests.count }
        switch dimension.kind {
        case .value, .foldedValue:
            let digest = digest(of: field, isFolded: dimension.kind == .foldedValue)
            let start = digests.count
            if let digest { digests.append(digest.salted(by: dimension.salt)) }
            return start
        case .member: return salted(members(of: field, isFolded: false), dimension.salt)
        case .foldedMember: return salted(members(of: field, isFolded: true), dimension.salt)
        case .word: return salted(words(of: field), dimension.salt)
        case .prefix, .memberPrefix: return makePrefixes(field, dimension)
        case .number, .text, .place: return makeCells(field, dimension)
        }
    }

    /// The words of all fields.
    private mutating func makeWords(_ dimension: KeyDimension) -> Int {
        for field in 0..<fields.count { _ = words(of: field) }
        let start = digests.count
        for field in 0..<fields.count { _ = salted(fields[field].words, dimension.salt) }
        return start
    }

    private mutating func salted(_ extent: Extent, _ salt: WordDigest) -> Int {
        let start = digests.count
        for index in extent.start..<extent.start + extent.count { digests.append(digests[index].salted(by: salt)) }
        return start
    }

    private mutating func makePrefixes(_ field: Int, _ dimension: KeyDimension) -> Int {
        let start = digests.count
        if dimension.kind == .prefix {
            guard let text = text(of: field) else { return start }
            appendPrefixes(bytes(text), dimension)
        } else if case .list(let members) = values[field] {
            for case .string(var text) in members {
                text.withUTF8 { appendPrefixes(UnsafeRawBufferPointer($0), dimension) }
            }
        }
        return start
    }

    private mutating func appendPrefixes(_ text: UnsafeRawBufferPointer, _ dimension: KeyDimension) {
        var levels = dimension.levels
        while levels != 0, levels.trailingZeroBitCount <= text.count {
            let beginning = UnsafeRawBufferPointer(rebasing: text[..<levels.trailingZeroBitCount])
            digests.append(hashes.of(beginning).salted(by: dimension.salt))
            levels &= levels - 1
        }
    }

    private mutating func makeCells(_ field: Int, _ dimension: KeyDimension) -> Int {
        var bits: UInt64?
        switch (dimension.kind, fields[field].kind) {
        case (.number, .integer): bits = OrderedKey.bits(of: Double(Int64(bitPattern: fields[field].number)))
        case (.number, .double): bits = OrderedKey.bits(of: Double(bitPattern: fields[field].number))
        case (.text, .text): bits = text(of: field).map { OrderedKey.bits(ofText: bytes($0)) }
        default: break
        }
        let place = dimension.kind == .place ? fields[field].place : nil
        let start = digests.count
        guard bits != nil || place != nil else { return start }
        var levels = dimension.levels
        while levels != 0 {
            let level = levels.trailingZeroBitCount
            let cell = place.map { GeographicGrid.cell(of: $0, level: level) } ?? (bits ?? 0) >> UInt64(level)
            digests.append(dimension.salt.cell(cell, level: level))
            levels &= levels - 1
        }
        return start
    }
}
