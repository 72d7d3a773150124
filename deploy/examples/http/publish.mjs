// Asks for a push, and ends when RabbitMQ has it: APUS_TOKEN=… node publish.mjs https://push.example.com ORDER
const [url, order] = process.argv.slice(2);
const body = JSON.stringify({ app: "chat", userIds: ["mei"], notification: { title: "On its way" } });
const headers = {
    "Authorization": `Bearer ${process.env.APUS_TOKEN}`, "Content-Type": "application/json", "Idempotency-Key": order,
};
for (let attempt = 0; ; attempt++) { // the same key each time, because RabbitMQ may have the event already
    const signal = AbortSignal.timeout(30_000);
    const answer = await fetch(`${url}/v1/events`, { method: "POST", headers, body, signal });
    if (answer.status === 202) break;
    if (attempt === 20 || ![429, 503].includes(answer.status)) throw new Error(await answer.text());
    await new Promise((resolve) => setTimeout(resolve, 1_000 * answer.headers.get("Retry-After")));
}
