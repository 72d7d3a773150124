public import PushCore

/// What the API serves: all of the registry's ports in one store.
public typealias ServedRegistry = CourierRegistry & FanOutRegistry & Registry & RegistryAdministration
    & SubscriptionRegistry
