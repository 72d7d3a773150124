internal import Prefetching

/// Elements without references in chunks of memory that never move, known by numbers from 1; 0 stands for none.
///
/// It grows by a chunk at a time, so that no addition costs more than any other, and gives a freed slot to the next
/// element. Elements are not counted by reference, and neither is the array: its one owner frees it.
struct ChunkedArray<Element: BitwiseCopyable>: ~Copyable {
    private let chunkShift: UInt32
    private let chunkMask: UInt32
    private let memory: IndexMemory
    private var chunks: UnsafeMutablePointer<UnsafeMutablePointer<Element>>
    private var chunkCount = 0
    private var chunkCapacity = 16
    private var used: UInt32 = 1
    private var firstFree: UInt32 = 0
    /// How many elements there are.
    private(set) var count = 0

    /// Creates an empty array, with chunks of 2^`chunkShift` elements.
    init(_ memory: IndexMemory, chunkShift: UInt32) {
        self.memory = memory
        self.chunkShift = chunkShift
        chunkMask = 1 << chunkShift - 1
        precondition(MemoryLayout<Element>.stride >= MemoryLayout<UInt32>.stride, "a free place names the next one")
        chunks = .allocate(capacity: chunkCapacity)
    }

    deinit {
        for index in 0..<chunkCount { memory.deallocate(chunks[index], count: 1 << Int(chunkShift)) }
        chunks.deallocate()
    }

    /// Where an element lies, for as long as the array lives.
    @inline(__always)
    func pointer(_ number: UInt32) -> UnsafeMutablePointer<Element> {
        chunks[Int(number &>> chunkShift)] + Int(number & chunkMask)
    }

    /// The element with a number.
    subscript(number: UInt32) -> Element {
        @inline(__always) get { pointer(number).pointee }
        @inline(__always) nonmutating set { pointer(number).pointee = newValue }
    }

    /// Prefetches the memory of an element.
    @inline(__always)
    func prefetch(_ number: UInt32) {
        let start = UnsafeRawPointer(pointer(number))
        Prefetch.line(of: start)
        guard !IndexMemory.lineBytes.isMultiple(of: MemoryLayout<Element>.stride) else { return }
        // Many elements lie on two lines.
        Prefetch.line(of: start + (MemoryLayout<Element>.size - 1))
    }

    /// Adds an element, and returns its number.
    mutating func add(_ element: Element) -> UInt32 {
        count += 1
        guard firstFree == 0 else {
            let number = firstFree
            firstFree = UnsafeRawPointer(pointer(number)).load(as: UInt32.self)
            self[number] = element
            return number
        }
        precondition(used < 1 << 31, "numbers of 31 bits are used up")
        if Int(used >> chunkShift) == chunkCount { addChunk() }
        let number = used
        used += 1
        pointer(number).initialize(to: element)
        return number
    }

    /// Removes an element; its number will be given again.
    mutating func remove(_ number: UInt32) {
        count -= 1
        UnsafeMutableRawPointer(pointer(number)).storeBytes(of: firstFree, as: UInt32.self)
        firstFree = number
    }

    private mutating func addChunk() {
        if chunkCount == chunkCapacity {
            let larger = UnsafeMutablePointer<UnsafeMutablePointer<Element>>.allocate(capacity: 2 * chunkCapacity)
            larger.moveInitialize(from: chunks, count: chunkCount)
            chunks.deallocate()
            chunks = larger
            chunkCapacity *= 2
        }
        (chunks + chunkCount).initialize(to: memory.allocate(Element.self, count: 1 << Int(chunkShift)))
        chunkCount += 1
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int {
        (chunkCount << Int(chunkShift)) * MemoryLayout<Element>.stride
            + chunkCapacity * MemoryLayout<UnsafeMutablePointer<Element>>.stride
    }
}
