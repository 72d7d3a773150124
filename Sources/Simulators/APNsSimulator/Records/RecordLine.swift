import PushServiceSimulator

/// Writes a record as one line of JSON, straight into bytes.
enum RecordLine {
    /// Appends the line of one answered request.
    ///
    /// - Parameters:
    ///   - facts: the answer and its time.
    ///   - fields: the headers of the request.
    ///   - payload: the payload, which goes into the line as the JSON that it is; null if it was not checked.
    ///   - bytes: where the line goes, its line feed included.
    static func append(
        _ facts: AnswerFacts, fields: RequestFields, payload: [UInt8], to bytes: inout [UInt8]
    ) {
        bytes.beginLine(timeMilliseconds: facts.timeMilliseconds)
        bytes.append(text: ",\"token\":")
        bytes.append(quoted: fields.deviceTokenDigits ?? UnsafeBufferPointer(start: nil, count: 0), lowercasing: true)
        bytes.append(",\"apns_id\":", facts.identifierText)
        bytes.append(",\"push_type\":", fields[.pushType])
        bytes.append(",\"topic\":", fields[.topic])
        bytes.append(",\"priority\":", fields[.priority])
        bytes.append(",\"expiration\":", fields[.expiration])
        bytes.append(",\"collapse_id\":", fields[.collapseIdentifier])
        bytes.append(text: ",\"status\":")
        bytes.append(integer: Int64(facts.answer.status))
        if var reason = facts.answer.reason {
            reason.withUTF8 { bytes.append(",\"reason\":", $0) }
        } else {
            bytes.append(",\"reason\":", nil)
        }
        bytes.endLine([",\"duplicate\":": facts.isDuplicate], payload: facts.isPayloadChecked ? payload : nil)
    }
}
