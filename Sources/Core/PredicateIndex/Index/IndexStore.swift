/// The whole content of the index, in flat memory that is freed with it.
///
/// A predicate lies under one key or a few: the sum of its scope's digest and of one digest for each field of a
/// *shape*. A change is probed once for each shape in use. A residual tests the terms that the key does not settle.
///
///     keyTable      key ──▶ posting, or node ⇄ node …  postings with the same 32 bits, to be told apart by 96
///     contentTable  digest of a predicate ──▶ its first posting
///     rowTable      row ──▶ posting that has it, or node ⇄ node …  where a predicate has many subscribers
///     posting ──▶ block: the residual, and the further postings (`PredicateBlock`)
struct IndexStore: ~Copyable {
    let hashes: ValueDigests
    private let memory: IndexMemory

    var postings: PostingStore
    var nodes: ChunkedArray<SubscriberNode>
    var blocks: BlockStore
    var keyTable: ProbeTable
    var contentTable: ProbeTable
    var rowTable: ProbeTable

    var paths: ChunkedArray<PathEntry>
    var dimensions: ChunkedArray<KeyDimension>
    var levelCounts: ChunkedArray<LevelCounts>
    var shapes: ChunkedArray<KeyShape>
    var scopes: ChunkedArray<IndexScope>
    var pathTable: ProbeTable
    var dimensionTable: ProbeTable
    var shapeTable: ProbeTable
    var scopeTable: ProbeTable
    /// The first scope of each record type.
    var typeTable: ProbeTable

    /// How many predicates there are, each with the operations that it is asked for.
    var predicateCount = 0

    /// The predicate that is being added, its postings and residuals.
    var content = PredicateContent()
    var newPostings = ScratchArray<NewPosting>()
    var residuals: ResidualWriter

    /// How many changes have been matched.
    var change: UInt64 = 0
    /// The change whose field positions the paths hold.
    var changeInPaths: UInt64 = 0
    var recentNames = RecentNames()
    let together: MatchContexts
    /// The rows for one of several records.
    var foundRows: [Int64] = []

    init(hashSeed: UInt64) {
        hashes = ValueDigests(seed: hashSeed)
        let memory = IndexMemory()
        self.memory = memory
        postings = PostingStore(memory)
        nodes = ChunkedArray(memory, chunkShift: 8)
        blocks = BlockStore(memory)
        keyTable = ProbeTable(memory, load: 160, hasFilter: true)
        contentTable = ProbeTable(memory, load: 218)
        rowTable = ProbeTable(memory, load: 218)
        paths = ChunkedArray(memory, chunkShift: 5)
        dimensions = ChunkedArray(memory, chunkShift: 5)
        levelCounts = ChunkedArray(memory, chunkShift: 3)
        shapes = ChunkedArray(memory, chunkShift: 5)
        scopes = ChunkedArray(memory, chunkShift: 5)
        pathTable = ProbeTable(memory, load: 192)
        dimensionTable = ProbeTable(memory, load: 192)
        shapeTable = ProbeTable(memory, load: 192)
        scopeTable = ProbeTable(memory, load: 192)
        typeTable = ProbeTable(memory, load: 192)
        residuals = ResidualWriter(hashes)
        together = MatchContexts(hashes)
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int {
        let arrays = postings.memoryBytes + nodes.memoryBytes + blocks.memoryBytes + memory.unusedBytes
        let tables = keyTable.memoryBytes + contentTable.memoryBytes + rowTable.memoryBytes
        let names =
            paths.memoryBytes + dimensions.memoryBytes + levelCounts.memoryBytes + shapes.memoryBytes
            + scopes.memoryBytes
        let nameTables =
            pathTable.memoryBytes + dimensionTable.memoryBytes + shapeTable.memoryBytes + scopeTable.memoryBytes
            + typeTable.memoryBytes
        let additions =
            content.memoryBytes + newPostings.memoryBytes + residuals.words.capacity * MemoryLayout<UInt32>.stride
        return arrays + tables + names + nameTables + additions + together.memoryBytes
            + foundRows.capacity * MemoryLayout<Int64>.stride
    }

    /// The cost of additions and removals so far: the slots of tables that they read or moved.
    var touchedSlots: Int {
        keyTable.touchedSlots + contentTable.touchedSlots + rowTable.touchedSlots + shapeTable.touchedSlots
            + scopeTable.touchedSlots + pathTable.touchedSlots + dimensionTable.touchedSlots + typeTable.touchedSlots
    }

    /// Whether the index is empty.
    var isEmpty: Bool {
        let entries = postings.count + nodes.count + blocks.count
        let names = paths.count + dimensions.count + levelCounts.count + shapes.count + scopes.count
        let slots = keyTable.count + contentTable.count + rowTable.count
        let nameSlots = pathTable.count + dimensionTable.count + shapeTable.count + scopeTable.count + typeTable.count
        return entries + names + slots + nameSlots == 0
    }
}
