public import PushCore

extension PostgresRegistry {
    /// What has changed since a cursor.
    public func subscriptionChanges(
        after cursor: SubscriptionCursor?, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        let limit = min(max(limit, 1), Int(Int32.max))
        guard let cursor else { return try begin(limit: limit) }
        // The bounds are read last: an entry that is dropped in between makes us start over, not miss it.
        let isLoading = cursor.loadingAfterRow != nil
        let call =
            isLoading
            ? SubscriptionCalls.followed(after: cursor.loadingAfterRow ?? 0, limit: limit)
            : SubscriptionCalls.changes(after: cursor.logPosition, limit: limit)
        let answers = try ask([call, SubscriptionCalls.logBounds])
        guard Self.reachesBack(answers[1], to: cursor.logPosition) else {
            var step = try begin(limit: limit)
            step.startsOver = true
            return step
        }
        return isLoading ? try load(answers[0], cursor, limit: limit) : try follow(answers[0], cursor, limit: limit)
    }

    /// Begins to read all subscriptions; what changes from now on is followed afterwards.
    private func begin(limit: Int) throws(RegistryError) -> SubscriptionChanges {
        // The end of the log is read first, so that nothing falls between.
        let answers = try ask([
            SubscriptionCalls.logBounds, SubscriptionCalls.followed(after: 0, limit: limit),
        ])
        let start = SubscriptionCursor(logPosition: answers[0].integer(0, 1), loadingAfterRow: 0)
        return try load(answers[1], start, limit: limit)
    }

    /// Whether the log has everything since a position.
    private static func reachesBack(_ bounds: Rows, to position: Int64) -> Bool {
        guard let first = bounds.optionalInteger(0, 0), let last = bounds.optionalInteger(0, 1)
        else { return position == 0 }
        return first <= position + 1 && position <= last
    }

    private func load(
        _ rows: Rows, _ cursor: SubscriptionCursor, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        var step = SubscriptionChanges(changes: [], next: cursor, isCaughtUp: false)
        for row in 0..<rows.count {
            let subscription = try decodeFollowed(rows, row)
            step.changes.append(.saved(subscription))
            step.next.loadingAfterRow = subscription.row
        }
        if step.changes.count < limit { step.next.loadingAfterRow = nil }
        return step
    }

    private func follow(
        _ rows: Rows, _ cursor: SubscriptionCursor, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        var step = SubscriptionChanges(changes: [], next: cursor, isCaughtUp: rows.count < limit)
        for row in 0..<rows.count {
            step.next.logPosition = rows.integer(row, 0)
            let isThere = rows.integer(row, 2) == 1
            step.changes.append(
                isThere ? .saved(try decodeFollowed(rows, row, from: 3)) : .removed(rows.integer(row, 1)))
        }
        return step
    }
}
