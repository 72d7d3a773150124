public import AdminServer
public import RegistryAPI

extension RegistryServer {
    /// Whether the loop of the registry's API turns.
    public var livenessCheck: HealthCheck {
        HealthCheck(loop: "registry-api", nanosecondsSinceLastTick: nanosecondsSinceLastTick())
    }
}
