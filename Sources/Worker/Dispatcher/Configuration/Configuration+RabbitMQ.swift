extension Configuration {
    /// The broker and how to use it: `[rabbitmq]`.
    public struct RabbitMQ: Hashable, Sendable {
        /// The brokers of one cluster, tried in turn: `amqp://` or `amqps://`; at least one.
        ///
        /// `rabbitmq.url`, secret, default `amqp://guest:guest@127.0.0.1:5672/`.
        public var urls: [Secret]
        /// A PEM file with an extra trust anchor for `amqps://`, or nil.
        ///
        /// `rabbitmq.ca_file`, default `""` for none.
        public var caFile: String?
        /// The prefix of the names of all exchanges and queues; 1 to 64 letters, digits, `-`, `_`.
        ///
        /// `rabbitmq.namespace`, default `apus`.
        public var namespace: String
        /// How many unacknowledged messages one worker may hold, 1 to 65535.
        ///
        /// `rabbitmq.prefetch`, default 1000.
        public var prefetch: Int
        /// Over how many work queues the events are spread, 1 to 64.
        ///
        /// `rabbitmq.work_queues`, default 1.
        public var workQueueCount: Int
        /// RabbitMQ's management API, `http://` or `https://`, or nil.
        ///
        /// `rabbitmq.management_url`, secret, default `""` for none.
        public var managementURL: Secret?
    }
}
