/// By how much a transaction that saves subscriptions makes apps and owners grow.
struct SubscriptionGrowth {
    /// What is added; negative if it is less than before.
    struct Amount {
        var subscriptions: Int64 = 0
        var bytes: Int64 = 0

        static func += (left: inout Amount, right: Amount) {
            left.subscriptions += right.subscriptions
            left.bytes += right.bytes
        }
    }

    /// Whose subscriptions they are: a user by the bytes of its name, or a device by its row.
    struct Owner: Hashable {
        let app: Int64
        let user: [UInt8]?
        let device: Int64?
    }

    /// By the row of the app.
    private(set) var apps: [Int64: Amount] = [:]
    /// Kept only if owners have quotas.
    private(set) var owners: [Owner: Amount] = [:]
    private let countsOwners: Bool

    init(countsOwners: Bool) { self.countsOwners = countsOwners }

    /// Counts what is saved.
    ///
    /// - Parameters:
    ///   - amount: what the app has more.
    ///   - owned: what the owner has more; nil for the same.
    ///   - app: the row of the app.
    ///   - user: the owner, if it is a user.
    ///   - device: the row of the owner, if it is a device.
    mutating func add(_ amount: Amount, owned: Amount?, app: Int64, user: String?, device: Int64?) {
        apps[app, default: Amount()] += amount
        guard countsOwners else { return }
        let owner = Owner(app: app, user: user.map { Array($0.utf8) }, device: device)
        owners[owner, default: Amount()] += owned ?? amount
    }
}
