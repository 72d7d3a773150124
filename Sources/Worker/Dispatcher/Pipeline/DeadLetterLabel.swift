import Notifications
import WebPushTransport

/// The label by which dead letters of a reason are counted.
///
/// Reasons are our own words, and what push services answer. Anybody can be the push service of a browser, and a
/// service may change its words, so only documented words are labels by themselves: the number of series is bounded,
/// and no answer takes the label of another reason away.
enum DeadLetterLabel {
    /// The label of all reasons that are none of the others.
    static let other = "other"
    /// How long a word of our own is at most.
    private static let wordBytesMaximum = 40

    private static let documented = Set(
        EventRejection.Reason.allCases.map(\.rawValue) + PushService.allCases.flatMap(\.documentedReasons)
            + SubscriptionProblem.allCases.map(\.rawValue))

    /// The label of a reason.
    ///
    /// - Parameter reason: a word of our own (small letters and hyphens), a documented word of a service, or
    ///   `status-` and a status.
    /// - Returns: the reason itself if it is one of a bounded number, `status-4xx` for a status, else `other`.
    static func label(of reason: String) -> String {
        if documented.contains(reason) { return reason }
        if reason.hasPrefix("status-") {
            let digits = reason.dropFirst("status-".count)
            guard digits.utf8.count == 3, let first = digits.first, "0"..."9" ~= first else { return other }
            return "status-\(first)xx"
        }
        let isOwn = reason.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: "-") }
        return isOwn && (1...wordBytesMaximum).contains(reason.utf8.count) ? reason : other
    }
}
