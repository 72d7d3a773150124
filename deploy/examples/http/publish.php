<?php
// Asks for a push, and ends when RabbitMQ has it: APUS_TOKEN=… php publish.php https://push.example.com ORDER
[, $url, $order] = $argv;
$context = stream_context_create(['http' => [
    'method' => 'POST', 'timeout' => 30, 'ignore_errors' => true,
    'header' => [
        'Authorization: Bearer ' . getenv('APUS_TOKEN'), 'Content-Type: application/json', "Idempotency-Key: $order",
    ],
    'content' => json_encode(['app' => 'chat', 'userIds' => ['mei'], 'notification' => ['title' => 'On its way']]),
]]);
for ($attempt = 0; ; $attempt++) { // the same key each time, because RabbitMQ may have the event already
    $answer = file_get_contents("$url/v1/events", false, $context);
    if ($answer === false) exit(1);
    $status = (int) explode(' ', $http_response_header[0])[1];
    if ($status === 202) break;
    if ($attempt === 20 || !in_array($status, [429, 503])) { fwrite(STDERR, $answer); exit(1); }
    preg_match('/^Retry-After: (\d+)$/im', implode("\n", $http_response_header), $wait);
    sleep((int) ($wait[1] ?? 1));
}
