import Hashing
import Predicates

/// A change whose subscriptions are being searched, and how far that is; its memory is used again for later changes.
struct MatchContext: ~Copyable {
    /// The number of the change; data made for another one is out of date.
    private(set) var change: UInt64 = 0
    /// The bits of what happened to the record.
    private(set) var operations: UInt8 = 0
    /// The scopes that it is searched in.
    private(set) var scopes: [UInt32] = []
    /// How many steps it may take.
    private(set) var stepsMaximum = 0
    /// Whether nothing was left out so far.
    var isComplete = true
    /// Whether it has so many keys that it has to be searched alone.
    private(set) var isLarge = false

    var record: RecordView
    /// The numbers of its fields' paths; 0 for unused ones.
    var pathNumbers = ScratchArray<UInt32>()
    /// The record's part of keys for each member of a scope; zero for a missing one and at `ScopeMember.unusedIndex`.
    var memberDigests = ScratchArray<WordDigest>()
    /// The set of the scope's members that the record has.
    var membersFound: UInt64 = 0
    var probes = ScratchArray<WordDigest>()
    var hits = ScratchArray<Candidate>()
    var candidates = ScratchArray<Candidate>()
    var found = ScratchArray<UInt32>()

    init(_ hashes: ValueDigests) {
        record = RecordView(hashes)
        for _ in 0...ScopeMember.unusedIndex { memberDigests.append(.zero) }
    }

    /// Begins a change.
    mutating func begin(_ input: MatchInput, _ change: UInt64, scopes: [UInt32], stepsMaximum: Int) {
        self.change = change
        self.scopes = scopes
        self.stepsMaximum = stepsMaximum
        operations = input.operations.rawValue
        isComplete = true
        isLarge = false
        record.begin(input.fields.values)
    }

    /// Whether the scope at an index is to be searched together with those of other changes.
    func isToBeSearched(_ index: Int) -> Bool { index < scopes.count && isComplete && !isLarge }

    /// Leaves the change to a search of its own.
    mutating func becomeLarge() {
        isLarge = true
        probes.removeAll()
    }

    /// Restarts the search.
    mutating func beginAgain() {
        isComplete = true
        record.steps = 0
        found.removeAll()
    }

    /// Gives the search up if it has taken too many steps.
    @inline(__always)
    mutating func checkSteps() {
        if record.steps > stepsMaximum { isComplete = false }
    }

    /// Ends a lookup: its keys are done with.
    mutating func endLookup() {
        probes.removeAll()
        hits.removeAll()
        candidates.removeAll()
    }

    /// Ends the change: nothing of it is kept.
    mutating func end() {
        record.end()
        pathNumbers.removeAll()
        found.removeAll()
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int {
        record.memoryBytes + pathNumbers.memoryBytes + memberDigests.memoryBytes + probes.memoryBytes
            + hits.memoryBytes + candidates.memoryBytes + found.memoryBytes
    }
}

/// The changes that are searched together.
struct MatchContexts: ~Copyable {
    /// How many changes are searched together at most.
    ///
    /// Measured: four wait for too little memory at a time, and sixteen for no more than eight.
    static let count = 8

    /// Where they lie.
    let turns: UnsafeMutablePointer<MatchContext>

    init(_ hashes: ValueDigests) {
        turns = .allocate(capacity: Self.count)
        for index in 0..<Self.count { (turns + index).initialize(to: MatchContext(hashes)) }
    }

    deinit {
        turns.deinitialize(count: Self.count)
        turns.deallocate()
    }

    /// The memory that is held, in bytes.
    var memoryBytes: Int { (0..<Self.count).reduce(0) { $0 + turns[$1].memoryBytes } }
}

/// A posting that a probe has led to.
struct Candidate: BitwiseCopyable {
    /// A `proof` that only the posting tells.
    static let unknownProof = UInt32.max

    /// The index of the probe.
    var probe: UInt32
    /// The posting; during the search, the slot of the key table.
    var posting: UInt32 = 0
    /// The indices of the members that its proof has beside the key, as in a `BucketNode.Entry`, or `unknownProof`.
    var proof = Candidate.unknownProof
    /// The address of its residual; 0 if it has none.
    var residual: UInt32 = 0
}
