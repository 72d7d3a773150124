internal import Geography
import Hashing
import Predicates

/// Tests the terms that keys leave over.
extension RecordView {
    /// Whether all terms of a residual hold.
    ///
    /// - Parameters:
    ///   - words: the residual, as `ResidualWriter` wrote it.
    ///   - paths: where in the record the paths are.
    ///   - change: the change that is being matched.
    /// - Returns: whether they hold.
    mutating func satisfies(
        _ words: UnsafePointer<UInt32>, _ paths: borrowing ChunkedArray<PathEntry>, change: UInt64
    ) -> Bool {
        var position = words + 1
        for _ in 0..<words[0] {
            let term = ResidualTerm(position)
            steps += 1
            let operands = position + ResidualTerm.headerWords
            let holds =
                term.path == 0
                ? anyPasses(term, operands)
                : paths.pointer(term.path).pointee.field(in: change).map { passes($0, term, operands) } ?? false
            guard holds != term.isNegated else { return false }
            position += term.wordCount
        }
        return true
    }

    private mutating func anyPasses(_ term: ResidualTerm, _ operands: UnsafePointer<UInt32>) -> Bool {
        for field in 0..<fields.count where passes(field, term, operands) { return true }
        return false
    }

    private mutating func passes(_ field: Int, _ term: ResidualTerm, _ operands: UnsafePointer<UInt32>) -> Bool {
        let digestCount = (term.wordCount - ResidualTerm.headerWords) / 4
        switch term.operation {
        case .never: return false
        case .isIn:
            guard let digest = digest(of: field, isFolded: term.isFolded) else { return false }
            return Self.occurs(digest, operands, digestCount)
        case .isInRange: return isInRange(field, operands)
        case .beginsWith:
            guard let text = text(of: field) else { return false }
            return Self.begins(bytes(text), with: Self.text(operands))
        case .containsText:
            guard let text = text(of: field) else { return false }
            steps += text.count / 64
            return TextSearch.occurs(Self.text(operands), in: bytes(text))
        case .memberIsIn: return anyOccurs(members(of: field, isFolded: term.isFolded), operands, digestCount)
        case .memberBeginsWith: return hasMember(field, beginningWith: Self.text(operands))
        case .hasWord: return anyOccurs(words(of: field), operands, digestCount)
        case .isWithin:
            guard let place = fields[field].place else { return false }
            return Self.isWithin(place, operands)
        }
    }

    // MARK: - Operands

    @inline(__always)
    private static func word(_ operands: UnsafePointer<UInt32>) -> UInt64 {
        UInt64(operands[0]) | UInt64(operands[1]) << 32
    }

    private static func text(_ operands: UnsafePointer<UInt32>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: operands + 1, count: Int(operands[0]))
    }

    // MARK: - Tests

    private static func occurs(_ digest: WordDigest, _ operands: UnsafePointer<UInt32>, _ count: Int) -> Bool {
        (0..<count).contains { index in
            word(operands + 4 * index) == digest.high && word(operands + 4 * index + 2) == digest.low
        }
    }

    private mutating func anyOccurs(_ extent: Extent, _ operands: UnsafePointer<UInt32>, _ count: Int) -> Bool {
        steps += extent.count * count / 16
        for index in extent.start..<extent.start + extent.count where Self.occurs(digests[index], operands, count) {
            return true
        }
        return false
    }

    private static func begins(_ text: UnsafeRawBufferPointer, with beginning: UnsafeRawBufferPointer) -> Bool {
        text.count >= beginning.count && text.prefix(beginning.count).elementsEqual(beginning)
    }

    private static func isWithin(_ place: Location, _ operands: UnsafePointer<UInt32>) -> Bool {
        let latitude = Double(bitPattern: word(operands))
        let radiusMetres = Double(bitPattern: word(operands + 4))
        // No way is shorter than the one along the meridian; a metre is more than either can be wrong.
        let meridianMetres = abs(place.latitude - latitude) * (Double.pi / 180) * Location.earthRadiusMetres
        guard meridianMetres * 0.999_999 - 1 < radiusMetres else { return false }
        let centre = Location(latitude: latitude, longitude: Double(bitPattern: word(operands + 2)))
        return centre.map { $0.distanceMetres(to: place) < radiusMetres } ?? false
    }

    private func hasMember(_ field: Int, beginningWith beginning: UnsafeRawBufferPointer) -> Bool {
        guard case .list(let members) = values[field] else { return false }
        return members.contains { member in
            if case .string(let text) = member { text.utf8.starts(with: beginning) } else { false }
        }
    }

    private mutating func isInRange(_ field: Int, _ operands: UnsafePointer<UInt32>) -> Bool {
        guard let lower = order(field, to: operands), lower.order != .before else { return false }
        if lower.order == .same, !lower.isIncluded { return false }
        guard let upper = order(field, to: operands + lower.wordCount), upper.order != .after else { return false }
        return upper.order != .same || upper.isIncluded
    }

    /// How a field lies to a bound; nil if the two have no order.
    private mutating func order(
        _ field: Int, to bound: UnsafePointer<UInt32>
    ) -> (order: ValueOrder?, isIncluded: Bool, wordCount: Int)? {
        let isIncluded = bound[0] & ResidualBound.isIncluded != 0
        let order: ValueOrder?
        let wordCount: Int
        switch ResidualBound.Kind(rawValue: bound[0] & 3) ?? .none {
        case .none: return (nil, true, 1)
        case .integer:
            order = fields[field].value?.order(against: .integer(Int64(bitPattern: Self.word(bound + 1))))
            wordCount = 3
        case .double:
            order = fields[field].value?.order(against: .double(Double(bitPattern: Self.word(bound + 1))))
            wordCount = 3
        case .text:
            order = text(of: field).map { TextSearch.order(bytes($0), Self.text(bound + 1)) }
            wordCount = 2 + (Int(bound[1]) + 3) / 4
        }
        return order.map { ($0, isIncluded, wordCount) }
    }
}

/// Compares and searches texts by their bytes.
enum TextSearch {
    /// An odd number that spreads bytes over a word.
    private static let base: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// How two texts lie to each other.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> ValueOrder {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index] ? .before : .after
        }
        return left.count < right.count ? .before : left.count == right.count ? .same : .after
    }

    /// Whether a part occurs in a text, in a time that grows with the sum of their lengths (Karp and Rabin, 1987).
    static func occurs(_ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= text.count else { return false }
        var wanted: UInt64 = 0
        var window: UInt64 = 0
        var leaving: UInt64 = 1
        for index in 0..<part.count {
            wanted = wanted &* base &+ UInt64(part[index])
            window = window &* base &+ UInt64(text[index])
            leaving = leaving &* base
        }
        var start = 0
        while true {
            if window == wanted, text[start..<start + part.count].elementsEqual(part) { return true }
            guard start + part.count < text.count else { return false }
            window = window &* base &+ UInt64(text[start + part.count]) &- leaving &* UInt64(text[start])
            start += 1
        }
    }
}
