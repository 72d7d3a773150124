public import Predicates

extension FiringOperations {
    /// The names of its members: `created`, `updated`, `deleted`.
    public var names: [String] {
        RecordChange.Operation.allCases.filter { contains($0.firing) }.map(\.rawValue)
    }

    /// Reads names, also as CloudKit has them: `create`, `update`, `delete`; nil if one is none.
    public init?(names: [String]) {
        var operations: FiringOperations = []
        for name in names {
            switch name {
            case "created", "create": operations.insert(.created)
            case "updated", "update": operations.insert(.updated)
            case "deleted", "delete": operations.insert(.deleted)
            default: return nil
            }
        }
        self = operations
    }
}
