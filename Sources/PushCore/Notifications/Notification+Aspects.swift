/// What a notification is made of, seen as groups of keys.
extension Notification {
    /// Whether any key of `alert` is there.
    public var hasAlert: Bool {
        title != nil || localizedTitle != nil || subtitle != nil || localizedSubtitle != nil || body != nil
            || localizedBody != nil || actionLocalizationKey != nil || launchImage != nil
    }

    /// Whether the person would notice it: an alert, a badge or a sound.
    public var isVisible: Bool { hasAlert || badge != nil || sound != nil }

    /// Whether any key is there that only a Live Activity has.
    public var hasLiveActivityKeys: Bool {
        liveActivityEvent != nil || contentState != nil || timestampSeconds != nil || staleDateSeconds != nil
            || dismissalDateSeconds != nil || attributesType != nil || attributes != nil || inputPushChannel != nil
            || requestsInputPushToken
    }

    /// The first key of `aps`, other than `content-available`, that a background push may not have.
    var firstKeyBesideContentAvailable: String? {
        let present: [(String, Bool)] = [
            ("alert", hasAlert), ("badge", badge != nil), ("sound", sound != nil), ("thread-id", threadID != nil),
            ("category", category != nil), ("mutable-content", isContentMutable),
            ("target-content-id", targetContentID != nil), ("interruption-level", interruptionLevel != nil),
            ("relevance-score", relevanceScore != nil), ("filter-criteria", filterCriteria != nil),
            ("a key of a Live Activity", hasLiveActivityKeys), ("content-changed", isContentChanged),
        ]
        return present.first { $0.1 }?.0
    }
}
