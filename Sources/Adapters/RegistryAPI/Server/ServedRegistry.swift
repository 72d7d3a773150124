public import PushCore

/// What the API serves: the registry's ports for devices and subscriptions in one store.
public typealias ServedRegistry = CourierRegistry & Registry & RegistryAdministration & CourierKeyRegistry
    & SubscriptionRegistry
