/// How large a filter of AppSync may be.
///
/// The nesting of fields is AWS' own word ("Enhanced subscription filtering"); the other limits are those that
/// clients of AppSync keep to.
public enum AppSyncLimits {
    /// How many filters a group may have, any of which suffices.
    public static let filtersMaximum = 10
    /// How many rules a filter may have, all of which must hold.
    public static let rulesMaximum = 5
    /// How many values `in` and `notIn` may list.
    public static let valuesMaximum = 5
    /// How many values `containsAny` may list.
    public static let containsAnyMaximum = 20
    /// How deep `and` and `or` of a filter input may lie in each other.
    public static let depthMaximum = 16
}
