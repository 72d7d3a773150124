internal import Prefetching

/// Gives the parts of an index their memory: from huge pages, once there is enough of it for whole ones.
///
/// A look-up of a change reads memory all over the index. With pages of 4 KiB, nearly each read would first have to
/// find its page; the processor remembers pages of 2 MiB. Linux provides them on request (`madvise`, `MADV_HUGEPAGE`);
/// elsewhere a slab is as good as other memory. An index of a few subscriptions uses the C library instead, and so do
/// parts of unusual size.
///
/// A slab is a huge page in units: a used part takes some in a row, a free one is joined with its free neighbours. The
/// smallest free part that is large enough is taken. A slab that is empty is given back, but for one. A new slab costs
/// one addition in some ten thousand the time to clear 2 MiB.
final class IndexMemory {
    /// A free part of a slab: its first words are the previous and the next part in the list, and its length in units,
    /// which is in its last word, too.
    private typealias Part = UnsafeMutablePointer<UInt>

    /// The bytes that the processor reads from memory at a time.
    static let lineBytes = 64
    private static let slabBytes = HugePage.byteCount
    private static let unitBytes = 512
    private static let unitWords = unitBytes / MemoryLayout<UInt>.stride
    /// How many units a slab has; in the first one there is a bit for each.
    private static let slabUnits = slabBytes / unitBytes
    /// Smaller and larger parts come from the C library.
    private static let partBytes = 4_096...262_144

    /// The bytes that come from the C library before there is a first slab.
    ///
    /// A slab is then a negligible part of the whole, and the processor remembers the pages of less memory anyway.
    private let bytesBeforeSlabs: Int
    /// The slabs, by their addresses.
    private var slabs: Set<UInt> = []
    private var emptySlabs = 0
    /// The first free part of each length in units; all longer ones are in the last list.
    private var free: [Part?]
    /// The bytes that the C library has given.
    private var libraryBytes = 0
    /// The used bytes of the slabs.
    private var slabBytesUsed = 0

    /// Holds nothing yet, and takes so much from the C library before a first slab.
    init(bytesBeforeSlabs: Int = 1 << 22) {
        self.bytesBeforeSlabs = bytesBeforeSlabs
        free = Array(repeating: nil, count: Self.partBytes.upperBound / Self.unitBytes + 2)
    }

    deinit { for slab in slabs { HugePage.give(at: slab) } }

    /// The memory that is held and not in use, in bytes.
    var unusedBytes: Int { slabs.count * Self.slabBytes - slabBytesUsed }

    /// Memory for so many elements, with anything in it, that begins with a line.
    func allocate<Element: BitwiseCopyable>(_ type: Element.Type, count: Int) -> UnsafeMutablePointer<Element> {
        let byteCount = count * MemoryLayout<Element>.stride
        let isOften = Self.partBytes.contains(byteCount)
        if isOften, !slabs.isEmpty || libraryBytes >= bytesBeforeSlabs, let part = takePart(byteCount) {
            slabBytesUsed += byteCount
            return UnsafeMutableRawPointer(part).bindMemory(to: type, capacity: count)
        }
        libraryBytes += byteCount
        return UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: Self.lineBytes)
            .bindMemory(to: type, capacity: count)
    }

    /// Gives back the memory of so many elements.
    func deallocate<Element: BitwiseCopyable>(_ memory: UnsafeMutablePointer<Element>, count: Int) {
        let byteCount = count * MemoryLayout<Element>.stride
        if slabs.contains(Self.slab(of: memory)) {
            slabBytesUsed -= byteCount
            givePart(
                UnsafeMutableRawPointer(memory).bindMemory(to: UInt.self, capacity: Self.unitWords),
                unitCount: Self.unitCount(byteCount))
        } else {
            libraryBytes -= byteCount
            UnsafeMutableRawPointer(memory).deallocate()
        }
    }

    private static func unitCount(_ byteCount: Int) -> Int { (byteCount + unitBytes - 1) / unitBytes }

    private static func slab(of memory: UnsafeMutableRawPointer) -> UInt {
        UInt(bitPattern: memory) & ~UInt(slabBytes - 1)
    }

    // MARK: - Parts

    private func takePart(_ byteCount: Int) -> Part? {
        let wanted = Self.unitCount(byteCount)
        var list = wanted
        while list < free.count, free[list] == nil { list += 1 }
        if list == free.count {
            guard let page = HugePage.take() else { return nil }
            let slab = page.bindMemory(to: UInt.self, capacity: Self.slabBytes / MemoryLayout<UInt>.stride)
            slabs.insert(UInt(bitPattern: slab))
            emptySlabs += 1
            addFree(slab + Self.unitWords, unitCount: Self.slabUnits - 1)
            list = free.count - 1
        }
        guard let part = free[list] else { return nil }
        let unitCount = Int(part[2])
        if unitCount == Self.slabUnits - 1 { emptySlabs -= 1 }
        removeFree(part)
        if unitCount > wanted { addFree(part + wanted * Self.unitWords, unitCount: unitCount - wanted) }
        return part
    }

    private func givePart(_ part: Part, unitCount: Int) {
        var first = part
        var count = unitCount
        if isFree(first - 1) {
            let before = Int((first - 1).pointee)
            first -= before * Self.unitWords
            count += before
            removeFree(first)
        }
        let behind = first + count * Self.unitWords
        if isFree(behind) {
            count += Int(behind[2])
            removeFree(behind)
        }
        if count < Self.slabUnits - 1 {
            addFree(first, unitCount: count)
        } else if emptySlabs > 0 {
            slabs.remove(Self.slab(of: part))
            HugePage.give(at: Self.slab(of: part))
        } else {
            emptySlabs += 1
            addFree(first, unitCount: count)
        }
    }

    private func addFree(_ part: Part, unitCount: Int) {
        let list = min(unitCount, free.count - 1)
        part[0] = 0
        part[1] = UInt(bitPattern: free[list])
        part[2] = UInt(unitCount)
        part[unitCount * Self.unitWords - 1] = UInt(unitCount)
        free[list]?[0] = UInt(bitPattern: part)
        free[list] = part
        setFree(part, true)
        setFree(part + (unitCount - 1) * Self.unitWords, true)
    }

    private func removeFree(_ part: Part) {
        let unitCount = Int(part[2])
        let previous = Part(bitPattern: part[0])
        let next = Part(bitPattern: part[1])
        if let previous { previous[1] = part[1] } else { free[min(unitCount, free.count - 1)] = next }
        next?[0] = part[0]
        setFree(part, false)
        setFree(part + (unitCount - 1) * Self.unitWords, false)
    }

    // MARK: - Units

    /// Where the bit of a unit is; it is set in the first and the last unit of each free part.
    private func bit(of unit: Part) -> (word: Part, mask: UInt)? {
        let slab = Self.slab(of: unit)
        let unitIndex = (Int(bitPattern: unit) - Int(bitPattern: slab)) / Self.unitBytes
        return Part(bitPattern: slab).map { ($0 + unitIndex / UInt.bitWidth, 1 << UInt(unitIndex % UInt.bitWidth)) }
    }

    private func isFree(_ unit: Part) -> Bool {
        guard slabs.contains(Self.slab(of: unit)), let bit = bit(of: unit) else { return false }
        return bit.word.pointee & bit.mask != 0
    }

    private func setFree(_ unit: Part, _ isFree: Bool) {
        guard let bit = bit(of: unit) else { return }
        bit.word.pointee = isFree ? bit.word.pointee | bit.mask : bit.word.pointee & ~bit.mask
    }
}
