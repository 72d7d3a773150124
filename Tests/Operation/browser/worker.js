// The service worker of an app: shows each push as a notification, as browsers demand it (userVisibleOnly), and tells
// the open pages what it got and what is shown.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => event.waitUntil(show(event.data ? event.data.text() : "")));

async function show(text) {
  const { title, ...options } = notification(text);
  await self.registration.showNotification(title, options);
  const notifications = await self.registration.getNotifications();
  const shown = notifications.map(({ title, body, tag, data }) => ({ title, body, tag, data }));
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  for (const page of pages) page.postMessage({ text, shown });
}

// A push that says nothing to people, or is no JSON at all, has to be shown as well.
function notification(text) {
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    content = { body: text };
  }
  const { title, body, tag, data } = content.notification ?? content;
  const options = { title: title ?? "Something has changed", body: body ?? "", data: data ?? content };
  // An empty tag would be a tag.
  return tag ? { ...options, tag } : options;
}
