import Predicates

/// Finding the subscribers of changes.
///
/// A search waits for memory four times, and each read depends on the one before: the filter, a slot of the key table,
/// a bucket, a posting. So it goes in steps over all of its keys, and each step prefetches the memory for the next
/// (`IndexStore+Lookup.swift`). Several changes take each step together, so that their waits overlap.
extension IndexStore {
    /// Appends the rows whose predicates the record satisfies; see `SubscriptionIndex.match`.
    mutating func match(_ input: MatchInput, stepsMaximum: Int, into rows: inout [Int64]) -> MatchOutcome {
        let turns = together.turns
        begin(input, &turns[0], stepsMaximum)
        searchAlone(&turns[0])
        return end(&turns[0], into: &rows)
    }

    /// Finds the rows for each of some records, at most `MatchContexts.count`.
    mutating func match(
        _ inputs: ArraySlice<MatchInput>, stepsMaximum: Int, _ found: (Int, [Int64], MatchOutcome) -> Void
    ) {
        let turns = together.turns
        for (index, input) in inputs.enumerated() { begin(input, &turns[index], stepsMaximum) }
        searchTogether(inputs.count)
        var rows: [Int64] = []
        swap(&rows, &foundRows)
        defer { swap(&rows, &foundRows) }
        for index in 0..<inputs.count {
            rows.removeAll(keepingCapacity: true)
            let outcome = end(&turns[index], into: &rows)
            found(inputs.startIndex + index, rows, outcome)
        }
    }

    private mutating func begin(_ input: MatchInput, _ turn: inout MatchContext, _ stepsMaximum: Int) {
        change += 1
        turn.begin(input, change, scopes: scopes(of: input), stepsMaximum: stepsMaximum)
        let names = input.fields.paths
        for field in 0..<names.count {
            let number: UInt32
            if let known = recentNames.number(ofPath: names[field], field: field) {
                number = known
            } else {
                number = pathNumber(hashes.of(names[field]))
                recentNames.remember(number, ofPath: names[field], field: field)
            }
            turn.pathNumbers.append(number)
        }
    }

    private mutating func end(_ turn: inout MatchContext, into rows: inout [Int64]) -> MatchOutcome {
        if turn.isComplete {
            for index in 0..<turn.found.count { appendRows(of: postings.pointer(turn.found[index]), to: &rows) }
        }
        let outcome = MatchOutcome(isComplete: turn.isComplete, steps: turn.record.steps)
        turn.end()
        return outcome
    }

    // MARK: - Searches

    /// Searches the scopes of a change.
    private mutating func searchAlone(_ turn: inout MatchContext) {
        for index in 0..<turn.scopes.count where turn.isComplete {
            let scope = turn.scopes[index]
            addProbes(&turn, scope: scope, isAlone: true)
            if turn.isComplete { lookUp(&turn) }
        }
        unmark(turn)
    }

    /// Looks the keys of a change up.
    mutating func lookUp(_ turn: inout MatchContext) {
        askTheFilter(&turn)
        readSlots(&turn)
        gather(&turn)
        readPostings(&turn)
        prove(&turn)
    }

    /// Searches the scopes of several changes, one of each at a time.
    private mutating func searchTogether(_ count: Int) {
        let turns = together.turns
        var round = 0
        while addProbesTogether(count, round) {
            for index in 0..<count { askTheFilter(&turns[index]) }
            for index in 0..<count { readSlots(&turns[index]) }
            for index in 0..<count { gather(&turns[index]) }
            for index in 0..<count { readPostings(&turns[index]) }
            for index in 0..<count {
                prove(&turns[index])
                // The next change may find the same postings; this one finds none of them in another scope.
                unmark(turns[index])
            }
            round += 1
        }
        for index in 0..<count where turns[index].isLarge {
            turns[index].beginAgain()
            searchAlone(&turns[index])
        }
    }

    /// Adds the keys of each change in one of its scopes; false if none has so many scopes.
    private mutating func addProbesTogether(_ count: Int, _ round: Int) -> Bool {
        let turns = together.turns
        var isAny = false
        for index in 0..<count where turns[index].isToBeSearched(round) {
            isAny = true
            let scope = turns[index].scopes[round]
            addProbes(&turns[index], scope: scope, isAlone: false)
        }
        return isAny
    }

    private func unmark(_ turn: borrowing MatchContext) {
        for index in 0..<turn.found.count { postings.pointer(turn.found[index]).pointee.isFound = false }
    }
}
