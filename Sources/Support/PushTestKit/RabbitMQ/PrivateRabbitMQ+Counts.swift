extension PrivateRabbitMQ {
    /// How many messages each quorum queue of a namespace holds, those that were delivered and not acknowledged
    /// included.
    ///
    /// The queues themselves are asked, as `messageCount(queue:)` does, all in one call: a call takes about a second.
    ///
    /// - Parameter namespace: how the names of the queues begin, before a dot; in the virtual host `/`.
    /// - Returns: the numbers by name; -1 for a queue that has no leader to ask.
    /// - Throws: `PrivateServerFailure` if the node does not answer.
    public func messageCounts(namespace: String) async throws -> [String: Int] {
        let text = try await evaluate(Self.countsExpression(namespace: namespace))
        return Self.counts(in: text)
    }

    static func countsExpression(namespace: String) -> String {
        """
        Count = fun(Q) -> try ra:consistent_query(amqqueue:get_pid(Q), fun rabbit_fifo:query_messages_total/1) of
            {ok, N, _} -> N; _ -> -1 catch _:_ -> -1 end end,
        Name = fun(Q) -> element(4, amqqueue:get_name(Q)) end,
        [io:format("~s=~b;", [Name(Q), Count(Q)]) || Q <- rabbit_amqqueue:list(),
            string:prefix(Name(Q), <<"\(namespace).">>) =/= nomatch], ok.
        """
    }

    static func counts(in text: String) -> [String: Int] {
        var counts: [String: Int] = [:]
        for pair in text.split(separator: ";") {
            let parts = pair.split(separator: "=")
            if parts.count == 2, let count = Int(parts[1]) { counts[String(parts[0])] = count }
        }
        return counts
    }
}
