import ChangeEvents
import Essentials
import Notifications
import RegistryCore

/// Which backends want to hear of an event.
extension PipelineMachine {
    /// Whether any backend wants to hear of the pushes of an event.
    ///
    /// A dataset may be followed by devices of any app.
    func areOutcomesWanted(of event: DecodedEvent) -> Bool {
        guard areOutcomesWanted else { return false }
        if case .dataset = event.event.kind { return true }
        return configuration.apps.contains { app in
            Self.concerns(event, app) && app.routes.contains { !$0.outcomes.isEmpty }
        }
    }

    /// The apps that an event concerns, as far as their backends want to hear of such an end of it.
    func apps(toTell kind: OutcomeKind, of event: DecodedEvent) -> [String] {
        apps(toTell: kind) { Self.concerns(event, $0) }
    }

    /// The apps that something concerns, as far as their backends want to hear of such an end of it.
    func apps(toTell kind: OutcomeKind, _ isConcerned: (PipelineConfiguration.App) -> Bool) -> [String] {
        guard areOutcomesWanted else { return [] }
        return configuration.apps.filter { $0.routes[0].outcomes.contains(kind.selection) && isConcerned($0) }
            .map(\.name)
    }

    /// The entries of an event's target that have no device, if its backend wants to hear of them.
    ///
    /// Only a whole audience tells that: not a retry, and not a page of a large audience.
    func unmatchedPushes(of event: DecodedEvent, _ addressed: AddressedPage, at now: WallTime) -> [UnsentPushes] {
        guard areOutcomesWanted, event.isFresh, addressed.page.next == nil, addressed.leftOutCount == 0,
            case .push(let push) = event.event.kind, !apps(toTell: .unmatched, of: event).isEmpty
        else { return [] }
        let entries = push.audience.entries(withoutDeviceAmong: addressed.page.devices)
        guard !entries.isEmpty else { return [] }
        let pushes = entries.map { entry in
            EndedPush(recipient: entry, kind: .unmatched, reason: "no-device", sends: 0, ended: now)
        }
        return [UnsentPushes(event: event, pushes: pushes)]
    }

    private static func concerns(_ event: DecodedEvent, _ app: PipelineConfiguration.App) -> Bool {
        switch event.event.kind {
        case .push(let push): app.name.hasBytes(of: push.app)
        case .record(let change): app.name.hasBytes(of: change.app)
        case .dataset(let change): app.identityPoolIDs.contains { $0.hasBytes(of: change.key.identityPoolID) }
        }
    }
}
