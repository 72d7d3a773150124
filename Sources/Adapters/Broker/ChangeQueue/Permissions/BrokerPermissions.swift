import AMQP

/// The rights of the configured user, by the roles that need them.
public struct BrokerPermissions: Hashable, Sendable {
    /// A role, and the rights for it that the user lacks.
    public struct Finding: Hashable, Sendable {
        /// The role.
        public let role: BrokerRole
        /// The missing rights, for example `read apus.work`; none if the user may take the role.
        public let missing: [String]
    }

    /// The user's name.
    public let user: String
    /// The virtual host.
    public let virtualHost: String
    /// A finding for each role.
    public let findings: [Finding]

    /// The finding about a role.
    public func finding(_ name: BrokerRole.Name) -> Finding? { findings.first { $0.role.name == name } }
}

extension Topology {
    /// Asks RabbitMQ which rights the configured user has; it changes nothing, and needs no right.
    ///
    /// Each right that is there costs RabbitMQ a line in its log, because the question is a request that it refuses.
    ///
    /// - Parameter configuration: where the broker is; its namespace does not matter.
    /// - Returns: the rights.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func permissions(
        at configuration: BrokerConfiguration
    ) async throws(ChangeQueueError) -> BrokerPermissions {
        let roles = roles
        return try await configuration.withSession(purpose: "permissions") { session in
            var answers: [BrokerRight: Bool] = [:]
            let findings = try roles.map { role in
                var missing: [String] = []
                for right in role.needs {
                    let isThere = try answers[right] ?? session.has(right)
                    answers[right] = isThere
                    if !isThere { missing.append(right.description) }
                }
                return BrokerPermissions.Finding(role: role, missing: missing)
            }
            return BrokerPermissions(
                user: session.endpoint.user, virtualHost: session.endpoint.virtualHost, findings: findings)
        }
    }
}

extension BrokerConfiguration {
    /// Asks why the broker takes no events of this user.
    ///
    /// - Returns: the right that the user lacks and what to do; nil if it may publish events.
    /// - Throws: `ChangeQueueError` if the broker cannot be used.
    public func missingRightToPublish() async throws(ChangeQueueError) -> String? {
        try await withSession(purpose: "permissions") { [exchange = names.changes] session in
            guard try !session.mayWrite(exchange: exchange) else { return nil }
            return "the user \(session.endpoint.user) may not write \(exchange) in the virtual host "
                + "\(session.endpoint.virtualHost); `apus topology permissions` prints what permits it"
        }
    }
}

extension AMQPSession {
    fileprivate func has(_ right: BrokerRight) throws(AMQPError) -> Bool {
        switch right {
        case .configureQueue(let name): try mayConfigureQueue(name)
        case .configureExchange(let name): try mayConfigureExchange(name)
        case .read(let queue): try mayRead(queue: queue)
        case .write(let exchange): try mayWrite(exchange: exchange)
        case .bind(let queue, let exchange): try mayBind(queue: queue, to: exchange)
        }
    }
}
