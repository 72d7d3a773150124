public import Notifications

extension Configuration {
    /// An app that gets pushes: one `[[app]]`.
    public struct App: Hashable, Sendable {
        /// The name by which devices, events and metrics refer to it; 1 to 64 letters, digits, `.`, `-`, `_`; distinct.
        ///
        /// `app.N.name`, required.
        public var name: String
        /// The bundle identifier, which is the topic of its pushes.
        ///
        /// `app.N.bundle_id`, required.
        public var bundleID: String
        /// The Cognito identity pools whose dataset changes are this app's; distinct over all apps.
        ///
        /// `app.N.identity_pools`, default none.
        public var identityPools: [String]
        /// What its backend wants to hear of its pushes.
        ///
        /// `app.N.outcomes`, default nothing.
        public var outcomes: OutcomeSelection
        /// Whether pushes of campaigns carry a receipt, with which devices report that they were opened.
        ///
        /// `app.N.opens`, default false.
        public var reportsOpens: Bool
        /// How it reaches APNs; nil if it does not.
        public var apns: APNs?
        /// How it reaches FCM; nil if it does not.
        public var fcm: FCM?
        /// How it reaches ADM; nil if it does not.
        public var adm: ADM?
        /// How it reaches browsers; nil if it does not.
        public var webPush: AppWebPush?
        /// How its backend is told of pushes over HTTP; nil if it is not.
        public var webhook: Webhook?
    }
}
