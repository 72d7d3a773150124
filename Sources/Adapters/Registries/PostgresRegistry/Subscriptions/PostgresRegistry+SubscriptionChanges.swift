import PostgreSQL
public import RegistryCore
import RegistrySQL

extension PostgresRegistry {
    /// The number of rows after which the answers to the next page are buffered, before the server has filled the
    /// buffers between us and waits.
    private static let rowsBetweenLooks = 1_000

    /// The changes since a cursor.
    public func subscriptionChanges(
        after cursor: SubscriptionCursor?, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        let limit = min(max(limit, 1), Int(Int32.max))
        guard let cursor else { return try begin(limit: limit) }
        let isLoading = cursor.loadingAfterRow != nil
        let deadline = Deadline(milliseconds: connection.callMilliseconds)
        let ahead = try answersAhead(cursor, limit: limit, deadline)
        let answers = if let ahead { ahead } else { try ask(Self.calls(after: cursor, limit: limit), deadline) }
        guard Self.reachesBack(answers[1], to: cursor.logPosition) else {
            var step = try begin(limit: limit)
            step.startsOver = true
            return step
        }
        return isLoading ? try load(answers[0], cursor, limit: limit) : try follow(answers[0], cursor, limit: limit)
    }

    /// The bounds are asked for last: an entry that is dropped in between makes us start over, not miss it.
    private static func calls(after cursor: SubscriptionCursor, limit: Int) -> [Call] {
        let changes =
            cursor.loadingAfterRow.map { SubscriptionCalls.followed(after: $0, limit: limit) }
            ?? SubscriptionCalls.changes(after: cursor.logPosition, limit: limit)
        return [changes, SubscriptionCalls.logBounds(around: cursor.logPosition)]
    }

    /// Asks for the page after a cursor, so that the server reads it while this one is taken in.
    ///
    /// Changes made meanwhile are in the log, which is followed when all pages are read.
    private func askAhead(_ cursor: SubscriptionCursor, limit: Int) {
        pageAhead = nil
        do throws(RegistryError) {
            try connection.begin(Self.calls(after: cursor, limit: limit))
            pageAhead = (cursor, limit)
        } catch {
            // The connection is closed now, and the next call says why it cannot make another.
        }
    }

    /// The answers that were asked for ahead of time, if they are those to this question and nothing came between.
    ///
    /// An error of these answers, for example the end of the connection, does not prevent asking again, unless the time
    /// is over.
    private func answersAhead(
        _ cursor: SubscriptionCursor, limit: Int, _ deadline: Deadline
    ) throws(RegistryError) -> [Rows]? {
        guard let ahead = pageAhead else { return nil }
        pageAhead = nil
        guard connection.isAwaiting, ahead.cursor == cursor, ahead.limit == limit else { return nil }
        do throws(RegistryError) {
            return try connection.end(deadline)
        } catch {
            guard deadline.remainingMilliseconds > 0 else { throw error }
            return nil
        }
    }

    /// Begins to read all subscriptions; what changes from now on is followed afterwards.
    private func begin(limit: Int) throws(RegistryError) -> SubscriptionChanges {
        // The end of the log is read first, so that nothing falls between.
        let answers = try ask([
            SubscriptionCalls.logBounds(around: 0), SubscriptionCalls.followed(after: 0, limit: limit),
        ])
        let start = SubscriptionCursor(logPosition: answers[0].integer(0, 1), loadingAfterRow: 0)
        return try load(answers[1], start, limit: limit)
    }

    /// Whether the log has everything since a position: `bounds` are those around it.
    private static func reachesBack(_ bounds: Rows, to position: Int64) -> Bool {
        guard let last = bounds.optionalInteger(0, 1) else { return position == 0 }
        return bounds.optionalInteger(0, 0) != nil && position <= last
    }

    private func load(
        _ rows: Rows, _ cursor: SubscriptionCursor, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        var step = SubscriptionChanges(changes: [], next: cursor, isCaughtUp: false)
        step.next.loadingAfterRow = rows.count < limit ? nil : rows.last?.integer(0)
        if step.next.loadingAfterRow != nil { askAhead(step.next, limit: limit) }
        step.changes.reserveCapacity(rows.count)
        for (index, row) in rows.enumerated() {
            if index % Self.rowsBetweenLooks == 0 { connection.takeInAwaited() }
            step.changes.append(.saved(try SubscriptionDecoder.followed(row, app: row.text(1))))
        }
        return step
    }

    private func follow(
        _ rows: Rows, _ cursor: SubscriptionCursor, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        var step = SubscriptionChanges(changes: [], next: cursor, isCaughtUp: rows.count < limit)
        for row in rows {
            step.next.logPosition = row.integer(0)
            let isThere = row.integer(2) != 0
            step.changes.append(
                isThere
                    ? .saved(try SubscriptionDecoder.followed(row, from: 3, app: row.text(4)))
                    : .removed(row.integer(1)))
        }
        return step
    }
}
