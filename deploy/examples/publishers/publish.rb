# Publishes an event, and ends when RabbitMQ has it: publish.rb AMQP-URL EVENT-FILE ROUTING-KEY
require "bunny" # Debian: ruby-bunny

url, path, routing_key = ARGV
# To Bunny a final / is a virtual host without a name.
connection = Bunny.new(url.chomp("/")).start
channel = connection.create_channel
channel.confirm_select
event = File.binread(path)
confirmed = (0...6).any? do |attempt|
  channel.basic_publish(event, "apus.changes", routing_key,
                        persistent: true, mandatory: true, content_type: "application/cloudevents+json")
  next true if channel.wait_for_confirms

  # RabbitMQ refuses it for now, for example because the queue is full: the same event again, a little later.
  sleep(2**attempt / 4.0)
  false
end
abort "RabbitMQ refuses the event" unless confirmed
connection.close
