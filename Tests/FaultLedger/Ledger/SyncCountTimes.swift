/// When a device was told of which sync counts, to be asked when it was first told of one or a newer one.
struct SyncCountTimes: Sendable {
    private var pushes: [(syncCount: Int, milliseconds: Int64)] = []
    /// Ascending by sync count, each with the earliest time of it or of a newer one.
    private var earliest: [(syncCount: Int, milliseconds: Int64)] = []

    /// Notes a push.
    mutating func append(syncCount: Int, atMilliseconds milliseconds: Int64) {
        pushes.append((syncCount, milliseconds))
        earliest = []
    }

    /// Brings the answers up to date, once for many questions.
    mutating func prepare() {
        guard earliest.isEmpty else { return }
        earliest = pushes.sorted { $0.syncCount < $1.syncCount }
        for index in earliest.indices.dropLast().reversed() {
            earliest[index].milliseconds = min(earliest[index].milliseconds, earliest[index + 1].milliseconds)
        }
    }

    /// The earliest push with this sync count or a newer one; nil if there is none.
    ///
    /// `prepare` has to come first.
    func firstMilliseconds(reaching syncCount: Int) -> Int64? {
        var (low, high) = (0, earliest.count)
        while low < high {
            let middle = (low + high) / 2
            if earliest[middle].syncCount < syncCount { low = middle + 1 } else { high = middle }
        }
        return low < earliest.count ? earliest[low].milliseconds : nil
    }
}

/// A push that the simulator accepted, as its record tells.
struct AcceptedPush: Sendable, Hashable {
    /// The subject of a push, by its payload.
    enum Content: Sendable, Hashable {
        /// The dataset of this identity has this sync count.
        case change(identity: String, syncCount: Int)
        /// The event with this number asked for it.
        case request(number: Int)
        /// Nothing that the load could have caused.
        case other
    }

    /// The device token's digits.
    let token: String
    let content: Content
    /// When it was answered, in milliseconds since 1970.
    let timeMilliseconds: Int64
    /// Whether a device shows it to its user.
    var isAlert = false
    /// The identifier by which it takes the place of an earlier alert on the device; nil if it takes none.
    var replacementID: String?
}
