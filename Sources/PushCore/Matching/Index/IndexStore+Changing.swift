/// Adding and removing subscriptions.
extension IndexStore {
    /// Adds a row, or replaces it.
    mutating func insert(_ row: Int64, _ scope: MatchScope, _ operations: FiringOperations, _ predicate: Predicate) {
        _ = remove(row)
        let type = digest(ofName: scope.recordType)
        let digest = Self.digest(application: self.digest(ofName: scope.application), type: type)
        let content = PredicateContent(predicate, scope: digest, hashes)
        let operations = operations.intersection(.all).rawValue
        let existing = posting(of: content, operations)
        if existing != 0 {
            addSubscriber(row, to: existing)
        } else if predicate.conjunctions.isEmpty {
            addFirstSubscriber(row, to: addNever(content, operations))
        } else {
            let scope = useScope(digest, type: type)
            let first =
                content.isOneSum
                ? addOneSum(content, operations, scope, predicate) : add(content, operations, scope, predicate)
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

    /// The first posting of the same predicate; 0 if there is none.
    private func posting(of content: PredicateContent, _ operations: UInt8) -> UInt32 {
        contentTable.first(Self.contentHash(content.digest.low, operations)) { number in
            let posting = postings[number]
            guard posting.operations == operations, posting.isOneSum == content.isOneSum else { return false }
            let digest = digest(of: posting)
            return digest.low == content.digest.low && digest.middle == content.digest.middle
        }
    }

    private func digest(of posting: Posting) -> (low: UInt64, middle: UInt32) {
        if posting.isOneSum { return (posting.low, posting.middle) }
        let block = PredicateBlock(words: blocks.pointer(posting.block))
        return (block.low, block.middle)
    }

    // MARK: - Adding

    private mutating func addNever(_ content: PredicateContent, _ operations: UInt8) -> UInt32 {
        var posting = Posting()
        posting.operations = operations
        let words = PredicateBlock.words(content, furtherCount: 0, residuals: [], residualCount: 0, first: nil)
        posting.block = addBlock(words)
        return register(postings.add(posting), content, operations)
    }

    private mutating func addOneSum(
        _ content: PredicateContent, _ operations: UInt8, _ scope: UInt32, _ predicate: Predicate
    ) -> UInt32 {
        let options = content.options[0]
        // All of it is the best key, which no other predicate has.
        let chosen = isAvailable(options, scope) ? options : chosenOptions(options, scope: scope)
        let paths = predicate.conjunctions[0].map(\.path)
        var posting = Posting()
        posting.operations = operations
        posting.isOneSum = true
        posting.low = content.digest.low
        posting.middle = content.digest.middle
        posting.proofShape = useShape(scope: scope, options, paths: paths)
        posting.keyShape = useShape(scope: scope, chosen, paths: paths)
        let key = chosen.reduce(scopes[scope].digest) { $0 + $1.digests[0] }
        let number = postings.add(posting)
        link(number, key.tableHash, level: 0)
        return register(number, content, operations)
    }

    private mutating func add(
        _ content: PredicateContent, _ operations: UInt8, _ scope: UInt32, _ predicate: Predicate
    ) -> UInt32 {
        var writer = ResidualWriter(hashes)
        var residualCount = 0
        var numbers: [UInt32] = []
        var residuals: [Int?] = []
        for (terms, options) in zip(predicate.conjunctions, content.options) {
            let chosen = chosenOptions(options, scope: scope)
            let settled = Set(chosen.lazy.filter(\.isExact).map(\.term))
            let left = terms.indices.filter { !settled.contains($0) }
            let residual = left.isEmpty ? nil : writer.begin(termCount: left.count)
            residualCount += left.isEmpty ? 0 : 1
            for place in left {
                writer.write(terms[place], path: usePath(terms[place].path, hashes.of(terms[place].path)))
            }
            let level = chosen.first { !$0.kind.isSingle }?.level ?? 0
            for key in Self.keys(chosen, scopes[scope].digest) {
                let number = addPosting(key, operations, scope, chosen, terms.map(\.path), isFirst: numbers.isEmpty)
                link(number, key.tableHash, level: level)
                numbers.append(number)
                residuals.append(residual)
            }
        }
        let words = PredicateBlock.words(
            content, furtherCount: numbers.count - 1, residuals: writer.words, residualCount: residualCount,
            first: residuals[0])
        let block = addBlock(words)
        postings[numbers[0]].block = block
        for (place, number) in numbers.enumerated().dropFirst() {
            blocks.pointer(block)[PredicateBlock.headerWords + place - 1] = number
            postings[number].link = numbers[0]
            postings[number].block =
                residuals[place].map { block + UInt32(PredicateBlock.headerWords + numbers.count - 1 + $0) } ?? 0
        }
        return register(numbers[0], content, operations)
    }

    private mutating func addPosting(
        _ key: WordDigest, _ operations: UInt8, _ scope: UInt32, _ options: [KeyOption], _ paths: [String],
        isFirst: Bool
    ) -> UInt32 {
        var posting = Posting()
        posting.operations = operations
        posting.isFurther = !isFirst
        posting.low = key.low
        posting.middle = key.middle
        posting.keyShape = useShape(scope: scope, options, paths: paths)
        posting.proofShape = useShape(scope: scope, options, paths: paths)
        return postings.add(posting)
    }

    private mutating func addBlock(_ words: [UInt32]) -> UInt32 {
        let block = blocks.allocate(wordCount: words.count)
        words.withUnsafeBufferPointer { words in
            guard let start = words.baseAddress else { return }
            blocks.pointer(block).update(from: start, count: words.count)
        }
        return block
    }

    private mutating func register(_ first: UInt32, _ content: PredicateContent, _ operations: UInt8) -> UInt32 {
        contentTable.add(Self.contentHash(content.digest.low, operations), first)
        predicateCount += 1
        return first
    }

    /// Puts a posting where its key finds it.
    private mutating func link(_ number: UInt32, _ tableHash: UInt32, level: Int) {
        let posting = postings.pointer(number)
        posting.pointee.isInTable = true
        posting.pointee.tableHash = tableHash
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
            for place in 0..<block.furtherCount {
                unlink(block.further(place))
                postings.remove(block.further(place))
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
