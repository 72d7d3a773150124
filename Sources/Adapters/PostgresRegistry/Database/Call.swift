/// One statement with its parameters.
struct Call {
    /// The statement; its parameters have their types in the text (`$1::bigint`), and are sent in binary form.
    ///
    /// The texts are constants of this target, so the number of prepared statements is bounded.
    let sql: String
    /// The values, in the order of their numbers.
    let parameters: [Parameter]

    /// Creates a call.
    init(_ sql: String, _ parameters: [Parameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}
