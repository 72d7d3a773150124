// Asks for a push, and ends when RabbitMQ has it: APUS_TOKEN=… java Publish.java https://push.example.com ORDER
import java.net.URI;
import java.net.http.*;
import java.time.Duration;

public class Publish {
    public static void main(String[] arguments) throws Exception {
        var push = "{\"app\":\"chat\",\"userIds\":[\"mei\"],\"notification\":{\"title\":\"On its way\"}}";
        var request = HttpRequest.newBuilder(URI.create(arguments[0] + "/v1/events")).timeout(Duration.ofSeconds(30))
            .header("Authorization", "Bearer " + System.getenv("APUS_TOKEN")).header("Content-Type", "application/json")
            .header("Idempotency-Key", arguments[1]).POST(HttpRequest.BodyPublishers.ofString(push)).build();
        var client = HttpClient.newHttpClient();
        for (int attempt = 0;; attempt++) { // the same key each time, because RabbitMQ may have the event already
            var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            int status = answer.statusCode();
            if (status == 202) return;
            if (attempt == 20 || status != 429 && status != 503) throw new Exception(answer.body());
            Thread.sleep(1_000 * answer.headers().firstValueAsLong("Retry-After").orElse(1));
        }
    }
}
