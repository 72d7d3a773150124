internal import FoundationEssentials
package import Notifications

extension RawJSON {
    /// Encodes a value of the program's own.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - name: the name of the value, for the error.
    /// - Throws: `PushError` (`messageInvalid`) if it cannot be encoded, for example because it holds a number that is
    ///   none.
    package init(encoding value: any Encodable, name: String) throws(PushError) {
        do {
            self.init(validated: Array(try JSONEncoder().encode(value)))
        } catch {
            throw PushError(.messageInvalid, "the value of \(name) cannot be encoded as JSON: \(error)")
        }
    }
}
