/// One row of a question to the database: a request, or one element of a request's list.
struct Probe {
    /// The request, by its index in the batch.
    var request: Int
    /// The index in the request's own list, or 0.
    var element: Int
    /// The row to go on after, or 0.
    var after: Int64
}
