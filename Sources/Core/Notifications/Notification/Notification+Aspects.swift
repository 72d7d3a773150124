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
    public var hasLiveActivityKeys: Bool { firstLiveActivityMember != nil }

    /// Whether a text is shown.
    var hasText: Bool {
        title != nil || localizedTitle != nil || subtitle != nil || localizedSubtitle != nil || body != nil
            || localizedBody != nil
    }

    /// The first member that only a Live Activity has, by the name that events give it.
    var firstLiveActivityMember: String? {
        if liveActivityEvent != nil { return "event" }
        if contentState != nil { return "contentState" }
        if timestampSeconds != nil { return "timestamp" }
        if staleDateSeconds != nil { return "staleDate" }
        if dismissalDateSeconds != nil { return "dismissalDate" }
        return firstStartMember
    }

    /// The first member that only the start of a Live Activity has.
    var firstStartMember: String? {
        if attributesType != nil { return "attributesType" }
        if attributes != nil { return "attributes" }
        if inputPushChannel != nil { return "inputPushChannel" }
        return requestsInputPushToken ? "inputPushToken" : nil
    }

    /// The first member that only a push has which the person notices.
    var firstPresentationMember: String? {
        if hasAlert { return "an alert text" }
        if badge != nil { return "badge" }
        if sound != nil { return "sound" }
        if threadID != nil { return "threadId" }
        if category != nil { return "category" }
        if isContentMutable { return "mutableContent" }
        if targetContentID != nil { return "targetContentId" }
        if interruptionLevel != nil { return "interruptionLevel" }
        if relevanceScore != nil { return "relevanceScore" }
        return filterCriteria == nil ? nil : "filterCriteria"
    }
}
