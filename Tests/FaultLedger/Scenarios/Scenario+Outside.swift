extension Scenario {
    /// Faults of the network, through a proxy of ours.
    static let network: [Scenario] = [
        .resetHandshake, .resetMidFrame, .resetBeforeConfirm, .resetBeforeAcknowledgement, .resetAPNs,
        .silenceToBroker, .silenceFromBroker, .silenceBroker, .pauseBroker, .silenceAtMoment, .silenceToAPNs,
        .silenceFromAPNs, .latency, .drippingBroker, .drippingAPNs, .narrow,
    ]

    /// Faults of the registry.
    static let registry: [Scenario] = [
        .registryLocked, .registryFull, .registryBroken, .databaseKilled, .databaseFailedOver, .databaseHanging,
        .databaseSlow, .databaseLate, .databaseCutOff,
    ]

    /// Faults of APNs, as the simulator has them.
    static let apns: [Scenario] = allAPNs

    /// The k-th call or method that fails, for each k.
    static let calls: [Scenario] = kthMethods + kthCalls

    /// The same with something between the parts before the workers start.
    func prepared(_ prepare: @escaping @Sendable (Stage) async throws -> Void) -> Scenario {
        var scenario = self
        scenario.prepare = prepare
        return scenario
    }
}
