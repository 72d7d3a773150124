/// A fault, and how to bring it about in the middle of load.
///
/// To add one: a value in the file of its domain, entered in `all` below. The environment starts the parts, keeps the
/// load going, calls `strike`, waits until nothing is left to do and compares the books.
struct Scenario: Sendable {
    /// The domain of a fault; the report is in this order.
    enum Domain: String, Sendable, CaseIterable {
        case worker, broker, network, registry, outbox, apns, fcm, webpush, services, calls, soak
    }

    /// The environment, where it differs from the usual.
    struct Setting: Sendable {
        /// How many `apus run` there are.
        var workers = 2
        /// The push services that the devices have in turn.
        var services: [ServiceKind] = [.apns]
        /// Whether some devices of APNs are those of its development environment.
        var hasSandbox = false
        /// How many `apus relay` there are; with any, the load is committed to an outbox instead of published.
        var relays = 0
        /// How many RabbitMQ nodes: one, or the three of a cluster, whose queues are replicated.
        var brokerNodes = 1
        /// Whether the broker is one of its own rather than shared with other scenarios of the run.
        var isBrokerPrivate = false
        /// More lines of `rabbitmq.conf`, for a broker of its own.
        var brokerConfiguration = ""
        /// More lines of `apus.toml`, before the app.
        ///
        /// The environment itself writes the sections `rabbitmq`, `retry`, `admin`, `log`, `registry`, `relay` and
        /// `webpush`.
        var workerConfiguration = ""
        /// How often a push service answers that it is not available, from the start.
        var unavailableProbability = 0.02
        /// How long an access token of FCM lives, in seconds; Google's live for an hour.
        var accessTokenSeconds = 3_599
        /// Which registry there is.
        var registry = RegistryKind.sqlite
        /// How long the load lasts at least, in seconds; it goes on for some seconds after the fault in any case.
        var loadSeconds = 8.0
        /// The rate of the load.
        var eventsPerSecond = 300
        /// One of so many events is an announcement to 600 devices, which is a large fan-out; 0 for none.
        var announcementInterval = 0
        /// When to strike: after a share of `loadSeconds` that is drawn from this range.
        var strikeShare = 0.2...0.5
        /// How many devices may be removed besides those that are gone: their service calls their tokens dead or bad.
        var removedDevicesMaximum = 0
        /// How many events may become dead letters although they are not broken, because a service says no for good.
        var soundDeadLettersMaximum = 0
        /// Whether the broker takes no messages for so long that outcomes which it may have wait in the registry, too.
        var blocksOutcomes = false
        /// How long everything may take to settle after the load has ended, in seconds.
        var settleSeconds = 120.0

        /// How many pushes may be repeated when all that one worker holds comes again.
        var pushesPerRedeliveryMaximum: Int {
            let ordinary = Environment.prefetch * Population.pushesPerEventMaximum
            guard announcementInterval > 0 else { return ordinary }
            let announcementCount = Environment.prefetch / announcementInterval + 1
            return ordinary + announcementCount * Environment.crowdCount + Environment.chunksBegunMaximum
                * Environment.chunkDevices
        }
    }

    /// The registries that a scenario can have.
    enum RegistryKind: Sendable, Hashable {
        /// A file that all workers share.
        case sqlite
        /// A private PostgreSQL server.
        case postgreSQL
    }

    /// The name on the command line.
    let name: String
    let domain: Domain
    /// One sentence: what is done.
    let sentence: String
    /// The setting of the environment.
    var setting = Setting()
    /// How often a worker's unacknowledged deliveries may come again.
    ///
    /// Once for each worker or relay that is killed, and once for each connection that is lost; each time as many
    /// pushes may be repeated as a prefetch of events makes.
    let redeliveries: Int
    /// Whether it belongs to the short form.
    var isShort = false
    /// Whether a worker may be ended by a signal that it did not get from the scenario, as when memory is out.
    var mayEndWorkers = false
    /// Puts something between the parts before the workers start, for example a proxy; see `Environment.addresses`.
    var prepare: @Sendable (Environment) async throws -> Void = { _ in }
    /// Brings the fault about, and returns when it is over.
    let strike: @Sendable (Environment) async throws -> Void

    /// All scenarios, in the order in which they run: add yours here.
    static let all: [Scenario] =
        worker + broker + network + registry + outbox + apns + fcm + webpush + services + calls

    /// The scenarios that run only when they are asked for by name, because they take long.
    static let onRequest: [Scenario] = [.soak]

    /// Faults of workers.
    static let worker: [Scenario] = [
        .workerKill, .workerTerminate, .workerTerminateTwice, .workerStop, .workerOutOfFiles, .workerOutOfMemory,
        .fanoutWorkerKill,
    ]

    /// Faults of the broker.
    static let broker: [Scenario] = [
        .brokerKill, .brokerRestart, .brokerStop, .brokerMemoryAlarm, .brokerDiskAlarm, .brokerQueueDeleted,
        .brokerRetryQueuesDeleted, .brokerDeadLettersDeleted, .brokerExchangeMissing, .brokerPermissionRevoked,
        .brokerPasswordChanged, .brokerConsumerTimeout, .clusterLeaderKill, .clusterMinorityCutOff, .clusterNodeStop,
        .clusterRollingRestart, .clusterUpgrade,
        .fanoutBrokerKill,
    ]

    /// Faults of the network, through a proxy of ours.
    static let network: [Scenario] = [
        .resetHandshake, .resetMidFrame, .resetBeforeConfirm, .resetBeforeAcknowledgement, .resetAPNs,
        .silenceToBroker, .silenceFromBroker, .silenceBroker, .pauseBroker, .silenceAtMoment, .silenceToAPNs,
        .silenceFromAPNs, .latency, .drippingBroker, .drippingAPNs, .narrow,
        .resetServices, .silenceToServices, .silenceFromServices, .latencyOfServices, .drippingServices,
    ]

    /// Faults of the registry.
    static let registry: [Scenario] = [
        .registryLocked, .registryFull, .registryBroken, .databaseKilled, .databaseFailedOver, .databaseHanging,
        .databaseSlow, .databaseLate, .databaseCutOff, .databaseMoved, .pooledByTransaction, .pooledBySession,
    ]

    /// Faults between a backend's commit and RabbitMQ's confirm.
    static let outbox: [Scenario] = [
        .outboxRelayKilled, .outboxPushedOnce, .outboxDatabaseKilled, .outboxBrokerKilled, .outboxMemoryAlarm,
        .outboxSilence, .outboxSessionsTerminated,
    ]

    /// Faults of APNs, as the simulator has them.
    static let apns: [Scenario] = allAPNs + [.silentService(.apns)]

    /// Faults of FCM and of its access tokens.
    static let fcm: [Scenario] =
        faults(of: .fcm) + [
            .refusals(of: .fcm), .doubts(of: .fcm), .tooLarge(at: .fcm), .wrongCredentials(of: .fcm), .fcmTokenRevoked,
            .fcmTokensFailing, .fcmTokensLate, .fcmTokensRefused,
        ]

    /// Faults of browsers' push services.
    static let webpush: [Scenario] =
        faults(of: .webpush) + [
            .refusals(of: .webpush), .doubts(of: .webpush), .tooLarge(at: .webpush), .wrongCredentials(of: .webpush),
            .webPushOriginRefusesKey, .webPushOriginDead, .webPushHostileFirstOrigin,
        ]

    /// Faults of a worker with several push services.
    static let services: [Scenario] = [.servicesWorkerKill] + isolations

    /// The k-th call or method that fails, for each k.
    static let calls: [Scenario] = kthMethods + kthCalls

    /// The same with something between the parts before the workers start.
    func prepared(_ prepare: @escaping @Sendable (Environment) async throws -> Void) -> Scenario {
        var scenario = self
        scenario.prepare = prepare
        return scenario
    }
}
