internal import Prefetching

/// Blocks of words of 32 bits, of any size, known by the address of their first word, which has 31 bits; 0 stands for
/// none.
///
/// Memory is taken in chunks that never move. A freed block joins the free list of its size and is reused for that
/// size; sizes are rounded, so that there are few. A block begins at a multiple of the largest power of two that its
/// size is a multiple of, so that it lies on no more lines than it has to.
struct BlockStore: ~Copyable {
    private static var chunkShift: Int { 14 }
    private static var chunkWords: Int { 1 << chunkShift }
    /// How many words the processor reads from memory at a time.
    static var lineWords: Int { IndexMemory.lineBytes / MemoryLayout<UInt32>.stride }

    private let memory: IndexMemory
    private var chunks: [UnsafeMutablePointer<UInt32>] = []
    private var chunkWordCounts: [Int] = []
    /// Where the next block begins in the newest chunk of blocks.
    private var next = 0
    private var end = 0
    /// The first free block of each size, of those that several blocks of a chunk can have; free blocks name the next
    /// of theirs in their first word.
    private var free: [UInt32]
    /// The same of larger sizes.
    private var freeLarge: [Int: UInt32] = [:]
    /// The memory that is held, in bytes.
    private(set) var memoryBytes = 0
    /// How many blocks are in use.
    private(set) var count = 0

    init(_ memory: IndexMemory) {
        self.memory = memory
        free = Array(repeating: 0, count: 65 + Self.chunkWords / 1_024)
    }

    deinit {
        for (chunk, count) in zip(chunks, chunkWordCounts) where count > 0 { memory.deallocate(chunk, count: count) }
    }

    /// Where a word lies, for as long as its block lives.
    @inline(__always)
    func pointer(_ address: UInt32) -> UnsafeMutablePointer<UInt32> {
        chunks[Int(address) >> Self.chunkShift] + (Int(address) & (Self.chunkWords - 1))
    }

    /// Prefetches the beginning of a block.
    @inline(__always)
    func prefetch(_ address: UInt32, lineCount: Int = 1) {
        let start = pointer(address)
        for line in 0..<lineCount { Prefetch.line(of: start + line * Self.lineWords) }
    }

    /// The size that a block of this many words is given.
    static func size(for wordCount: Int) -> Int {
        let step = wordCount <= 64 ? 2 : wordCount <= 1_024 ? 32 : wordCount <= chunkWords / 2 ? 512 : chunkWords
        return (wordCount + step - 1) / step * step
    }

    /// Where the free blocks of a size are listed; nil if it is a large one.
    private static func list(ofSize size: Int) -> Int? {
        if size <= 64 { return size / 2 }
        if size <= 1_024 { return 32 + size / 32 }
        return size <= chunkWords / 2 ? 64 + size / 512 : nil
    }

    /// A block of at least this many words, whose contents are anything.
    mutating func allocate(wordCount: Int) -> UInt32 {
        count += 1
        let size = Self.size(for: max(wordCount, 1))
        let list = Self.list(ofSize: size)
        let address = list.map { free[$0] } ?? freeLarge[size] ?? 0
        if address != 0 {
            setFree(size, list, pointer(address).pointee)
            return address
        }
        if chunks.isEmpty { beginChunk() }
        if size >= Self.chunkWords { return UInt32(addChunks(size) << Self.chunkShift) }
        align(for: size)
        if end - next < size { beginChunk() }
        let fresh = UInt32(next)
        next += size
        return fresh
    }

    /// Gives back a block of `wordCount` words, as it was asked for.
    mutating func release(_ address: UInt32, wordCount: Int) {
        let size = Self.size(for: max(wordCount, 1))
        let list = Self.list(ofSize: size)
        count -= 1
        pointer(address).pointee = list.map { free[$0] } ?? freeLarge[size] ?? 0
        setFree(size, list, address)
    }

    private mutating func setFree(_ size: Int, _ list: Int?, _ address: UInt32) {
        if let list {
            free[list] = address
        } else {
            freeLarge[size] = address
        }
    }

    private mutating func beginChunk() {
        next = addChunks(Self.chunkWords) << Self.chunkShift
        end = next + Self.chunkWords
        // The very first line is left out: its address would be 0.
        next = max(next, Self.lineWords)
    }

    /// Advances to an aligned place for a block of a size; the skipped part becomes a free block.
    private mutating func align(for size: Int) {
        let alignment = min(size & -size, Self.lineWords)
        let gap = -next & (alignment - 1)
        guard gap > 0, next + gap < end else { return }
        pointer(UInt32(next)).pointee = free[gap / 2]
        free[gap / 2] = UInt32(next)
        next += gap
    }

    /// Takes memory for this many words, a multiple of a chunk's, and returns the number of its first chunk.
    private mutating func addChunks(_ wordCount: Int) -> Int {
        let chunkCount = wordCount / Self.chunkWords
        precondition(chunks.count + chunkCount <= 1 << (31 - Self.chunkShift), "addresses of 31 bits are used up")
        let first = memory.allocate(UInt32.self, count: wordCount)
        first.initialize(repeating: 0, count: wordCount)
        for index in 0..<chunkCount {
            chunks.append(first + index * Self.chunkWords)
            chunkWordCounts.append(index == 0 ? wordCount : 0)
        }
        memoryBytes += wordCount * MemoryLayout<UInt32>.stride
        return chunks.count - chunkCount
    }
}
