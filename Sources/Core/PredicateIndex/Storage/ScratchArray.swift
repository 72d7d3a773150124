/// Elements without references that are needed for one change, in memory that the next change uses again.
struct ScratchArray<Element: BitwiseCopyable>: ~Copyable {
    /// Memory beyond this is given back as soon as the change is done.
    private static var capacityKept: Int { 65_536 }
    private static var capacityFirst: Int { 64 }

    private var elements: UnsafeMutablePointer<Element>
    private var capacity: Int
    /// How many elements there are.
    private(set) var count = 0

    init() {
        capacity = Self.capacityFirst
        elements = .allocate(capacity: capacity)
    }

    deinit { elements.deallocate() }

    /// The element at an index.
    subscript(index: Int) -> Element {
        @inline(__always) get { elements[index] }
        @inline(__always) nonmutating set { elements[index] = newValue }
    }

    /// Where an element lies until the next addition.
    @inline(__always)
    func pointer(_ index: Int) -> UnsafeMutablePointer<Element> { elements + index }

    /// Adds an element.
    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { reserve(2 * capacity) }
        (elements + count).initialize(to: element)
        count += 1
    }

    /// Adds an element if it is wanted, without a branch on that: where the answer comes from memory, a branch that was
    /// guessed wrong would hold up everything behind it until then.
    @inline(__always)
    mutating func append(_ element: Element, if isWanted: Bool) {
        if count == capacity { reserve(2 * capacity) }
        (elements + count).initialize(to: element)
        count += isWanted ? 1 : 0
    }

    /// Adds elements.
    mutating func append(_ added: UnsafeBufferPointer<Element>) {
        guard let start = added.baseAddress else { return }
        if count + added.count > capacity { reserve(max(2 * capacity, count + added.count)) }
        (elements + count).initialize(from: start, count: added.count)
        count += added.count
    }

    /// Removes the last elements.
    mutating func removeLast(_ removed: Int) { count -= removed }

    /// Removes all elements.
    mutating func removeAll() {
        count = 0
        guard capacity > Self.capacityKept else { return }
        elements.deallocate()
        capacity = Self.capacityFirst
        elements = .allocate(capacity: capacity)
    }

    private mutating func reserve(_ wanted: Int) {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: wanted)
        larger.moveInitialize(from: elements, count: count)
        elements.deallocate()
        elements = larger
        capacity = wanted
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int { capacity * MemoryLayout<Element>.stride }
}
