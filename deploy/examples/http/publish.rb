# Asks for a push, and ends when RabbitMQ has it: APUS_TOKEN=… ruby publish.rb https://push.example.com ORDER
require "json"
require "net/http"

url, order = ARGV
push = { app: "chat", userIds: ["mei"], notification: { title: "On its way" } }.to_json
headers = { "Authorization" => "Bearer #{ENV.fetch("APUS_TOKEN")}", "Content-Type" => "application/json",
            "Idempotency-Key" => order }
taken = (0...20).any? do # the same key each time, because RabbitMQ may have the event already
  answer = Net::HTTP.post(URI("#{url}/v1/events"), push, headers)
  next true if answer.code == "202"

  abort answer.body unless %w[429 503].include?(answer.code)
  sleep answer["Retry-After"].to_i
  false
end
abort "no event is taken" unless taken
