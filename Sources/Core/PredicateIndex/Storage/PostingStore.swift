/// The postings and their places: two arrays, of which matching reads only one.
struct PostingStore: ~Copyable {
    private var postings: ChunkedArray<Posting>
    private var places: ChunkedArray<PostingPlace>

    init(_ memory: IndexMemory) {
        postings = ChunkedArray(memory, chunkShift: 12)
        places = ChunkedArray(memory, chunkShift: 12)
    }

    /// How many postings there are.
    var count: Int { postings.count }

    /// The memory that is held, in bytes.
    var memoryBytes: Int { postings.memoryBytes + places.memoryBytes }

    /// The posting with a number.
    subscript(number: UInt32) -> Posting {
        @inline(__always) get { postings[number] }
        @inline(__always) nonmutating set { postings[number] = newValue }
    }

    /// Where a posting lies, for as long as the store lives.
    @inline(__always)
    func pointer(_ number: UInt32) -> UnsafeMutablePointer<Posting> { postings.pointer(number) }

    /// Where the place of a posting lies, for as long as the store lives.
    @inline(__always)
    func place(of number: UInt32) -> UnsafeMutablePointer<PostingPlace> { places.pointer(number) }

    /// Asks for the memory of a posting, and does not wait for it.
    @inline(__always)
    func prefetch(_ number: UInt32) { postings.prefetch(number) }

    /// Asks for the memory of a posting's place, and does not wait for it.
    @inline(__always)
    func prefetchPlace(of number: UInt32) { places.prefetch(number) }

    /// Adds a posting, which has no place yet, and returns its number.
    mutating func add(_ posting: Posting) -> UInt32 {
        let number = postings.add(posting)
        // Both arrays give the same numbers: they are added to and removed from together.
        let place = places.add(PostingPlace())
        assert(place == number)
        return number
    }

    /// Removes a posting; its number will be given again.
    mutating func remove(_ number: UInt32) {
        postings.remove(number)
        places.remove(number)
    }
}
