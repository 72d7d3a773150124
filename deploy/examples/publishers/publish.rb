# Publishes an event, and ends when RabbitMQ has it: publish.rb AMQP-URL EVENT-FILE ROUTING-KEY
require "bunny" # Debian: ruby-bunny

url, path, routing_key = ARGV
# To Bunny a final / is a virtual host without a name.
connection = Bunny.new(url.chomp("/")).start
channel = connection.create_channel
channel.confirm_select
exchange = channel.exchange("apus.changes", no_declare: true)
returned = false
exchange.on_return { returned = true } # comes before the confirm
event = File.binread(path)
confirmed = (0...6).any? do |attempt|
  exchange.publish(event, routing_key: routing_key,
                          persistent: true, mandatory: true, content_type: "application/cloudevents+json")
  taken = channel.wait_for_confirms
  abort "no queue takes the event; has 'apus topology apply' been run?" if returned
  next true if taken

  # RabbitMQ refuses it for now, for example because the queue is full: the same event again, a little later.
  sleep(2**attempt / 4.0)
  false
end
abort "RabbitMQ refuses the event" unless confirmed
connection.close
