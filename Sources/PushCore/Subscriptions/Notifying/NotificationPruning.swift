/// How much a push of a subscription has left out to fit into APNs' limit; each step leaves out more.
///
/// The order is that of Apple's documentation of `CKQueryNotification.isPruned`, which names the desired keys first;
/// then come the parts without which the text can still be read, and last the text itself, of which the beginning
/// stays. Any step marks the payload (`ck.p`), so that the app fetches the record.
enum NotificationPruning: Int, CaseIterable, Comparable {
    case nothing
    case additionalFields
    case sound
    case launchImage
    case action
    case longTexts
    case texts

    /// How many characters are left of each text.
    var charactersMaximum: Int? {
        switch self {
        case .longTexts: 300
        case .texts: 40
        default: nil
        }
    }

    static func < (left: NotificationPruning, right: NotificationPruning) -> Bool { left.rawValue < right.rawValue }
}
