/// The rules of the model, from which each figure of a plan follows.
struct CapacityRules {
    let load: CapacityLoad
    let coefficients: CapacityCoefficients

    // MARK: Processor time

    var pushesPerSecond: Double { load.eventsPerSecond * load.audience }

    /// A push, its part of the event, its payload and the removal of its token if that is dead.
    var microsecondsPerPush: Double {
        let kibibytes = max(0, load.payloadBytes - coefficients.payloadBytesMeasured) / 1_024
        return coefficients.microsecondsPerPush + coefficients.microsecondsPerEvent / load.audience
            + kibibytes * coefficients.microsecondsPerPayloadKibibyte
            + load.deadShare * coefficients.microsecondsPerDeadToken
    }

    var busyCores: Double { pushesPerSecond * microsecondsPerPush / 1_000_000 }

    // MARK: The way to APNs

    var pushesInFlight: Double { pushesPerSecond * load.roundTripMilliseconds / 1_000 }

    /// A stream is busy for the round trip, and for its turn on a full connection.
    var connectionsForLoad: Double {
        let turnSeconds = coefficients.streamsPerConnection / coefficients.pushesPerSecondOfConnection
        let busyStreams = pushesPerSecond * (load.roundTripMilliseconds / 1_000 + turnSeconds)
        return (busyStreams / coefficients.streamsPerConnection / coefficients.busyShareMaximum).rounded(.up)
    }

    // MARK: Workers

    var workersForCores: Double {
        (busyCores / coefficients.coresPerWorker / coefficients.busyShareMaximum).rounded(.up)
    }

    var workersForConnections: Double { (connectionsForLoad / coefficients.connectionsPerWorker).rounded(.up) }

    var workers: Double { max(1, workersForCores, workersForConnections) }

    /// Every worker has one connection at least.
    var connections: Double { max(workers, connectionsForLoad) }

    // MARK: RabbitMQ

    var queues: Double {
        max(
            1, (load.eventsPerSecond / coefficients.eventsPerSecondOfQueue / coefficients.busyShareMaximum).rounded(.up)
        )
    }

    var brokerBytes: Double {
        load.eventsPerSecond * load.outageSeconds * (coefficients.brokerBytesPerEvent + load.payloadBytes)
    }

    // MARK: Registry and memory

    var bytesPerDevice: Double {
        load.registry == .sqlite ? coefficients.sqliteBytesPerDevice : coefficients.postgresBytesPerDevice
    }

    var registryConnections: Double {
        load.registry == .sqlite ? 0 : workers * coefficients.postgresConnectionsPerWorker
    }

    var memoryBytes: Double {
        workers * (coefficients.bytesPerWorker + load.predicates * coefficients.bytesPerPredicate)
    }

    var cores: Double { max(1, (busyCores / coefficients.busyShareMaximum).rounded(.up)) }

    // MARK: Conclusions

    /// The limit that decides the number of workers, in words.
    var limit: String {
        if workersForCores <= 1, workersForConnections <= 1 {
            return "nothing: one worker carries it; start a second one, so that one may fail"
        }
        return workersForCores >= workersForConnections
            ? "the workers' processor time"
            : "the way to APNs: the round trip times the rate needs more streams than fewer workers open"
    }

    /// The problems that need a decision.
    var warnings: [String] {
        var warnings: [String] = []
        if load.registry == .sqlite, workers > 8 {
            warnings.append(
                "SQLite: all workers share one machine, and few have \(CapacityText.number(cores)) cores; "
                    + "use --registry postgresql")
        }
        if registryConnections > 400 {
            warnings.append(
                "PostgreSQL: \(CapacityText.number(registryConnections)) connections are too many for one server; "
                    + "spread the devices over several registries, each with its workers and its broker")
        }
        if queues > 8 {
            warnings.append(
                "RabbitMQ: \(CapacityText.number(queues)) queues need more than one node; "
                    + "spread the events over several brokers by identity")
        }
        if brokerBytes > 1e12 {
            warnings.append("RabbitMQ: an outage of this length fills \(CapacityText.bytes(brokerBytes)); shorten it")
        }
        return warnings
    }
}
