/// The commented configuration that `apus init` writes.
public enum SampleConfiguration {
    /// The text of the file.
    public static let text = """
        # Apus configuration.
        [rabbitmq]
        url = "amqp://guest:guest@127.0.0.1:5672/"

        """
}
