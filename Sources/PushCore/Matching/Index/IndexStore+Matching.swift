/// Finding the subscribers of a change.
extension IndexStore {
    /// How many keys are looked up together, so that their slots come from memory at the same time.
    private static let probesAtOnce = 512

    /// Appends the rows whose predicates the record satisfies; see `SubscriptionIndex.match`.
    mutating func match(_ input: MatchInput, stepsMaximum: Int, into rows: inout [Int64]) -> MatchOutcome {
        change += 1
        let isComplete = input.fields.values.withUnsafeBufferPointer { values in
            record.begin(values)
            defer { record.end() }
            locate(input.fields.paths)
            return search(input, stepsMaximum)
        }
        for place in 0..<found.count {
            let posting = postings.pointer(found[place])
            posting.pointee.isFound = false
            if isComplete { appendRows(of: posting.pointee, to: &rows) }
        }
        found.removeAll()
        return MatchOutcome(isComplete: isComplete, steps: record.steps)
    }

    private func locate(_ names: [String]) {
        for (field, name) in names.enumerated() {
            let number = pathNumber(hashes.of(name))
            guard number != 0 else { continue }
            paths.pointer(number).pointee.seenIn = change
            paths.pointer(number).pointee.field = UInt32(field)
        }
    }

    // MARK: - Scopes and shapes

    /// Searches the scopes that the change belongs to; false if that takes too many steps.
    private mutating func search(_ input: MatchInput, _ stepsMaximum: Int) -> Bool {
        let anyName = digest(ofName: nil)
        var types = [anyName]
        if let type = input.recordType { types.append(digest(ofName: type)) }
        let operations = input.operations.rawValue
        for type in types {
            guard let application = input.application else {
                var scope = firstScope(type: type)
                while scope != 0 {
                    guard search(scope, operations, stepsMaximum) else { return false }
                    scope = scopes[scope].nextOfType
                }
                continue
            }
            for application in [digest(ofName: application), anyName] {
                let scope = scope(Self.digest(application: application, type: type))
                guard scope == 0 || search(scope, operations, stepsMaximum) else { return false }
            }
        }
        return true
    }

    private mutating func search(_ number: UInt32, _ operations: UInt8, _ stepsMaximum: Int) -> Bool {
        let scope = scopes[number]
        let list = blocks.pointer(scope.shapes)
        for place in 0..<scope.shapeCount {
            addProbes(list[place], scope.digest)
            guard probes.count >= Self.probesAtOnce else { continue }
            guard probe(operations, stepsMaximum) else { return false }
        }
        return probe(operations, stepsMaximum)
    }

    private mutating func addProbes(_ number: UInt32, _ scope: WordDigest) {
        let shape = shapes.pointer(number)
        guard shape.pointee.manifold >= 0 else {
            if let sum = sum(of: number) { probes.append(sum) }
            return
        }
        var base = scope
        var many = RecordView.Extent()
        for place in 0..<shape.pointee.dimensionCount {
            let extent = digests(of: shape.pointee.dimensions[place])
            guard extent.count > 0 else { return }
            if place == shape.pointee.manifold { many = extent } else { base = base + record.digests[extent.start] }
        }
        for place in many.start..<many.start + many.count { probes.append(base + record.digests[place]) }
    }

    /// The sum of the record's digests in the dimensions of a shape; nil if a field is missing.
    private mutating func sum(of number: UInt32) -> WordDigest? {
        let shape = shapes.pointer(number)
        if shape.pointee.madeFor != change {
            shape.pointee.madeFor = change
            shape.pointee.hasSum = false
            var sum = scopes.pointer(shape.pointee.scope).pointee.digest
            for place in 0..<shape.pointee.dimensionCount {
                let extent = digests(of: shape.pointee.dimensions[place])
                guard extent.count > 0 else { return nil }
                sum = sum + record.digests[extent.start]
            }
            shape.pointee.hasSum = true
            shape.pointee.sum = sum
        }
        return shape.pointee.hasSum ? shape.pointee.sum : nil
    }

    // MARK: - Probes

    /// Looks the probes up; false if that takes too many steps.
    private mutating func probe(_ operations: UInt8, _ stepsMaximum: Int) -> Bool {
        defer { probes.removeAll() }
        record.steps += probes.count
        for place in 0..<probes.count {
            let key = probes[place]
            var number = keyTable.first(key.tableHash)
            while number != 0 {
                record.steps += 1
                guard record.steps <= stepsMaximum else { return false }
                let posting = postings.pointer(number)
                let next = posting.pointee.next
                if posting.pointee.operations & operations != 0, holds(posting, key) { find(posting, number) }
                number = next
            }
        }
        return record.steps <= stepsMaximum
    }

    private mutating func find(_ posting: UnsafeMutablePointer<Posting>, _ number: UInt32) {
        let first = posting.pointee.isFurther ? posting.pointee.link : number
        let entry = postings.pointer(first)
        guard !entry.pointee.isFound else { return }
        entry.pointee.isFound = true
        found.append(first)
    }

    private mutating func holds(_ posting: UnsafeMutablePointer<Posting>, _ key: WordDigest) -> Bool {
        var sum = key
        if posting.pointee.proofShape != posting.pointee.keyShape {
            guard let full = self.sum(of: posting.pointee.proofShape) else { return false }
            sum = full
        }
        guard posting.pointee.low == sum.low, posting.pointee.middle == sum.middle else { return false }
        guard posting.pointee.block != 0 else { return true }
        let words = blocks.pointer(posting.pointee.block)
        let residual = posting.pointee.isFurther ? UnsafePointer(words) : PredicateBlock(words: words).firstResidual
        guard let residual else { return true }
        return record.satisfies(residual, paths, change: change)
    }
}
