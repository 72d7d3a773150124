/// Keeps the registry in step with an installation: its address, which the system may change, and its user.
///
/// Push services change addresses after a restore, an update or a reinstallation. So an app registers after each start,
/// and hands on each address that the system gives it. A change during a request is sent after it, and only the newest
/// of several changes.
public actor InstallationRegistrar {
    private struct State: Hashable {
        var installation: AppInstallation
        var address: DeviceAddress
    }

    private let client: RegistrationClient
    private var installation: AppInstallation
    private var address: DeviceAddress?
    private var registered: State?
    private var request: (state: State, task: Task<Void, any Error>)?

    /// Creates a registrar, which registers nothing before it knows an address.
    public init(client: RegistrationClient, installation: AppInstallation) {
        self.client = client
        self.installation = installation
    }

    /// Whether the registry knows what the registrar knows, as far as it has answered.
    public var isRegistered: Bool { registered != nil && registered == wanted }

    /// The system gave an address: register it, unless the registry knows it from this run of the app.
    ///
    /// - Throws: `RegistrationError`; call `register()` when the network is back.
    public func addressChanged(to address: DeviceAddress) async throws {
        self.address = address
        try await register()
    }

    /// Something else changed: a user signed in or out.
    ///
    /// - Parameter change: changes the installation.
    /// - Throws: `RegistrationError`; call `register()` when the network is back.
    public func update(_ change: @Sendable (inout AppInstallation) -> Void) async throws {
        change(&installation)
        try await register()
    }

    /// Registers what is not registered yet; does nothing without an address.
    ///
    /// - Throws: `RegistrationError`.
    public func register() async throws {
        while let wanted, wanted != registered {
            let current = request ?? begin(wanted)
            do {
                try await current.task.value
            } catch  where current.state == self.wanted {
                throw error
            } catch {
                // An outdated request failed: the newest one is still to be sent.
            }
        }
    }

    private var wanted: State? { address.map { State(installation: installation, address: $0) } }

    private func begin(_ state: State) -> (state: State, task: Task<Void, any Error>) {
        let task = Task {
            defer { request = nil }
            try await client.register(state.installation, at: state.address)
            registered = state
        }
        request = (state, task)
        return (state, task)
    }
}
