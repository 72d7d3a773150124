import AMQP

extension AMQPSession {
    /// What a queue holds, or nil if it is not there.
    func queueStatus(_ name: String) throws(AMQPError) -> QueueStatus? {
        do throws(AMQPError) {
            return try declareQueue(name, isPassive: true)
        } catch  where error.code == .missing { return nil }
    }

    /// The work queues beyond a number of them; there are no gaps, because the highest is deleted first.
    ///
    /// - Parameters:
    ///   - names: the namespace.
    ///   - count: how many there are to be.
    /// - Returns: the numbers of those that are too many, ascending, and what each holds.
    /// - Throws: `AMQPError`, but not for a queue that is missing, or that this user may not see.
    func surplusWorkQueues(
        _ names: QueueNames, beyond count: Int
    ) throws(AMQPError) -> [(number: Int, status: QueueStatus)] {
        var found: [(number: Int, status: QueueStatus)] = []
        for number in count..<Topology.workQueuesMaximum {
            do throws(AMQPError) {
                guard let status = try queueStatus(names.work(number + 1)) else { break }
                found.append((number + 1, status))
            } catch  where error.code == .refused { break }
        }
        return found
    }
}
