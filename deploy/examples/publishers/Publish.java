// Publishes an event, and ends when RabbitMQ has it: java -cp … Publish.java AMQP-URL EVENT-FILE ROUTING-KEY
import com.rabbitmq.client.*; // Debian: librabbitmq-client-java libslf4j-java
import java.nio.file.*;
import java.util.concurrent.atomic.AtomicBoolean;

public class Publish {
    public static void main(String[] arguments) throws Exception {
        var factory = new ConnectionFactory();
        factory.setUri(arguments[0].replaceFirst("/$", "")); // to this client a final / is a host without a name
        var event = Files.readAllBytes(Path.of(arguments[1]));
        var properties = new AMQP.BasicProperties.Builder()
            .contentType("application/cloudevents+json").deliveryMode(2).build();
        var isReturned = new AtomicBoolean();
        try (var connection = factory.newConnection(); var channel = connection.createChannel()) {
            channel.confirmSelect();
            channel.addReturnListener((code, text, exchange, key, of, body) -> isReturned.set(true));
            for (int attempt = 0; attempt < 6; attempt++) {
                channel.basicPublish("apus.changes", arguments[2], true, properties, event);
                boolean isTaken = channel.waitForConfirms(30_000);
                if (isReturned.get()) { // comes before the confirm
                    throw new Exception("no queue takes the event; has 'apus topology apply' been run?");
                }
                if (isTaken) return;
                // RabbitMQ refuses it for now, for example because the queue is full: again, a little later.
                Thread.sleep(250L << attempt);
            }
        }
        throw new Exception("RabbitMQ refuses the event");
    }
}
