import ChangeEvents
import DispatchCore
import Notifications
import RegistryCore

/// From devices to the tokens that a push of this type goes to.
///
/// A device is found with its alert token. A push of another kind goes to the device's token of that kind, and to no
/// device that has none: APNs would refuse it. A token that the event itself names has the kind that the event gives,
/// unless the registry knows another kind.
extension RegistryResponder {
    private typealias KnownTokens = [String: [DeviceToken: [TokenKind: Platform]]]

    /// Addresses the pages that were found for some events.
    ///
    /// - Parameters:
    ///   - pages: the first devices of their audiences, or the next.
    ///   - questions: their questions, none about a record.
    /// - Returns: the pages, in their order.
    /// - Throws: `RegistryError` if the registry does not answer.
    func address(
        _ pages: [AudiencePage], _ questions: [AudienceQuestion]
    ) throws(RegistryError) -> [AddressedPage] {
        var addressed = pages.map { AddressedPage($0) }
        var ofTokens: [(index: Int, push: RequestedPush)] = []
        var ofDevices: [(index: Int, push: RequestedPush)] = []
        for (index, question) in questions.enumerated() {
            guard case .push(let push) = question.event.event.kind else { continue }
            if case .tokens = push.audience {
                ofTokens.append((index, push))
            } else if push.tokenKind != .alert {
                ofDevices.append((index, push))
            }
        }
        try addressTokens(ofTokens, &addressed)
        try addressDevices(ofDevices, &addressed)
        for (index, push) in ofTokens + ofDevices where questions[index].event.mayBePlanned {
            try refuseIfPointless(&addressed[index], push)
        }
        return addressed
    }

    private func addressDevices(
        _ pushes: [(index: Int, push: RequestedPush)], _ pages: inout [AddressedPage]
    ) throws(RegistryError) {
        guard !pushes.isEmpty else { return }
        let deviceIDs = pushes.flatMap { pages[$0.index].page.devices.map(\.deviceID) }
        var tokens = try registry.tokens(of: deviceIDs)[...]
        for (index, push) in pushes {
            let kind = push.tokenKind
            pages[index].address { device in
                guard let found = tokens.popFirst()?.first(where: { $0.kind == kind }) else { return nil }
                var addressee = Recipient(
                    deviceID: device.deviceID, platform: device.platform, token: found.token, app: device.app)
                addressee.registration = TokenRegistration(atMilliseconds: found.registeredAtMilliseconds)
                return addressee
            }
        }
    }

    private func addressTokens(
        _ pushes: [(index: Int, push: RequestedPush)], _ pages: inout [AddressedPage]
    ) throws(RegistryError) {
        var asked: [String: [DeviceToken]] = [:]
        for (index, push) in pushes {
            for device in pages[index].page.devices where push.tokenKind != .alert || device.mayBeUnregistered {
                asked[push.app, default: []].append(device.token)
            }
        }
        guard !asked.isEmpty else { return }
        let known = try kinds(of: asked)
        guard !known.isEmpty || pushes.contains(where: { $0.push.tokenKind != .alert }) else { return }
        for (index, push) in pushes {
            pages[index].address { device in
                Self.addressee(device, push.tokenKind, known[push.app]?[device.token])
            }
        }
    }

    private func kinds(of tokens: [String: [DeviceToken]]) throws(RegistryError) -> KnownTokens {
        var known: KnownTokens = [:]
        for (app, list) in tokens {
            for found in try registry.kinds(of: list, app: app) {
                known[app, default: [:]][found.token, default: [:]][found.kind] = found.platform
            }
        }
        return known
    }

    /// The addressee of a push to a token.
    ///
    /// - Parameters:
    ///   - device: the device with this alert token.
    ///   - kind: the kind that the push is for.
    ///   - registered: the kind under which the token is registered; nil if it was not looked up, or is not registered.
    /// - Returns: nil if the token is of other kinds only.
    private static func addressee(
        _ device: Recipient, _ kind: TokenKind, _ registered: [TokenKind: Platform]?
    ) -> Recipient? {
        guard let registered else { return device }
        guard let platform = registered[kind] else { return nil }
        guard kind != .alert else { return device }
        // A retry names it by its digits, as it does a token that is not registered.
        var addressee = Recipient(unregistered: device.token, app: device.app)
        addressee.platform = platform
        // The token is registered, at a moment that its look-up does not tell.
        addressee.registration = TokenRegistration(atMilliseconds: .min)
        return addressee
    }

    /// Refuses an event if no push of its whole audience is possible.
    private func refuseIfPointless(_ page: inout AddressedPage, _ push: RequestedPush) throws(RegistryError) {
        guard page.page.devices.isEmpty, page.leftOutCount > 0 else { return }
        if page.page.next != nil {
            if case .tokens(let list, let app) = push.audience {
                let known = try kinds(of: [app: list])[app] ?? [:]
                guard list.allSatisfy({ known[$0].map { $0[push.tokenKind] == nil } ?? false }) else { return }
            } else {
                // Whether the rest of a large audience has any is known for certain only if its app has none.
                guard try !registry.hasTokens(push.tokenKind, app: push.app) else { return }
            }
        }
        page.page.next = nil
        page.rejection = push.withoutToken
    }
}
