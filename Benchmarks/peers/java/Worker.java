import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import java.io.File;
import java.io.IOException;
import java.security.MessageDigest;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A worker in Java: amqp-client takes events from RabbitMQ, JDBC finds devices, Netty's HTTP/2 sends the pushes.
 *
 * <p>usage: Worker JOB.json (Benchmarks/peers/README.md says what is in it)
 */
public final class Worker extends DefaultConsumer {
    private static final String SUBSCRIBERS = """
            SELECT d.token FROM identity n
            JOIN dataset_subscription u ON u.identity = n.id
            JOIN dataset_name s ON s.id = u.dataset_name
            JOIN device d ON d.id = u.device
            JOIN identity_pool p ON p.id = d.identity_pool
            WHERE n.name = ? AND s.name = ? AND p.name = ? AND d.device_id <> ?""";
    private static final int DATABASE_CONNECTIONS = 4;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Acknowledgements acknowledgements = new Acknowledgements();
    private final ThreadLocal<PreparedStatement> query;
    private final ThreadLocal<MessageDigest> digest = ThreadLocal.withInitial(() -> unchecked(
            () -> MessageDigest.getInstance("SHA-256")));
    private final Sender sender;
    /** SQLite is asked where the event arrives; PostgreSQL by threads with a connection each. */
    private final ExecutorService threads;

    private Worker(Channel channel, String registry, Sender sender) {
        super(channel);
        this.sender = sender;
        query = ThreadLocal.withInitial(() -> unchecked(
                () -> DriverManager.getConnection(address(registry)).prepareStatement(SUBSCRIBERS)));
        threads = registry.startsWith("sqlite:") ? null : Executors.newFixedThreadPool(DATABASE_CONNECTIONS);
    }

    private static String address(String registry) {
        if (registry.startsWith("sqlite:")) {
            return "jdbc:" + registry;
        }
        // JDBC takes the user and the password of postgresql://user:password@host:port/database as parameters.
        var parts = java.net.URI.create(registry);
        String[] user = parts.getUserInfo().split(":", 2);
        return "jdbc:postgresql://" + parts.getHost() + ":" + parts.getPort() + parts.getPath()
                + "?prepareThreshold=1&user=" + user[0] + "&password=" + user[1];
    }

    @Override
    public void handleDelivery(String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
        acknowledgements.begin(envelope.getDeliveryTag());
        if (threads == null) {
            handle(envelope.getDeliveryTag(), body);
        } else {
            threads.execute(() -> handle(envelope.getDeliveryTag(), body));
        }
    }

    private void handle(long deliveryTag, byte[] body) {
        try {
            JsonNode change = JSON.readTree(body).get("data");
            String pool = change.get("identityPoolId").textValue();
            String identity = change.get("identityId").textValue();
            String dataset = change.get("datasetName").textValue();
            String device = change.path("deviceId").asText("");
            List<byte[]> tokens = tokens(identity, dataset, pool, device);
            if (tokens.isEmpty()) {
                acknowledgements.end(deliveryTag);
                return;
            }
            byte[] payload = JSON.writeValueAsBytes(Map.of(
                    "aps", Map.of("content-available", 1),
                    "data", Map.of(
                            "source", "cognito-sync", "identityPoolId", pool, "identityId", identity, "datasetName",
                            dataset, "syncCount", change.get("syncCount").asText())));
            byte[] hash = digest.get().digest((pool + "\n" + identity + "\n" + dataset).getBytes());
            String collapse = "dataset-" + HexFormat.of().formatHex(hash, 0, 16);
            var left = new AtomicInteger(tokens.size());
            sender.push(tokens, payload, collapse, () -> {
                if (left.decrementAndGet() == 0) {
                    acknowledgements.end(deliveryTag);
                }
            });
        } catch (Exception error) {
            fail(error);
        }
    }

    private List<byte[]> tokens(String... names) throws SQLException {
        PreparedStatement statement = query.get();
        for (int index = 0; index < names.length; index++) {
            statement.setString(index + 1, names[index]);
        }
        var tokens = new ArrayList<byte[]>();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                tokens.add(rows.getBytes(1));
            }
        }
        return tokens;
    }

    /** Acknowledges all messages up to the newest one before which all have ended, a hundred at a time. */
    private final class Acknowledgements {
        private final java.util.HashSet<Long> done = new java.util.HashSet<>();
        private long newest;
        private long last;
        private long settled;

        synchronized void begin(long tag) {
            newest = tag;
        }

        synchronized void end(long tag) {
            done.add(tag);
            while (done.remove(last + 1)) {
                last++;
            }
            if (last - settled >= 100 || last > settled && last == newest) {
                try {
                    getChannel().basicAck(last, true);
                } catch (IOException error) {
                    fail(error);
                }
                settled = last;
            }
        }
    }

    interface Action<Value> {
        Value run() throws Exception;
    }

    static <Value> Value unchecked(Action<Value> action) {
        try {
            return action.run();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    /** A peer does not retry: it ends, and its run does not count. */
    static void fail(Throwable error) {
        error.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    public static void main(String[] arguments) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> fail(error));
        JsonNode job = JSON.readTree(new File(arguments[0]));
        var factory = new ConnectionFactory();
        factory.setUri(job.get("broker").textValue());
        Connection connection = factory.newConnection();
        Channel channel = connection.createChannel();
        channel.basicQos(job.get("prefetch").intValue());
        var sender = new Sender(job.get("apns"));
        channel.basicConsume(
                job.get("queue").textValue(), false, new Worker(channel, job.get("registry").textValue(), sender));
        Runtime.getRuntime().addShutdownHook(new Thread(connection::abort));
        new CountDownLatch(1).await();
    }
}
