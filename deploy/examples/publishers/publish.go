// Publishes an event, and ends when RabbitMQ has it: publish AMQP-URL EVENT-FILE ROUTING-KEY
package main

import (
	"context"
	"log"
	"os"
	"time"

	amqp "github.com/rabbitmq/amqp091-go" // Debian: golang-github-rabbitmq-amqp091-go-dev
)

func main() {
	event, err := os.ReadFile(os.Args[2])
	check(err)
	connection, err := amqp.Dial(os.Args[1])
	check(err)
	defer connection.Close()
	channel, err := connection.Channel()
	check(err)
	check(channel.Confirm(false))
	returns := channel.NotifyReturn(make(chan amqp.Return, 1))
	message := amqp.Publishing{ContentType: "application/cloudevents+json", DeliveryMode: amqp.Persistent, Body: event}
	for attempt := 0; attempt < 6; attempt++ {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		confirm, err := channel.PublishWithDeferredConfirmWithContext(ctx, "apus.changes", os.Args[3], true, false, message)
		check(err)
		isTaken := confirm.Wait()
		cancel()
		select {
		case <-returns: // comes before the confirm
			log.Fatal("no queue takes the event; has 'apus topology apply' been run?")
		default:
		}
		if isTaken {
			return
		}
		// RabbitMQ refuses it for now, for example because the queue is full: the same event again, a little later.
		time.Sleep(250 * time.Millisecond << attempt)
	}
	log.Fatal("RabbitMQ refuses the event")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
