/// How much a push of a subscription has left out to fit into APNs' limit; each step leaves out more.
///
/// The order is that of Apple's documentation of `CKQueryNotification.isPruned`, which names the desired keys first;
/// then come the parts without which the text can still be read, then the text itself, of which the beginning stays,
/// and the zone of the record. Any step marks the payload (`ck.p`), so that the app fetches the record.
///
/// A subscription is only saved if `zone` fits for every record (`NotificationInfo.checkSize`). The last two steps are
/// for rows that somebody edited and for rules that changed: they show nothing, and always fit.
enum NotificationPruning: Int, CaseIterable, Comparable {
    case nothing
    case additionalFields
    case sound
    case launchImage
    case action
    case longTexts
    case texts
    case zone
    case display
    case names

    /// How many characters are left of each text.
    var charactersMaximum: Int? {
        switch self {
        case .nothing, .additionalFields, .sound, .launchImage, .action: nil
        case .longTexts: 300
        case .texts, .zone, .display, .names: 40
        }
    }

    static func < (left: NotificationPruning, right: NotificationPruning) -> Bool { left.rawValue < right.rawValue }
}
