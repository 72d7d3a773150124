<?php
// Publishes an event, and ends when RabbitMQ has it: publish.php AMQP-URL EVENT-FILE ROUTING-KEY
require "PhpAmqpLib/autoload.php"; // Debian: php-cli php-amqplib

use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Message\AMQPMessage;

[, $url, $path, $routingKey] = $argv;
$broker = parse_url($url);
if (($broker["scheme"] ?? "") !== "amqp") {
    fwrite(STDERR, "this example takes amqp:// only; amqps:// needs AMQPSSLConnection\n");
    exit(1);
}
$virtualHost = rawurldecode(substr($broker["path"] ?? "", 1)) ?: "/";
$connection = new AMQPStreamConnection($broker["host"], $broker["port"] ?? 5672,
    rawurldecode($broker["user"] ?? "guest"), rawurldecode($broker["pass"] ?? "guest"), $virtualHost);
$channel = $connection->channel();
$isRefused = $isReturned = false;
$channel->set_nack_handler(function () use (&$isRefused) { $isRefused = true; });
$channel->set_return_listener(function () use (&$isReturned) { $isReturned = true; }); // comes before the confirm
$channel->confirm_select();
$event = new AMQPMessage(file_get_contents($path), [
    "content_type" => "application/cloudevents+json", "delivery_mode" => 2]);
for ($attempt = 0; $attempt < 6; $attempt++) {
    $isRefused = false;
    $channel->basic_publish($event, "apus.changes", $routingKey, true);
    $channel->wait_for_pending_acks_returns(10);
    if ($isReturned) {
        fwrite(STDERR, "no queue takes the event; has 'apus topology apply' been run?\n");
        exit(1);
    }
    if (!$isRefused) {
        $connection->close();
        exit(0);
    }
    // RabbitMQ refuses it for now, for example because the queue is full: the same event again, a little later.
    usleep(2 ** $attempt * 250_000);
}
fwrite(STDERR, "RabbitMQ refuses the event\n");
exit(1);
