import Essentials
import Notifications
import RegistryCore

/// The pauses of apps: they are read from the registry again and again, so all workers follow within seconds.
extension PipelineMachine {
    /// How long after the pauses were read they are read again.
    public static let pausesIntervalMilliseconds: UInt64 = 2_000

    /// Asks which apps are paused, if it is time.
    mutating func askForPauses(at now: Moment) {
        guard let due = pausesDue, due <= now.monotonic, !isDraining else { return }
        pausesDue = nil
        ask(.readPauses, .pauses(isFirst: !hasReadPauses), at: now)
    }

    /// The registry answered which apps are paused; if it could not, those of the last answer stay paused.
    mutating func pausesRead(_ result: Result<RegistryAnswer, RegistryError>, at now: Moment) {
        pausesDue = now.monotonic.advanced(byMilliseconds: Self.pausesIntervalMilliseconds)
        switch result {
        case .success(.pausesRead(let found)):
            hasReadPauses = true
            areReadingsFailing = false
            // A pause of an app that only other workers have does not concern this one.
            putInForce(found.filter { pause in pause.app.map { renderer.hasApp(named: $0) } ?? true })
        case .failure(let error) where hasReadPauses:
            // Nothing waits for it, and look-ups find out themselves whether the registry answers.
            if !areReadingsFailing { actions.notices.append(.pausesNotRead(error)) }
            areReadingsFailing = true
        case .failure(let error): registryFailed(error, at: now)
        default: assertionFailure("the registry answered something else than it was asked")
        }
    }

    private mutating func putInForce(_ found: [AppPause]) {
        guard found != pauses else { return }
        actions.notices += found.filter { !pauses.contains($0) }.map { .paused($0) }
        let apps = found.map(\.app)
        actions.notices += pauses.filter { !apps.contains($0.app) }.map { .resumed(app: $0.app) }
        pauses = found
        let isAll = apps.contains(nil)
        dispatch.setPaused(
            Set(
                isAll
                    ? configuration.routes.map(\.index)
                    : apps.compactMap { $0 }.flatMap { renderer.routeIndices(ofApp: $0) }))
        decideConsumption()
    }
}
