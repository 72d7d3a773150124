// Asks for a push, and ends when RabbitMQ has it: APUS_TOKEN=… go run publish.go https://push.example.com ORDER
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	client := http.Client{Timeout: 30 * time.Second}
	push := `{"app":"chat","userIds":["mei"],"notification":{"title":"On its way"}}`
	for attempt := 0; ; attempt++ { // the same key each time, because RabbitMQ may have the event already
		request, err := http.NewRequest("POST", os.Args[1]+"/v1/events", strings.NewReader(push))
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("APUS_TOKEN"))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", os.Args[2])
		answer, err := client.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		if answer.StatusCode == 202 {
			return
		}
		if text, _ := io.ReadAll(answer.Body); attempt == 20 || answer.StatusCode != 429 && answer.StatusCode != 503 {
			log.Fatal(string(text))
		}
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}
