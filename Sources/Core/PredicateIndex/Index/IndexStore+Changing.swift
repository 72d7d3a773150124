import Hashing
import Predicates

/// Adding and removing subscriptions.
extension IndexStore {
    /// Adds a row, or replaces it.
    mutating func insert(_ row: Int64, _ scope: MatchScope, _ operations: FiringOperations, _ predicate: Predicate) {
        // The tables are likely not in the cache, so they are prefetched together.
        rowTable.prefetch(hash(row))
        let type = digest(ofName: scope.recordType)
        let digest = Self.digest(application: self.digest(ofName: scope.application), type: type)
        content.read(predicate, scope: digest, hashes)
        let operations = operations.intersection(.all).rawValue
        contentTable.prefetch(Self.contentHash(content.digest.low, operations))
        _ = remove(row)
        let existing = posting(ofContentWith: operations)
        if existing != 0 {
            addSubscriber(row, to: existing)
        } else if predicate.conjunctions.isEmpty {
            addFirstSubscriber(row, to: addNever(operations))
        } else {
            let scope = useScope(digest, type: type)
            let first =
                content.isOneSum
                ? addOneSum(operations, scope, predicate.conjunctions[0])
                : add(operations, scope, predicate.conjunctions)
            addFirstSubscriber(row, to: first)
        }
    }

    /// Removes a row; tells whether it was there.
    mutating func remove(_ row: Int64) -> Bool {
        let (wasThere, orphan) = removeSubscriber(row)
        if orphan != 0 { removePredicate(orphan) }
        return wasThere
    }

    // MARK: - Predicates by their content

    /// Where a predicate is looked up.
    private static func contentHash(_ low: UInt64, _ operations: UInt8) -> UInt32 {
        UInt32(truncatingIfNeeded: low >> 32) &+ UInt32(operations) &* 0x9E37_79B9
    }

    /// The first posting of the predicate that was read last, for the same operations; 0 if there is none.
    private func posting(ofContentWith operations: UInt8) -> UInt32 {
        let wanted = content.digest
        let isOneSum = content.isOneSum
        return contentTable.first(Self.contentHash(wanted.low, operations)) { number in
            let posting = postings.pointer(number).pointee
            guard posting.operations == operations, posting.isOneSum == isOneSum else { return false }
            let digest = digest(of: posting)
            return digest.low == wanted.low && digest.middle == wanted.middle
        }
    }

    private func digest(of posting: Posting) -> (low: UInt64, middle: UInt32) {
        if posting.isOneSum { return (posting.low, posting.middle) }
        let block = PredicateBlock(words: blocks.pointer(posting.block))
        return (block.low, block.middle)
    }

    // MARK: - Adding

    private mutating func addNever(_ operations: UInt8) -> UInt32 {
        var posting = Posting()
        posting.operations = operations
        residuals.removeAll()
        posting.block = addBlock(furtherCount: 0, residualCount: 0, first: nil)
        return register(postings.add(posting), operations)
    }

    private mutating func addOneSum(_ operations: UInt8, _ scope: UInt32, _ terms: [PredicateTerm]) -> UInt32 {
        let options = content.options(ofConjunction: 0)
        // All of it is the best key, which no other predicate has.
        let isWhole = isAvailable(options, options.all, scope)
        let chosen = isWhole ? options.all : chosenOptions(options, scope: scope)
        var posting = Posting()
        posting.operations = operations
        posting.isOneSum = true
        posting.low = content.digest.low
        posting.middle = content.digest.middle
        posting.proofShape = useShape(scope: scope, options, options.all, terms)
        posting.keyShape = useShape(scope: scope, options, chosen, terms)
        let key = isWhole ? content.digest : options.sum(chosen, scopes.pointer(scope).pointee.digest)
        let number = postings.add(posting)
        link(number, key.tableHash, level: 0)
        return register(number, operations)
    }

    private mutating func add(_ operations: UInt8, _ scope: UInt32, _ conjunctions: [[PredicateTerm]]) -> UInt32 {
        residuals.removeAll()
        newPostings.removeAll()
        var residualCount = 0
        for (index, terms) in conjunctions.enumerated() {
            let options = content.options(ofConjunction: index)
            let chosen = chosenOptions(options, scope: scope)
            let residual = writeResidual(terms, options, chosen)
            residualCount += residual == nil ? 0 : 1
            let level = chosen.lazy.map { options[$0] }.first { !$0.kind.isSingle }?.level ?? 0
            options.forEachKey(chosen, scopes.pointer(scope).pointee.digest) { key in
                var posting = Posting()
                posting.operations = operations
                posting.isFurther = newPostings.count > 0
                posting.low = key.low
                posting.middle = key.middle
                let shape = useShape(scope: scope, options, chosen, terms)
                shapes.pointer(shape).pointee.users += 1
                posting.keyShape = shape
                posting.proofShape = shape
                let number = postings.add(posting)
                link(number, key.tableHash, level: level)
                newPostings.append(NewPosting(number: number, residual: residual))
            }
        }
        return register(addBlockOfNewPostings(residualCount: residualCount), operations)
    }

    /// Writes the tests of a conjunction beside its key, and returns their address; nil if there are none.
    private mutating func writeResidual(
        _ terms: [PredicateTerm], _ options: KeyOptions, _ chosen: KeyOptionSet
    ) -> Int? {
        var settled: UInt64 = 0
        for index in chosen where options[index].isExact { settled |= 1 << UInt64(options[index].term) }
        let settledCount = settled.nonzeroBitCount
        guard settledCount < terms.count else { return nil }
        let start = residuals.begin(termCount: terms.count - settledCount)
        for index in terms.indices where settled >> UInt64(index) & 1 == 0 {
            let path = usePath(terms[index].path, hashes.of(terms[index].path))
            residuals.write(terms[index], path: path)
        }
        return start
    }

    /// Makes the block of a predicate whose postings and residuals are there, and returns the first of the postings.
    private mutating func addBlockOfNewPostings(residualCount: Int) -> UInt32 {
        let first = newPostings[0]
        let furtherCount = newPostings.count - 1
        let block = addBlock(furtherCount: furtherCount, residualCount: residualCount, first: first.residual)
        postings.pointer(first.number).pointee.block = block
        for index in 0..<furtherCount {
            let further = newPostings[index + 1]
            blocks.pointer(block)[PredicateBlock.headerWords + index] = further.number
            let posting = postings.pointer(further.number)
            posting.pointee.link = first.number
            posting.pointee.block =
                further.residual.map { block + UInt32(PredicateBlock.headerWords + furtherCount + $0) } ?? 0
        }
        return first.number
    }

    private mutating func addBlock(furtherCount: Int, residualCount: Int, first: Int?) -> UInt32 {
        let wordCount = PredicateBlock.headerWords + furtherCount + residuals.words.count
        let block = blocks.allocate(wordCount: wordCount)
        PredicateBlock(words: blocks.pointer(block)).write(
            content.digest, furtherCount: furtherCount, residuals: residuals.words, residualCount: residualCount,
            first: first)
        return block
    }

    private mutating func register(_ first: UInt32, _ operations: UInt8) -> UInt32 {
        contentTable.add(Self.contentHash(content.digest.low, operations), first)
        predicateCount += 1
        return first
    }

    /// Puts a posting where its key finds it.
    private mutating func link(_ number: UInt32, _ tableHash: UInt32, level: Int) {
        let posting = postings.pointer(number)
        posting.pointee.isInTable = true
        postings.location(of: number).pointee.tableHash = tableHash
        posting.pointee.level = level
        addToBucket(number)
        addKey(shape: posting.pointee.keyShape, level: level)
    }

    // MARK: - Removing

    private mutating func removePredicate(_ first: UInt32) {
        let posting = postings[first]
        contentTable.remove(Self.contentHash(digest(of: posting).low, posting.operations), first)
        let scope = posting.isInTable ? shapes.pointer(posting.keyShape).pointee.scope : 0
        if posting.isInTable { unlink(first) }
        if posting.block != 0 {
            let block = PredicateBlock(words: blocks.pointer(posting.block))
            for index in 0..<block.furtherCount {
                unlink(block.further(index))
                postings.remove(block.further(index))
            }
            block.forEachPath { releasePath($0) }
            blocks.release(posting.block, wordCount: block.wordCount)
        }
        postings.remove(first)
        if scope != 0 { releaseScope(scope) }
        predicateCount -= 1
    }

    private mutating func unlink(_ number: UInt32) {
        let posting = postings[number]
        removeFromBucket(number)
        removeKey(shape: posting.keyShape, level: posting.level)
        releaseShape(posting.keyShape)
        releaseShape(posting.proofShape)
    }
}

/// A posting of a predicate that is being added.
struct NewPosting: BitwiseCopyable {
    /// Its number.
    var number: UInt32
    /// Where the residual of its conjunction is among those of the predicate; nil if there is none.
    var residual: Int?
}
