import Essentials
import PushCore

/// What is asked of the registry of large fan-outs without waiting for the answer.
extension Pipeline {
    /// Asks; without a loop for it the answer comes before this returns.
    ///
    /// - Parameters:
    ///   - call: what to ask.
    ///   - answered: gets the answer, on the pipeline's loop.
    func ask(_ call: FanOutCall, answered: @escaping (Result<FanOutCall.Answer, RegistryError>) -> Void) {
        let now = parts.now().wall.milliseconds
        guard let notes = parts.fanOutNotes, let inbox else {
            return answered(
                Result { () throws(RegistryError) in try call.perform(on: parts.fanOuts, nowMilliseconds: now) })
        }
        lastFanOutCall += 1
        let number = lastFanOutCall
        fanOutCalls[number] = answered
        notes.ask(call, nowMilliseconds: now) { result in inbox.fanOutAnswered(number, result) }
    }

    /// An answer came.
    func fanOutAnswered(_ number: UInt64, _ result: Result<FanOutCall.Answer, RegistryError>) {
        fanOutCalls.removeValue(forKey: number)?(result)
    }
}
