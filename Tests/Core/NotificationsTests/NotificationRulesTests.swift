import Notifications
import Testing

@Suite("Rules by push type")
struct NotificationRulesTests {
    private let rules = NotificationRules(bundleID: "com.example.chat")

    private func notification(_ change: (inout Notification) -> Void) -> Notification {
        var notification = Notification()
        change(&notification)
        return notification
    }

    private var alert: Notification { notification { $0.body = "Hello" } }
    private var silent: Notification { notification { $0.isContentAvailable = true } }

    private func rejection(_ notification: Notification, _ options: PushOptions = PushOptions()) -> EventRejection? {
        do throws(EventRejection) {
            _ = try rules.headers(for: notification, options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Each push type has its topic, its default priority and its size",
        arguments: [
            (PushType.alert, "com.example.chat", PushPriority.immediate, 4_096),
            (.background, "com.example.chat", .conserving, 4_096),
            (.complication, "com.example.chat.complication", .immediate, 4_096),
            (.controls, "com.example.chat.push-type.controls", .immediate, 4_096),
            (.fileprovider, "com.example.chat.pushkit.fileprovider", .immediate, 4_096),
            (.liveactivity, "com.example.chat.push-type.liveactivity", .immediate, 4_096),
            (.location, "com.example.chat.location-query", .immediate, 4_096),
            (.mdm, "com.example.chat", .immediate, 4_096),
            (.pushtotalk, "com.example.chat.voip-ptt", .immediate, 4_096),
            (.voip, "com.example.chat.voip", .immediate, 5_120),
            (.widgets, "com.example.chat.push-type.widgets", .immediate, 4_096),
        ])
    func eachTypeHasItsRules(type: PushType, topic: String, priority: PushPriority, size: Int) throws {
        let headers = try rules.headers(pushType: type, options: PushOptions())
        #expect(headers.topic == topic)
        #expect(headers.priority == priority)
        #expect(type.payloadBytesMaximum == size)
        try NotificationRules.checkPayloadSize(size, pushType: type)
        #expect(throws: EventRejection.self) { try NotificationRules.checkPayloadSize(size + 1, pushType: type) }
    }

    @Test("A background push may only have priority 5, a Live Activity and a location push 5 or 10, the others any")
    func allowsPriorities() {
        for type in PushType.allCases {
            for priority in PushPriority.allCases {
                let isAllowed =
                    switch type {
                    case .background: priority == .conserving
                    case .liveactivity, .location: priority != .passive
                    default: true
                    }
                let options = PushOptions(priority: priority)
                let headers = try? rules.headers(pushType: type, options: options)
                #expect((headers != nil) == isAllowed, "\(type) with \(priority)")
            }
        }
    }

    @Test("The push type is deduced from the content when the event names none")
    func deducesThePushType() throws {
        #expect(try rules.headers(for: alert, options: PushOptions()).pushType == .alert)
        #expect(try rules.headers(for: silent, options: PushOptions()).pushType == .background)
        let alertAndSilent = notification {
            $0.body = "Hello"
            $0.isContentAvailable = true
        }
        #expect(try rules.headers(for: alertAndSilent, options: PushOptions()).pushType == .alert)
        let badge = notification { $0.badge = 0 }
        #expect(try rules.headers(for: badge, options: PushOptions()).pushType == .alert)
        let widgets = notification { $0.isContentChanged = true }
        #expect(try rules.headers(for: widgets, options: PushOptions()).pushType == .widgets)
        #expect(try rules.headers(for: widgets, options: PushOptions(pushType: .controls)).pushType == .controls)
        let activity = notification {
            $0.liveActivityEvent = .end
            $0.timestampSeconds = 1
        }
        #expect(try rules.headers(for: activity, options: PushOptions()).pushType == .liveactivity)
    }

    @Test("A background push may hold content-available and nothing else in aps")
    func backgroundHoldsNothingElse() {
        let changes: [(inout Notification) -> Void] = [
            { $0.title = "x" }, { $0.badge = 1 }, { $0.sound = .named("default") }, { $0.threadID = "x" },
            { $0.category = "x" }, { $0.isContentMutable = true }, { $0.targetContentID = "x" },
            { $0.interruptionLevel = .passive }, { $0.relevanceScore = 0.5 }, { $0.filterCriteria = "x" },
            { $0.timestampSeconds = 1 }, { $0.isContentChanged = true },
        ]
        for change in changes {
            var changed = silent
            change(&changed)
            #expect(rejection(changed, PushOptions(pushType: .background))?.reason == .invalidNotification)
        }
        #expect(rejection(alert, PushOptions(pushType: .background))?.message.contains("contentAvailable") == true)
        var custom = silent
        custom.customData = [CustomDatum(key: "data", value: RawJSON(validated: Array("{}".utf8)))]
        #expect(rejection(custom) == nil)
    }

    @Test("An alert push shows something")
    func alertShowsSomething() {
        #expect(rejection(Notification())?.reason == .invalidNotification)
        #expect(rejection(silent, PushOptions(pushType: .alert))?.reason == .invalidNotification)
    }

    @Test("Only a push that shows a text may be changed by the app before it is shown")
    func mutableContentNeedsAText() {
        var badge = notification { $0.badge = 1 }
        #expect(rejection(badge) == nil)
        badge.isContentMutable = true
        #expect(rejection(badge)?.message.contains("mutableContent") == true)
        badge.localizedBody = Notification.LocalizedText(key: "k")
        #expect(rejection(badge) == nil)
    }

    @Test("A Live Activity push says what it lacks")
    func liveActivitySaysWhatItLacks() {
        let state = RawJSON(validated: Array("{\"score\":1}".utf8))
        #expect(rejection(notification { $0.contentState = state })?.message.contains("event") == true)
        let start = notification {
            $0.liveActivityEvent = .start
            $0.contentState = state
        }
        #expect(
            rejection(start)?.message
                == "a liveactivity push that is to start needs timestamp, attributesType, attributes, an alert text")
        let update = notification {
            $0.liveActivityEvent = .update
            $0.timestampSeconds = 1
        }
        #expect(rejection(update)?.message == "a liveactivity push that is to update needs contentState")
        var complete = start
        complete.timestampSeconds = 1
        complete.attributesType = "Game"
        complete.attributes = state
        complete.title = "Kick-off"
        #expect(rejection(complete) == nil)
        complete.attributes = RawJSON(validated: Array("[]".utf8))
        #expect(rejection(complete)?.reason == .invalidField)
    }

    @Test("What belongs to another push type, or to another event of a Live Activity, is named")
    func namesWhatIsMisplaced() {
        let state = RawJSON(validated: Array("{\"score\":1}".utf8))
        let update = notification {
            $0.liveActivityEvent = .update
            $0.timestampSeconds = 1
            $0.contentState = state
        }
        let start = notification {
            $0.liveActivityEvent = .start
            $0.timestampSeconds = 1
            $0.contentState = state
            $0.attributesType = "Game"
            $0.attributes = state
            $0.title = "Kick-off"
        }
        let cases: [(Notification, PushType?, String, (inout Notification) -> Void)] = [
            (alert, .alert, "contentState goes with a push of type liveactivity only", { $0.contentState = state }),
            (alert, .voip, "staleDate goes with a push of type liveactivity only", { $0.staleDateSeconds = 1 }),
            (
                alert, .alert, "contentChanged goes with a push of type widgets or controls",
                { $0.isContentChanged = true }
            ),
            (
                update, nil, "contentChanged goes with a push of type widgets or controls",
                { $0.isContentChanged = true }
            ),
            (update, nil, "attributes goes with the event start only", { $0.attributes = state }),
            (update, nil, "attributesType goes with the event start only", { $0.attributesType = "Game" }),
            (update, nil, "inputPushChannel goes with the event start only", { $0.inputPushChannel = "YWI=" }),
            (update, nil, "inputPushToken goes with the event start only", { $0.requestsInputPushToken = true }),
            (update, nil, "dismissalDate goes with the event end only", { $0.dismissalDateSeconds = 2 }),
            (start, nil, "dismissalDate goes with the event end only", { $0.dismissalDateSeconds = 2 }),
            (
                start, nil, "inputPushChannel and inputPushToken exclude each other",
                {
                    $0.inputPushChannel = "YWI="
                    $0.requestsInputPushToken = true
                }
            ),
            (alert, nil, "body and locKey are both there", { $0.localizedBody = .init(key: "K") }),
        ]
        for (notification, pushType, message, change) in cases {
            var changed = notification
            #expect(rejection(changed, PushOptions(pushType: pushType)) == nil)
            change(&changed)
            let rejection = rejection(changed, PushOptions(pushType: pushType))
            #expect(rejection?.reason == .invalidNotification)
            #expect(rejection?.message.hasPrefix(message) == true, "\(String(describing: rejection)), not \(message)")
        }
    }

    @Test("A push that reloads widgets or controls holds nothing that is shown")
    func reloadShowsNothing() {
        let widgets = notification { $0.isContentChanged = true }
        for change in [{ $0.body = "x" }, { $0.badge = 1 }, { $0.isContentAvailable = true }]
            as [(inout Notification) -> Void]
        {
            var changed = widgets
            change(&changed)
            #expect(rejection(changed, PushOptions(pushType: .controls))?.reason == .invalidNotification)
        }
    }

    @Test("Widgets and controls need content-changed")
    func widgetsNeedContentChanged() {
        #expect(rejection(alert, PushOptions(pushType: .widgets))?.reason == .invalidNotification)
        #expect(rejection(alert, PushOptions(pushType: .controls))?.reason == .invalidNotification)
    }

    @Test("Impossible values are invalid fields, each named")
    func namesImpossibleValues() {
        let cases: [(String, (inout Notification) -> Void)] = [
            ("badge", { $0.badge = -1 }), ("volume", { $0.sound = .critical(name: "x", volume: 1.5) }),
            ("volume", { $0.sound = .critical(name: "x", volume: .nan) }),
            ("relevanceScore", { $0.relevanceScore = 2 }),
            ("relevanceScore", { $0.relevanceScore = .infinity }),
            ("aps", { $0.customData = [CustomDatum(key: "aps", value: RawJSON(validated: [0x31]))] }),
            (
                "twice",
                {
                    $0.customData = [
                        CustomDatum(key: "a", value: RawJSON(validated: [0x31])),
                        .init(key: "a", value: RawJSON(validated: [0x32])),
                    ]
                }
            ),
        ]
        for (word, change) in cases {
            var changed = alert
            change(&changed)
            let rejection = rejection(changed)
            #expect(rejection?.reason == .invalidField)
            #expect(rejection?.message.contains(word) == true)
        }
    }

    @Test("A collapse identifier has 1 to 64 bytes, counted in UTF-8, and no control characters")
    func checksCollapseIdentifiers() {
        let longest = String(repeating: "ä", count: 32)
        #expect(rejection(alert, PushOptions(collapseID: longest)) == nil)
        #expect(rejection(alert, PushOptions(collapseID: longest + "x"))?.reason == .invalidNotification)
        for collapseID in ["", " x", "x ", "a\r\nb", "a\u{0}b", "a\u{7f}"] {
            #expect(rejection(alert, PushOptions(collapseID: collapseID))?.reason == .invalidField)
        }
    }

    @Test("An expiration is a time since 1970, or 0")
    func checksExpirations() throws {
        #expect(rejection(alert, PushOptions(expirationSeconds: -1))?.reason == .invalidField)
        #expect(try rules.headers(for: alert, options: PushOptions(expirationSeconds: 0)).expirationSeconds == 0)
    }

    @Test("The derived collapse identifier fits, tells datasets apart and stays the same from version to version")
    func derivesCollapseIdentifiers() {
        let pool = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
        let long = String(repeating: "d", count: 128)
        var seen: Set<String> = []
        for (identity, name) in [("a", "b"), ("ab", ""), ("", "ab"), ("a", long), ("a", long + "x")] {
            let key = DatasetKey(identityPoolID: pool, identityID: identity, datasetName: name)
            let identifier = DerivedCollapseID.ofDataset(key)
            #expect(identifier.utf8.count == 40)
            seen.insert(identifier)
        }
        #expect(seen.count == 5)
        let empty = DatasetKey(identityPoolID: "", identityID: "", datasetName: "")
        #expect(DerivedCollapseID.ofDataset(empty) == DerivedCollapseID.ofDataset(empty))
    }
}
