// Publishes an event, and ends when RabbitMQ has it: node publish.mjs MANAGEMENT-URL EVENT-FILE ROUTING-KEY
//
// Over RabbitMQ's management API, because Debian has no AMQP client for Node: for a few events a second.
import { readFile } from "node:fs/promises"; // Node 18 or newer

const [url, file, routingKey] = process.argv.slice(2);
const { username, password, origin } = new URL(url);
const request = {
  method: "POST",
  headers: { authorization: "Basic " + Buffer.from(`${username}:${password}`).toString("base64") },
  body: JSON.stringify({
    properties: { content_type: "application/cloudevents+json", delivery_mode: 2 },
    routing_key: routingKey, payload: await readFile(file, "utf8"), payload_encoding: "string",
  }),
};
let answer;
for (let attempt = 0; attempt < 6; attempt += 1) {
  answer = await fetch(`${origin}/api/exchanges/%2F/apus.changes/publish`, request);
  if (answer.ok && (await answer.json()).routed) process.exit(0);
  if (answer.ok) throw new Error("no queue takes the event; has 'apus topology apply' been run?");
  if (answer.status !== 400 && answer.status < 500) throw new Error(`HTTP ${answer.status} ${await answer.text()}`);
  // RabbitMQ refuses it for now, for example because the queue is full: the same event again, a little later.
  await new Promise((resume) => setTimeout(resume, 250 * 2 ** attempt));
}
throw new Error(`RabbitMQ refuses the event: HTTP ${answer.status} ${await answer.text()}`);
