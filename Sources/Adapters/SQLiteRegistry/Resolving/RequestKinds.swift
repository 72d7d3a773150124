import PushCore

/// The requests of a batch, by index, sorted into the kinds that are asked for together.
struct RequestKinds {
    var datasets: [Int] = []
    var topics: [Int] = []
    var identities: [Int] = []
    var users: [Int] = []
    var devices: [Int] = []
    var tokens: [Int] = []
    var onlyAmongDatasets: [Int] = []
    var onlyAmongTopics: [Int] = []
    var onlyAmongOwners: [Int] = []

    /// Sorts one request in.
    ///
    /// A few devices of an audience that may be large are looked up by their identifiers and then asked whether they
    /// belong to it; for audiences that are a list of devices anyway, the list is shortened instead.
    mutating func add(_ request: AudienceRequest, index: Int) {
        let isWhole = request.onlyDeviceIDs == nil
        switch request.audience {
        case .dataset: if isWhole { datasets.append(index) } else { onlyAmongDatasets.append(index) }
        case .topic: if isWhole { topics.append(index) } else { onlyAmongTopics.append(index) }
        case .identities: if isWhole { identities.append(index) } else { onlyAmongOwners.append(index) }
        case .users: if isWhole { users.append(index) } else { onlyAmongOwners.append(index) }
        case .devices: devices.append(index)
        case .tokens: tokens.append(index)
        }
    }
}
