import Messages

/// Draws one event after the other.
struct Load {
    private var random: Randomness
    private var nextNumber = 0
    private let largeAudiencesPerMillion: Int
    private let hasDeletions: Bool
    /// The identity whose dataset changes again and again at this moment, so that its changes coalesce.
    private var busyIdentity = 0
    private var busyLeft = 0

    /// Creates the load of a seed.
    ///
    /// - Parameters:
    ///   - seed: the seed of all events.
    ///   - largeAudiencesPerMillion: how many of a million events go to some thousand devices.
    ///   - hasDeletions: whether datasets are deleted and merged.
    init(seed: UInt64, largeAudiencesPerMillion: Int, hasDeletions: Bool) {
        self.hasDeletions = hasDeletions
        random = Randomness(seed: seed, model: "load")
        self.largeAudiencesPerMillion = largeAudiencesPerMillion
    }

    /// The next event.
    ///
    /// - Parameters:
    ///   - world: the apps, devices and subscriptions that it may be about.
    ///   - milliseconds: the date.
    /// - Returns: the event.
    mutating func next(_ world: World, atMilliseconds milliseconds: Int64) -> LoadedEvent {
        defer { nextNumber += 1 }
        if random.happens(perMillion: largeAudiencesPerMillion) {
            return topic(random.below(World.appCount), World.topicSizes.count - 1)
        }
        switch random.below(1_000) {
        case 0..<560: return dataset(world)
        case 560..<790: return list(world, milliseconds)
        case 790..<880: return topic(random.below(World.appCount), random.below(3))
        case 880..<882: return topic(random.below(World.appCount), 3)
        case 882..<988: return record()
        default: return invalid()
        }
    }

    // MARK: Datasets

    private mutating func dataset(_ world: World) -> LoadedEvent {
        if busyLeft == 0 {
            busyIdentity = random.below(world.identityCount)
            busyLeft = random.below(4) == 0 ? random.within(2...30) : 1
        }
        busyLeft -= 1
        let identity = busyIdentity
        let dataset = random.below(World.datasetCount)
        let origin = random.below(3) == 0 ? nil : identity * 2 + random.below(2)
        var data = EventWriter()
        data.write(#"{"identityPoolId":"eu:"#)
        data.write(identity % World.appCount)
        data.write(#"","identityId":"eu:"#)
        data.write(identity)
        data.write(#"","datasetName":"s"#)
        data.write(dataset)
        data.write(#"","syncCount":"#)
        data.write(nextNumber)
        if let origin {
            data.write(#","deviceId":"d"#)
            data.write(origin)
            data.write(#"""#)
        }
        var type: StaticString = "dataset.changed"
        switch random.below(100) {
        case 0 where hasDeletions: type = "dataset.deleted"
        case 1 where hasDeletions:
            type = "datasets.merged"
            data.write(#","mergedDatasetNames":["old"]"#)
        default: break
        }
        data.write("}")
        return event(type, data, .dataset(identity: identity, dataset: dataset, origin: origin))
    }

    // MARK: Requested pushes

    private mutating func list(_ world: World, _ milliseconds: Int64) -> LoadedEvent {
        let app = random.below(World.appCount)
        let count = random.below(20) == 0 ? random.within(5...40) : random.within(1...3)
        let kind = random.below(4)
        var data = EventWriter()
        data.write(#"{"app":"app"#)
        data.write(app)
        data.write(kind < 2 ? #"","deviceIds":["# : kind == 2 ? #"","identityIds":["# : #"","userIds":["#)
        var listed: [Int] = []
        for index in 0..<count {
            if index > 0 { data.write(",") }
            let device = world.device(ofApp: app, index: random.below(world.devicesPerApp))
            let identity = device / World.devicesPerIdentity
            data.write(kind < 2 ? #""d"# : kind == 2 ? #""eu:"# : #""u"#)
            data.write(kind < 2 ? device : identity)
            data.write(#"""#)
            listed += kind < 2 ? [device] : [2 * identity, 2 * identity + 1]
        }
        data.write("],")
        var event = requested(data, .list(app: app), milliseconds)
        event.listed = listed
        return event
    }

    private mutating func topic(_ app: Int, _ topic: Int) -> LoadedEvent {
        var data = EventWriter()
        data.write(#"{"app":"app"#)
        data.write(app)
        data.write(#"","topic":"t"#)
        data.write(topic)
        data.write(#"","#)
        return requested(data, .topic(app: app, topic: topic), nil)
    }

    /// Completes an event that asks for pushes.
    private mutating func requested(_ data: EventWriter, _ subject: Subject, _ milliseconds: Int64?) -> LoadedEvent {
        var data = data
        data.write(##""notification":{"title":"#"##)
        data.write(nextNumber)
        data.write(##"#"}"##)
        var timeToLive: Int64?
        var expiresImmediately = false
        if let milliseconds {
            switch random.below(40) {
            case 0:
                expiresImmediately = true
                data.write(#","options":{"expiration":0}"#)
            case 1, 2:
                let seconds = Int64(random.within(20...4_000))
                timeToLive = seconds * 1_000
                data.write(#","options":{"expiration":"#)
                data.write(Int(milliseconds / 1_000 + seconds))
                data.write("}")
            default: break
            }
        }
        data.write("}")
        var event = event("push.requested", data, subject)
        event.timeToLiveMilliseconds = [event.timeToLiveMilliseconds, timeToLive].compactMap(\.self).min()
        event.expiresImmediately = expiresImmediately
        return event
    }

    // MARK: Records

    private mutating func record() -> LoadedEvent {
        let app = random.below(World.appCount)
        let choice = random.below(200)
        let room =
            choice == 0 ? World.crowdedRoom : choice < 16 ? World.onceRoom : random.below(World.roomCount)
        let identity = (room + 40 * random.below(2)) * World.appCount + app
        let origin = random.below(3) == 0 ? identity * World.devicesPerIdentity : nil
        var data = EventWriter()
        data.write(#"{"app":"app"#)
        data.write(app)
        data.write(#"","recordType":"Note","recordName":"r"#)
        data.write(nextNumber)
        data.write(#"","fields":{"room":"#)
        data.write(room)
        data.write(#","n":"#)
        data.write(nextNumber)
        data.write("}")
        if let origin {
            data.write(#","deviceId":"d"#)
            data.write(origin)
            data.write(#"""#)
        }
        data.write("}")
        return event("record.updated", data, .record(app: app, room: room, origin: origin))
    }

    // MARK: Messages

    private mutating func invalid() -> LoadedEvent {
        var data = EventWriter()
        data.write(#"{"identityPoolId":"eu:1"}"#)
        return event(random.below(2) == 0 ? "dataset.changed" : "nothing.known", data, .invalid)
    }

    /// Makes the message of an event: structured as a rule, plain JSON now and then.
    private mutating func event(_ type: StaticString, _ data: EventWriter, _ subject: Subject) -> LoadedEvent {
        var properties = MessageProperties()
        let headers = [MessageHeader("n", .int64(Int64(nextNumber)))]
        var timeToLive: Int64?
        if random.below(50) == 0 {
            timeToLive = Int64(random.within(10_000...2_000_000))
            properties.expiration = timeToLive.map { String($0) }
        }
        guard random.below(8) > 0 else {
            properties.contentType = "application/json"
            properties.messageID = "e\(nextNumber)"
            properties.type = "\(type)"
            properties.appID = "load"
            return LoadedEvent(
                number: nextNumber, subject: subject,
                message: Message(properties: properties, headers: headers, body: data.bytes),
                timeToLiveMilliseconds: timeToLive)
        }
        properties.contentType = "application/cloudevents+json"
        var body = EventWriter()
        body.write(#"{"specversion":"1.0","source":"load","id":"e"#)
        body.write(nextNumber)
        body.write(#"","type":""#)
        body.write(type)
        body.write(#"","data":"#)
        body.write(data)
        body.write("}")
        return LoadedEvent(
            number: nextNumber, subject: subject,
            message: Message(properties: properties, headers: headers, body: body.bytes),
            timeToLiveMilliseconds: timeToLive)
    }
}

/// An event that a backend publishes.
struct LoadedEvent {
    /// Its number; it is also its sync count, and what its pushes show.
    var number: Int
    var subject: Subject
    /// The devices of a list.
    var listed: [Int] = []
    var message: Message
    /// The time to live from publishing on, in milliseconds; nil for no limit.
    var timeToLiveMilliseconds: Int64?
    /// Whether each of its pushes gets one attempt only.
    var expiresImmediately = false
}

/// Writes JSON piece by piece.
struct EventWriter {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(256) }

    mutating func write(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func write(_ other: EventWriter) { bytes.append(contentsOf: other.bytes) }

    mutating func write(_ number: Int) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(48 + number / divisor % 10))
            divisor /= 10
        }
    }
}
