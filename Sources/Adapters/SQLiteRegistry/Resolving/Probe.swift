/// One row of a question to the database: a part of one request.
struct Probe {
    /// The request, by its index in the batch.
    var request: Int
    /// The index in the request's own list, or 0.
    var element: Int
    /// Where the probe's text or bytes lie in the buffer; empty if it has none.
    var name: Range<Int>
    /// The numbers that the query takes; as many as it takes, the rest is ignored.
    var numbers: (Int64, Int64, Int64, Int64)
}
