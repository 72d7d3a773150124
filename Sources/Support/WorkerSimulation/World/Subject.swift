/// What an event of the load is about.
enum Subject {
    case dataset(identity: Int, dataset: Int, origin: Int?)
    case topic(app: Int, topic: Int)
    /// A list of devices, identities or users of one app.
    case list(app: Int)
    case record(app: Int, room: Int, origin: Int?)
    case invalid

    /// The app that it concerns; nil if nobody can know.
    var app: Int? {
        switch self {
        case .dataset(let identity, _, _): identity % World.appCount
        case .topic(let app, _), .list(let app), .record(let app, _, _): app
        case .invalid: nil
        }
    }
}
