import Notifications

/// The bounds of places that are not reserved, so that one app, or one owner of a wildcard name, has only a part.
///
/// | bound | of | places |
/// |---|---|---|
/// | `all` | all apps | `originsMaximum` |
/// | `app` | one app | as many as are free, at least an eighth of all |
/// | `unproven` | all apps | half of all |
/// | `unprovenOfApp` | one app | as many as are free of these, at least an eighth of them |
/// | `owner` | one app, unproven, of one owner | 4 |
/// | `suffix` | one app, unproven, below one known suffix | 32, beside those above |
///
/// So one app alone gets half of what there is, and the next app finds some (Choudhury and Hahne, 1998, as the share of
/// a window in `SendQueue`); however many apps there are, each finds `leastMaximum`. The owner of a name is told by its
/// last two labels, and not by Mozilla's list of public suffixes: that list would be one more dependency, which ages.
/// Where strangers share two labels (`co.uk`, `duckdns.org`), four of them wait for their first answer at a time, and
/// none after it.
struct OriginQuotas {
    /// A bound that can be met.
    enum Bound: String, CaseIterable {
        case all
        case app
        case unproven
        case unprovenOfApp = "unproven_of_app"
        case owner
        case suffix
    }

    /// How many pushes of an app may be out to all of its origins that have not accepted any, so that they do not fill
    /// the window of the app.
    static let unprovenPushesMaximum = 256
    private static let leastShareDivisor = 8
    /// The places that an app gets although others have all.
    static let leastMaximum = 2
    private static let ownerMaximum = 4
    private static let suffixMaximum = 32

    private let originsMaximum: Int

    init(originsMaximum: Int) { self.originsMaximum = max(1, originsMaximum) }

    /// The bound that a new origin would exceed; nil if it may have a place.
    func bound(metBy origin: OriginTable.Origin, among origins: [OriginTable.Origin?]) -> Bound? {
        if origin.isReserved { return nil }
        func count(_ bound: Bound) -> Int { origins.count { $0.map { Self.counts($0, for: origin, bound) } ?? false } }
        if case .below = origin.standing { return count(.suffix) < Self.suffixMaximum ? nil : .suffix }
        if !origin.isProven {
            if count(.owner) >= Self.ownerMaximum { return .owner }
            let unproven = count(.unproven)
            let unprovenMaximum = max(1, originsMaximum / 2)
            let own = count(.unprovenOfApp)
            if own >= share(of: unprovenMaximum, taken: unproven) { return .unprovenOfApp }
            if unproven >= unprovenMaximum, own >= Self.leastMaximum { return .unproven }
        }
        let (taken, own) = (count(.all), count(.app))
        if own >= share(of: originsMaximum, taken: taken) { return .app }
        return taken < originsMaximum || own < Self.leastMaximum ? nil : .all
    }

    private func share(of maximum: Int, taken: Int) -> Int { max(1, maximum / Self.leastShareDivisor, maximum - taken) }

    /// Whether an origin presses a bound that another one would exceed.
    static func counts(_ origin: OriginTable.Origin, for other: OriginTable.Origin, _ bound: Bound) -> Bool {
        let isSameApp = origin.key.app == other.key.app
        if bound == .suffix { return isSameApp && !origin.isProven && origin.standing == other.standing }
        guard origin.standing == .stranger else { return false }
        return switch bound {
        case .all: true
        case .app: isSameApp
        case .unproven: !origin.isProven
        case .unprovenOfApp: !origin.isProven && isSameApp
        case .owner, .suffix: !origin.isProven && isSameApp && origin.owner == other.owner
        }
    }

    /// The owner of a host, as far as its text tells: the last two labels of a name, an IPv4 address, or the first 48
    /// bits of an IPv6 address, which one site has (RFC 6177).
    static func owner(of host: String) -> String {
        switch LiteralHost(host) {
        case .name(let name): name.split(separator: ".").suffix(2).joined(separator: ".")
        case .address(let bytes): "\(bytes.prefix(bytes.count == 4 ? 4 : 6))"
        case .malformed: host
        }
    }
}
